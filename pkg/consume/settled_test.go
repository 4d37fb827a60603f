package consume_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/consume"
)

func TestLoop_reportsEachRecordAtEachConsumer(t *testing.T) {
	t.Parallel()
	for _, folds := range []bool{false, true} {
		var at time.Time
		tick := func() time.Time { at = at.Add(time.Second); return at }
		got := map[string]consume.Settled{}
		s := &recordingConsumer{name: "one", folds: folds, fail: func(c change.Change, try int) change.Outcome {
			switch {
			case label(c) == "a1" && try == 1:
				return retry
			case label(c) == "b1":
				return poison
			case label(c) == "c1":
				return change.Outcome{Already: true}
			case label(c) == "d1":
				return retry
			}
			return change.Outcome{}
		}}
		b := setupWith(t, func(cfg *consume.Config) {
			cfg.Clock, cfg.Settled = tick, func(s consume.Settled) { got[label(s.Record.Change)] = s }
		}, s)
		require.Equal(t, "103", b.handle(t, event("a1", "b1", "c1", "d1")))
		require.Len(t, got, 4)
		require.Equal(t, consume.StateDone, got["a1"].State)
		require.Equal(t, 2, got["a1"].Attempts)
		require.ErrorIs(t, got["a1"].Err, errBusy)
		require.Equal(t, consume.StateParked, got["b1"].State)
		require.ErrorIs(t, got["b1"].Err, errBad)
		require.Equal(t, consume.StateAlready, got["c1"].State)
		require.Equal(t, consume.StateUnfinished, got["d1"].State)
		require.Equal(t, consume.DefaultAttempts, got["d1"].Attempts)
		for name, s := range got {
			require.Equal(t, "one", s.Consumer)
			require.False(t, s.Began.IsZero(), name)
			require.Positive(t, s.Took, name)
		}
	}
}

func TestNew_wantsAClockForWhatItMeasures(t *testing.T) {
	t.Parallel()
	cfg := config(&fixture{shelf: &shelf{}})
	cfg.Consumers = []change.Consumer{&recordingConsumer{name: "one"}}
	cfg.Settled = func(consume.Settled) {}
	_, err := consume.New(cfg)
	require.ErrorContains(t, err, "clock")
}

func TestLoop_saysWhichRecordsItDidUnread(t *testing.T) {
	t.Parallel()
	var states []consume.State
	s := &recordingConsumer{name: "one"}
	b := setupWith(t, func(cfg *consume.Config) {
		cfg.Clock, cfg.Settled = cfg.Now, func(s consume.Settled) { states = append(states, s.State) }
		cfg.Gone = func(context.Context, []string) (map[string]bool, error) { return map[string]bool{"user_1": true}, nil }
	}, s)
	require.Empty(t, b.handle(t, event("a1", "?")))
	require.Equal(t, []consume.State{consume.StateGone, consume.StateGone}, states)
}
