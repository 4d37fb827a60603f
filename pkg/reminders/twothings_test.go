package reminders_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/reminders"
	"nexus/pkg/schedule"
)

// busyScheduler is away for one call.
type busyScheduler struct {
	scheduler
	away bool
}

// Put implements [schedule.Scheduler].
func (s *busyScheduler) Put(ctx context.Context, in schedule.Schedule) error {
	if s.away {
		s.away = false
		return schedule.ErrUnavailable
	}
	return s.scheduler.Put(ctx, in)
}

// A change of a series asks for two things: a look at its chain, and a walk over the exceptions with reminders of their
// own. That the walk succeeds does not make up for the look.
func TestConsumer_isDoneWhenBothPartsOfAChangeAre(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("mst_1",
		`{"title":"Standup","startUtc":"2025-12-01T14:00:00Z","startTzid":"UTC","reminderMinutes":[15],"rrule":"FREQ=DAILY"}`)
	w.except("mst_1", "20251202", `{"reminderMinutes":[5]}`)
	w.runUntilIdle()
	w.patchSeries("mst_1", `{"startUtc":"2025-12-01T16:00:00Z","endUtc":null}`)
	busy := &busyScheduler{scheduler: w.scheduler}
	config := w.config()
	config.Scheduler = busy
	consumer := reminders.New(config)
	for _, c := range w.records() {
		if c.Type != nil && c.Type.Name == entity.TypeMaster {
			busy.away = true
			require.Equal(t, change.Retry, consumer.Apply(t.Context(), []change.Change{c})[0].Verdict)
			require.False(t, busy.away, "it was asked")
		}
		require.Equal(t, change.Done, consumer.Apply(t.Context(), []change.Change{c})[0].Verdict)
	}
	w.carryOut()
	require.Equal(t, []string{"inst_20251202_1 -5 02T15:55", "mst_1 -15 01T15:45"}, w.schedules())
}
