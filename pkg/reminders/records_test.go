package reminders_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// The record of a series asks for two things: a look at the series, and a walk over its exceptions. Whichever of them
// one call fails in, the record is not done, and its repetition does both.
func TestConsumer_isDoneOnlyWhenBothPartsOfARecordAre(t *testing.T) {
	t.Parallel()
	struck := map[change.Verdict]int{}
	for step, isWithin := 1, true; isWithin; step++ {
		require.Less(t, step, 200)
		w := setup(t)
		w.create("mst_1", fmt.Sprintf(dailyAt, "15"))
		w.except("mst_1", "20251203", `{"reminderMinutes":[30]}`)
		w.runUntilIdle()
		w.patchSeries("mst_1", `{"status":"CANCELLED"}`) // which takes the reminders of both
		records := w.records()
		require.Len(t, records, 1)

		w.fault.steps, w.fault.at, w.fault.die, w.fault.once = 0, step, true, true
		var outcome change.Outcome
		require.NoError(t, w.fault.under(func() error {
			outcome = w.consumer.Apply(t.Context(), records)[0]
			return nil
		}))
		if isWithin = w.fault.steps >= step; isWithin {
			struck[outcome.Verdict]++
			require.Equal(t, change.Retry, outcome.Verdict, "a call fails at step %d of %d", step, w.fault.steps)
			require.ErrorIs(t, outcome.Err, errCrash)
		}
		w.fault.at = 0
		w.deliver(records...)
		require.Empty(t, w.schedules(), "step %d", step)
	}
	require.Greater(t, struck[change.Retry], 10)
}

// The consumer handles what only the old image of a record knows: an offset that was removed, and the reminders of a
// series that has gone, those of its exceptions among them. No other record names them.
func TestConsumer_readsWhatOnlyTheOldImageKnows(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		id, fields string
		before     func(w *fixture)
		act        func(w *fixture)
		left       []string
	}{
		"an offset given up": {"task_1", fmt.Sprintf(taskAt, at(noon.Add(5*time.Hour)), "15"), nil,
			func(w *fixture) { w.set("task_1", "reminderMinutes", item.Ints(45)) }, []string{"task_1 -45 01T16:15"}},
		"an item deleted": {"task_1", fmt.Sprintf(taskAt, at(noon.Add(5*time.Hour)), "15"), nil,
			func(w *fixture) { w.remove("task_1") }, []string{}},
		"a series deleted": {"mst_1", fmt.Sprintf(dailyAt, "15"), nil,
			func(w *fixture) { w.deleteSeries("mst_1") }, []string{}},
		"a series deleted, with an exception's own reminders": {"mst_1", fmt.Sprintf(dailyAt, "15"),
			func(w *fixture) { w.except("mst_1", "20251203", `{"reminderMinutes":[30]}`) },
			func(w *fixture) { w.deleteSeries("mst_1") }, []string{}},
		"a series' row deleted, and an exception's own reminders left": {"mst_1", fmt.Sprintf(dailyAt, "15"),
			func(w *fixture) { w.except("mst_1", "20251203", `{"reminderMinutes":[30]}`) },
			func(w *fixture) { w.remove("mst_1") }, []string{}},
		"a series' row put back behind an exception's": {"mst_1", fmt.Sprintf(dailyAt, ""),
			func(w *fixture) { w.except("mst_1", "20251203", `{"reminderMinutes":[30]}`) },
			func(w *fixture) {
				row := w.item("mst_1")
				w.remove("mst_1")
				w.runUntilIdle()
				require.Empty(w, w.schedules())
				require.NoError(w, w.store.Put(w.Context(), table.Put{Item: row}))
			}, []string{"inst_20251203_1 -30 03T13:30"}},
		"an exception's own reminders given up": {"mst_1", fmt.Sprintf(dailyAt, "15"),
			func(w *fixture) { w.except("mst_1", "20251203", `{"reminderMinutes":[30]}`) },
			func(w *fixture) { w.except("mst_1", "20251203", `{}`) }, []string{"mst_1 -15 01T13:45"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			w.create(c.id, c.fields)
			if c.before != nil {
				c.before(w)
			}
			w.runUntilIdle()
			c.act(w)
			records := w.records()
			for _, again := range []int{1, 2} {
				for range again {
					w.deliver(records...)
				}
				slices.Reverse(records)
			}
			require.Equal(t, c.left, w.schedules())
			w.requireExact()
		})
	}
}
