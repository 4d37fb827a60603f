package eventsource_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/eventsource"
)

func TestMapping_finishesParentsBeforeTheirChildren(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := setup(t, eventsource.Config{Name: "m", BatchSize: 2})
		s.source.add("p", "1", "2", "3", "4", "5")
		s.source.split("p", "a", "b")
		s.source.add("a", "6", "8")
		s.source.add("b", "7")
		s.source.split("a", "aa")
		s.source.add("aa", "9")
		tries := 0
		s.handle = func(got []string) ([]byte, error) {
			if got[len(got)-1] == "5" && tries < 3 { // the parent is held up at its very end
				tries++
				return nil, errBroken
			}
			return nil, nil
		}
		s.run(t)
		s.waitUntilIdle(t)
		var order []string
		for _, d := range s.deliveries() {
			for _, r := range d.Records[:d.Finished] {
				order = append(order, r.Sequence)
			}
		}
		require.Equal(t, []string{"1", "2", "3", "4", "5"}, order[:5])
		require.ElementsMatch(t, []string{"6", "7", "8", "9"}, order[5:])
		require.Less(t, slices.Index(order, "8"), slices.Index(order, "9"))
		require.Equal(t, map[string]eventsource.Checkpoint{
			"p": {Sequence: "5", Done: true}, "a": {Sequence: "8", Done: true}, "aa": {Sequence: "9"}, "b": {Sequence: "7"},
		}, s.saved(t))
	})
}

func TestMapping_readsLiveShardsIndependently(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := setup(t, eventsource.Config{Name: "m"})
		s.source.add("a", "1")
		s.source.add("b", "2")
		release := make(chan struct{})
		s.handle = func(got []string) ([]byte, error) {
			if got[0] == "1" {
				<-release
			}
			return nil, nil
		}
		s.run(t)
		synctest.Wait()
		require.Equal(t, "2", s.saved(t)["b"].Sequence)
		require.NotContains(t, s.saved(t), "a")
		require.Equal(t, []int{1, 0}, []int{s.mapping.Status()[0].InFlight, s.mapping.Status()[1].InFlight})
		close(release)
		s.waitUntilIdle(t)
		require.Equal(t, "1", s.saved(t)["a"].Sequence)
	})
}

func TestMapping_goesOnFromItsCheckpoints(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := setup(t, eventsource.Config{Name: "m"})
		s.source.add("p", "1", "2")
		s.source.split("p", "a")
		s.source.add("a", "3", "4")
		s.run(t)
		s.waitUntilIdle(t)
		s.stop()
		s.source.add("a", "5", "6")
		s.run(t)
		s.waitUntilIdle(t)
		require.Equal(t, [][]string{{"1", "2"}, {"3", "4"}, {"5", "6"}}, s.batches())
		require.Equal(t, 1, s.source.reads["p"], "a finished shard is not read again")
	})
}

func TestMapping_startsAChildWhoseParentIsGone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := setup(t, eventsource.Config{Name: "m"})
		s.source.place("a", "trimmed")
		s.source.add("a", "1")
		s.run(t)
		s.waitUntilIdle(t)
		require.Equal(t, [][]string{{"1"}}, s.batches())
	})
}

// A parent leaves the list of shards while one of its last batches is not finished. Its child waits for it, and so does
// the child of a parent that has not been started.
func TestMapping_finishesAParentThatIsNoLongerListed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := setup(t, eventsource.Config{Name: "m"})
		s.source.add("p", "1")
		s.source.split("p", "a")
		s.source.add("a", "2")
		s.source.split("a", "aa")
		s.source.add("aa", "3")
		release := make(chan struct{})
		s.handle = func(got []string) ([]byte, error) {
			if got[0] == "1" {
				<-release
			}
			return nil, nil
		}
		s.run(t)
		synctest.Wait()
		s.source.trim("p", "a")
		time.Sleep(3 * eventsource.DefaultDiscover)
		synctest.Wait()
		require.Empty(t, s.deliveries())
		close(release)
		s.waitUntilIdle(t)
		require.Equal(t, [][]string{{"1"}, {"3"}}, s.batches(), "what is gone with its shard is not read")
	})
}

func TestMapping_findsNewShards(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := setup(t, eventsource.Config{Name: "m"})
		s.source.add("a", "1")
		s.run(t)
		s.waitUntilIdle(t)
		s.source.add("b", "2")
		time.Sleep(eventsource.DefaultDiscover)
		synctest.Wait()
		require.Equal(t, "2", s.saved(t)["b"].Sequence)
		s.source.add("c", "3")
		began := time.Now()
		s.waitUntilIdle(t) // who waits for a shard that is not known has it looked for
		require.Zero(t, time.Since(began))
		require.Equal(t, "3", s.saved(t)["c"].Sequence)
	})
}

func TestMapping_reportsAndOutlastsTroubleWithItsSource(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := setup(t, eventsource.Config{Name: "m"})
		s.source.failing(errBroken)
		s.run(t)
		time.Sleep(time.Second)
		s.source.failing(nil)
		s.source.add("a", "1")
		s.waitUntilIdle(t)
		s.source.failing(errBroken)
		s.source.add("a", "2")
		time.Sleep(time.Hour)
		s.source.failing(nil)
		s.waitUntilIdle(t)
		require.Equal(t, [][]string{{"1"}, {"2"}}, s.batches())
		listing, reading := 0, 0
		for _, trouble := range s.trouble() {
			require.ErrorIs(t, trouble.Err, errBroken)
			if trouble.Shard == "" {
				listing++
			} else {
				reading++
			}
		}
		require.Positive(t, listing)
		require.InDelta(t, 360, reading, 20, "the waits grow to ten seconds and no further")
	})
}

func TestMapping_keepsARecordInFlightUntilItsCheckpointIsSaved(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := setup(t, eventsource.Config{Name: "m"})
		checkpoints := &stuckCheckpoints{Checkpoints: s.checkpoints, stuck: true}
		s.wiring.Checkpoints = checkpoints
		s.source.add("a", "1")
		s.run(t)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, 1, s.mapping.Status()[0].InFlight)
		require.Empty(t, s.mapping.Status()[0].Position)
		checkpoints.release()
		s.waitUntilIdle(t)
		require.Equal(t, [][]string{{"1"}}, s.batches())
		require.ErrorIs(t, s.trouble()[0].Err, errBroken)
	})
}

func TestRun_runsAMappingOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := setup(t, eventsource.Config{Name: "m"})
		s.run(t)
		synctest.Wait()
		require.ErrorContains(t, s.mapping.Run(t.Context()), "was run before")
		s.stop()
		require.ErrorContains(t, s.mapping.Run(t.Context()), "was run before")
		s.source.add("a", "1")
		require.ErrorIs(t, s.mapping.CaughtUp(t.Context(), map[string]string{"a": "1"}), eventsource.ErrEnded)
	})
}

func TestRun_failsIfTheCheckpointsCannotBeLoaded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := setup(t, eventsource.Config{Name: "m"})
		s.wiring.Checkpoints = &stuckCheckpoints{Checkpoints: s.checkpoints, unreadable: true}
		mapping, err := eventsource.New(s.config, s.wiring)
		require.NoError(t, err)
		require.ErrorIs(t, mapping.Run(t.Context()), errBroken)
	})
}
