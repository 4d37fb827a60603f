package reminders_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
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

// Two workers have the message of a change of zone. One writes an old snapshot's schedule and dies, after the other
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
			message := w.setOff(w.records()[0])
			held := &heldScheduler{scheduler: w.scheduler, before: func() {
				require.NoError(t, w.walker.Handle(t.Context(), message), "the other worker")
				test.change(w)
				w.runUntilIdle()
				require.Equal(t, test.want, w.schedules())
			}}
			require.ErrorIs(t, w.slowWalker(held).Handle(t.Context(), message), schedule.ErrUnavailable)
			require.NotEqual(t, test.want, w.schedules(), "that of the old snapshot")
			require.NoError(t, w.walker.Handle(t.Context(), message), "the repetition")
			require.Equal(t, test.want, w.schedules())
			w.requireExact()
		})
	}
}

// The message of a change of zone comes again when its cursor has outlived its ttl. A worker writes the schedule of an
// old snapshot and dies, and then the TTL service runs. The repetition corrects the schedule.
func TestConsumer_keepsTheCursorByWhichAWorkerBegins(t *testing.T) {
	t.Parallel()
	w := setupFloating(t, "2026-02-02T09:00:00")
	w.moveTo("Europe/Berlin")
	message := w.setOff(w.records()[0])
	work := func() { require.NoError(t, w.walker.Handle(t.Context(), message)) }
	dieAfter := func(others func()) {
		held := &heldScheduler{scheduler: w.scheduler, before: others}
		require.ErrorIs(t, w.slowWalker(held).Handle(t.Context(), message), schedule.ErrUnavailable)
	}
	dieAfter(work)
	work()
	require.Equal(t, []string{"task_1 -0 02T08:00"}, w.schedules())
	w.to(noon.Add(31 * 24 * time.Hour))
	dieAfter(func() {
		w.edit("task_1", func(it item.Item) { delete(it, product.AttrReminderMinutes) })
		w.runUntilIdle()
		require.Empty(t, w.schedules())
	})
	require.Equal(t, []string{"task_1 -0 02T08:00"}, w.schedules(), "that of the old snapshot")
	w.store.Sweep(w.now, 0)
	work()
	require.Empty(t, w.schedules())
	w.requireExact()
}

// slowWalker is another walker, with a scheduler of its own.
func (w *fixture) slowWalker(scheduler schedule.Scheduler) *reminders.Walker {
	config := w.config()
	config.Scheduler, config.Log = scheduler, slog.New(slog.DiscardHandler)
	return reminders.NewWalker(config)
}

// refusingScheduler refuses the schedules of some names for good.
type refusingScheduler struct {
	scheduler
	refuses func(name string) bool
}

// Put implements [schedule.Scheduler].
func (s *refusingScheduler) Put(ctx context.Context, in schedule.Schedule) error {
	if s.refuses(in.Name) {
		return fmt.Errorf("%w: not this one", schedule.ErrInvalid)
	}
	return s.scheduler.Put(ctx, in)
}

// refuseSchedules makes the scheduler of the consumer refuse the schedules of some names.
func (w *fixture) refuseSchedules(refuses func(name string) bool) *refusingScheduler {
	refusing := &refusingScheduler{w.scheduler, refuses}
	config := w.config()
	config.Scheduler, config.Log = refusing, slog.New(slog.NewJSONHandler(&w.log, nil))
	w.wire(config)
	return refusing
}

// setupRefusedWalk returns a world with floating tasks whose schedules the scheduler may refuse, and the message of a
// change of zone.
func setupRefusedWalk(t *testing.T, items int, refuses func(name string) bool) (
	w *fixture, refusing *refusingScheduler, message []byte,
) {
	t.Helper()
	w = setup(t)
	for n := range items {
		w.create(fmt.Sprintf("task_%03d", n), fmt.Sprintf(floatingTask, "2025-12-02T09:00:00", "0"))
	}
	w.moveTo("Europe/London")
	w.runUntilIdle()
	refusing = w.refuseSchedules(refuses)
	w.moveTo("America/New_York")
	zone := w.records()
	require.Len(t, zone, 1)
	return w, refusing, w.setOff(zone[0])
}

// moved counts the schedules that a change of zone has moved.
func (w *fixture) moved() (n int) {
	for _, line := range w.schedules() {
		if strings.HasSuffix(line, " 02T14:00") {
			n++
		}
	}
	return n
}

// The scheduler refuses the schedule of the first item of a walk for good. The walk reaches all others, and its message
// fails only at the end. The repetition of the message finds the item again.
func TestConsumer_walksPastAnItemThatCanNeverBeReconciled(t *testing.T) {
	t.Parallel()
	const items = 240
	w, refusing, message := setupRefusedWalk(t, items, func(name string) bool {
		return name == reminders.ScheduleName(user, "task_000", 0)
	})
	for range 2 {
		require.ErrorIs(t, w.walker.Handle(t.Context(), message), schedule.ErrInvalid)
		require.Equal(t, items-1, w.moved())
	}
	cursors := w.rows(entity.ItemPrefix(entity.RowZone))
	require.ErrorIs(t, w.consumer.Resume(t.Context(), cursors[len(cursors)-1]), schedule.ErrInvalid)
	refusing.refuses = func(string) bool { return false }
	require.NoError(t, w.walker.Handle(t.Context(), message))
	require.Equal(t, items, w.moved())
	w.requireExact()
}

// The scheduler refuses every schedule. The walk stops before its cursor holds all items, and goes on from there.
func TestConsumer_stopsAWalkOfWhichEveryItemFails(t *testing.T) {
	t.Parallel()
	const items = 240
	w, refusing, message := setupRefusedWalk(t, items, func(string) bool { return true })
	for range 5 {
		require.ErrorIs(t, w.walker.Handle(t.Context(), message), schedule.ErrInvalid)
		cursors := w.rows(entity.ItemPrefix(entity.RowZone))
		require.LessOrEqual(t, len(cursors[len(cursors)-1].Map("left")), 100, "two pages")
	}
	require.Zero(t, w.moved())
	refusing.refuses = func(string) bool { return false }
	require.NoError(t, w.walker.Handle(t.Context(), message))
	require.Equal(t, items, w.moved())
	w.requireExact()
}
