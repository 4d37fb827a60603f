package eventsource_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/eventsource"
)

func TestWake_beatsThePoll(t *testing.T) {
	t.Parallel()
	for name, wake := range map[string]func(*fixture){
		"by call":       func(s *fixture) { s.mapping.Wake() },
		"by the source": func(*fixture) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := setup(t, eventsource.Config{Name: "m"})
				s.wiring.Poll = time.Hour
				if name == "by the source" {
					s.wiring.Changed = s.source.Changed
				}
				s.source.add("a", "1")
				s.run(t)
				synctest.Wait()
				began := time.Now()
				s.source.add("a", "2")
				wake(s)
				synctest.Wait()
				require.Zero(t, time.Since(began))
				require.Equal(t, [][]string{{"1"}, {"2"}}, s.batches())
			})
		})
	}
}

func TestCaughtUp_waitsForWhatIsInFlightBeyondTheHead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := setup(t, eventsource.Config{Name: "m", BatchSize: 1})
		s.source.add("a", "1", "2")
		s.source.add("b")
		release := make(chan struct{})
		s.handle = func(got []string) ([]byte, error) {
			if got[0] == "2" {
				<-release
			}
			return nil, nil
		}
		s.run(t)
		up := make(chan error, 1)
		go func() { up <- s.mapping.CaughtUp(t.Context(), map[string]string{"a": "1", "b": "", "unheard of": ""}) }()
		synctest.Wait()
		require.Empty(t, up)
		require.Equal(t, "1", s.mapping.Status()[0].Position)
		close(release)
		require.NoError(t, <-up)
	})
}

func TestCaughtUp_endsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := setup(t, eventsource.Config{Name: "m"})
		s.source.add("a", "1")
		s.run(t)
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		require.ErrorIs(t, s.mapping.CaughtUp(ctx, map[string]string{"a": "7"}), context.DeadlineExceeded)
	})
}

func TestCaughtUp_findsAShardThatAnEarlierRunHadFinished(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := setup(t, eventsource.Config{Name: "m"})
		s.source.add("a", "1")
		require.NoError(t, s.checkpoints.Save(t.Context(), "m", "a", eventsource.Checkpoint{Sequence: "1"}))
		mapping, err := eventsource.New(s.config, s.wiring)
		require.NoError(t, err)
		up := make(chan error, 1)
		go func() { up <- mapping.CaughtUp(t.Context(), map[string]string{"a": "1"}) }()
		synctest.Wait()
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- mapping.Run(ctx) }()
		synctest.Wait()
		require.Len(t, up, 1)
		require.NoError(t, <-up)
		stop()
		require.NoError(t, <-ended)
	})
}
