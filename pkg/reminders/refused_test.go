package reminders_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/reminders"
	"nexus/pkg/schedule"
	"nexus/pkg/table"
)

// The scheduler refuses the schedule of one offset for good. The schedules of the other offsets follow the item all the
// same, and the record is parked.
func TestConsumer_schedulesTheOtherOffsetsOfAnItemWithARefusedOne(t *testing.T) {
	t.Parallel()
	w := setup(t)
	refusing := w.refuseSchedules(func(name string) bool { return name == reminders.ScheduleName(user, "evt_1", 15) })
	w.create("evt_1", fmt.Sprintf(eventAt, at(noon.Add(5*time.Hour)), "15,60"))
	outcome := w.consumer.Apply(t.Context(), w.records())[0]
	require.Equal(t, change.Poison, outcome.Verdict)
	require.ErrorIs(t, outcome.Err, schedule.ErrInvalid)
	require.Equal(t, []string{"evt_1 -60 01T16:00"}, w.schedules())

	w.edit("evt_1", func(it item.Item) { it["reminderMinutes"] = item.Ints(15, 90) })
	outcome = w.consumer.Apply(t.Context(), w.records())[0]
	require.Equal(t, change.Poison, outcome.Verdict)
	require.Equal(t, []string{"evt_1 -90 01T15:30"}, w.schedules())

	refusing.refuses = func(string) bool { return false }
	w.deliver(w.latest("evt_1"))
	w.requireExact()
}

// The item changes while its schedule is refused, so that the refused one is no longer needed: nothing is refused.
func TestConsumer_forgetsARefusalOfAnItemThatHasChangedSince(t *testing.T) {
	t.Parallel()
	w := setup(t)
	refusing := w.refuseSchedules(nil)
	refusing.refuses = func(name string) bool {
		if name != reminders.ScheduleName(user, "evt_1", 15) {
			return false
		}
		w.fault.pause(func() { w.edit("evt_1", func(it item.Item) { it["reminderMinutes"] = item.Ints(60) }) })
		return true
	}
	w.create("evt_1", fmt.Sprintf(eventAt, at(noon.Add(5*time.Hour)), "15"))
	w.deliver(w.records()...)
	w.runUntilIdle()
	w.requireExact()
}

// An item whose id is not that of its key, and a row whose key is no item's, do not end a walk. Every other item is
// reconciled, and so is the item, under its key.
func TestConsumer_walksPastARowThatCanBeNoItem(t *testing.T) {
	t.Parallel()
	w, _, message := setupRefusedWalk(t, 60, func(string) bool { return false })
	misnamed := w.item("task_001").Clone()
	misnamed["taskId"] = item.String("evt_9")
	stray := w.item("task_002").Clone()
	stray["SK"] = item.String("TASK#task 2")
	for _, row := range []item.Item{misnamed, stray} {
		require.NoError(t, w.store.Put(t.Context(), table.Put{Item: row}))
	}
	for range 2 {
		require.NoError(t, w.walker.Handle(t.Context(), message))
		require.Equal(t, 60, w.moved())
	}
	require.Equal(t, 1, strings.Count(w.log.String(), `"key":"USER#ann/TASK#task 2"`), w.log.String())
}

// A walk that ended without an item is named until the item is reconciled, and so are no others.
func TestStalled_namesAWalkThatEndedWithoutAnItem(t *testing.T) {
	t.Parallel()
	w, refusing, message := setupRefusedWalk(t, 60, func(name string) bool {
		return name == reminders.ScheduleName(user, "task_059", 0)
	})
	stalled := func() bool {
		w.to(w.now.Add(11 * time.Minute))
		cursors := w.rows(entity.ItemPrefix(entity.RowZone))
		return w.consumer.Stalled(cursors[len(cursors)-1])
	}
	resume := func() error {
		cursors := w.rows(entity.ItemPrefix(entity.RowZone))
		return w.consumer.Resume(t.Context(), cursors[len(cursors)-1])
	}
	for range 2 {
		require.ErrorIs(t, w.walker.Handle(t.Context(), message), schedule.ErrInvalid)
		require.True(t, stalled())
		require.ErrorIs(t, resume(), schedule.ErrInvalid)
		require.True(t, stalled())
	}
	refusing.refuses = func(string) bool { return false }
	require.NoError(t, resume())
	require.False(t, stalled())
	require.Equal(t, 60, w.moved())
	w.requireExact()

	// The item fails again: its repetition is named again.
	refusing.refuses = func(string) bool { return true }
	require.ErrorIs(t, resume(), schedule.ErrInvalid)
	require.True(t, stalled())
}
