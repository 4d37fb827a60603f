package reminders_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/reminders"
	"nexus/pkg/schedule"
)

// heldScheduler runs other work before the first schedule that it writes, and ends the worker after it.
type heldScheduler struct {
	scheduler
	before func()
}

// Put implements [schedule.Scheduler].
func (s *heldScheduler) Put(ctx context.Context, in schedule.Schedule) error {
	if s.before != nil {
		before := s.before
		s.before = nil
		before()
		if err := s.scheduler.Put(ctx, in); err != nil {
			return err
		}
		return schedule.ErrUnavailable
	}
	return s.scheduler.Put(ctx, in)
}

// Two workers have the record of a change of zone. One writes the schedule of an old snapshot and dies, after the other
// has brought the walk to its end, and after the user has changed the item. The repetition corrects the schedule.
func TestConsumer_correctsTheScheduleOfAWorkerThatWasOvertakenInAWalk(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(w *fixture)
		want   []string
	}{
		"deleted": {func(w *fixture) { w.remove("task_1") }, []string{}},
		"without reminder": {func(w *fixture) {
			w.edit("task_1", func(it item.Item) { delete(it, product.AttrReminderMinutes) })
		}, []string{}},
		"earlier": {func(w *fixture) {
			w.set("task_1", product.AttrDueUtc, item.String("2025-12-01T20:00:00Z"))
		}, []string{"task_1 -0 01T19:00"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setupFloating(t, "2025-12-02T09:00:00")
			w.moveTo("Europe/Berlin")
			zone := w.records()
			held := &heldScheduler{scheduler: w.scheduler, before: func() {
				require.Equal(t, change.Done, w.consumer.Apply(t.Context(), zone)[0].Verdict, "the other worker")
				test.change(w)
				w.runUntilIdle()
				require.Equal(t, test.want, w.schedules())
			}}
			slow := reminders.New(reminders.Config{
				Store: w.store, Registry: w.registry, Scheduler: held, Bus: w.bus,
				Now: func() time.Time { return w.now }, Log: slog.New(slog.DiscardHandler),
			})
			require.Equal(t, change.Retry, slow.Apply(t.Context(), zone)[0].Verdict)
			require.NotEqual(t, test.want, w.schedules(), "that of the old snapshot")
			require.Equal(t, change.Done, w.consumer.Apply(t.Context(), zone)[0].Verdict, "the repetition")
			require.Equal(t, test.want, w.schedules())
			w.requireExact()
		})
	}
}
