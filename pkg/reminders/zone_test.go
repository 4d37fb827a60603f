package reminders_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/reminders"
)

const floatingTask = `{"title":"t","dueUtc":"%s","reminderMinutes":[%s]}`

// setupFloating has a task at a reading that floats, with a reminder then. The consumer has handled its record.
func setupFloating(t *testing.T, at string) *fixture {
	t.Helper()
	w := setup(t)
	w.create("task_1", fmt.Sprintf(floatingTask, at, "0"))
	w.runUntilIdle()
	return w
}

func TestConsumer_movesFloatingItemsAloneWithTheZone(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("task_float", fmt.Sprintf(floatingTask, "2025-12-02T09:00:00", "0,30"))
	w.create("task_fixed", fmt.Sprintf(taskAt, "2025-12-02T09:00:00Z", "0"))
	w.create("evt_day", `{"title":"e","isAllDay":true,"startDate":"2025-12-03","reminderMinutes":[60]}`)
	w.create("rem_float", `{"title":"r","triggerUtc":"2025-12-02T10:00:00"}`)
	w.create("task_silent", `{"title":"t","dueUtc":"2025-12-02T09:00:00"}`)
	w.create("mst_old",
		`{"title":"e","startUtc":"2025-11-01T09:00:00","rrule":"FREQ=DAILY;COUNT=20","reminderMinutes":[0]}`)
	w.create("task_old", fmt.Sprintf(floatingTask, "2025-11-20T09:00:00", "0"))
	w.runUntilIdle()
	require.Equal(t, []string{
		"evt_day -60 02T23:00", "rem_float -0 02T10:00", "task_fixed -0 02T09:00", "task_float -0 02T09:00",
		"task_float -30 02T08:30",
	}, w.schedules())
	before := w.counts[reminders.Scheduled] + w.counts[reminders.Deleted]
	w.moveTo("America/New_York")
	w.runUntilIdle()
	require.Equal(t, []string{
		"evt_day -60 03T04:00", "rem_float -0 02T15:00", "task_fixed -0 02T09:00", "task_float -0 02T14:00",
		"task_float -30 02T13:30",
	}, w.schedules())
	touched := w.counts[reminders.Scheduled] + w.counts[reminders.Deleted]
	require.True(t, isUncounted || touched == before+4, "nothing else is touched")
	w.advance(72 * time.Hour)
	require.Equal(t, []string{"task_fixed -0 02T09:00", "task_float -30 02T13:30", "task_float -0 02T14:00",
		"rem_float -0 02T15:00", "evt_day -60 03T04:00"}, w.published())
	w.requireExact()
}

func TestConsumer_resolvesReadingsInAGapOrOverlapOnce(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.moveTo("America/New_York")
	w.create("task_gap", fmt.Sprintf(floatingTask, "2026-03-08T02:30:00", "0"))
	w.create("task_overlap", fmt.Sprintf(floatingTask, "2026-11-01T01:30:00", "0,60"))
	w.runUntilIdle()
	require.Equal(t, []string{"task_gap -0 08T07:30", "task_overlap -0 01T05:30", "task_overlap -60 01T04:30"},
		w.schedules())
	w.advance(365 * 24 * time.Hour)
	require.Len(t, w.published(), 3)
}

func TestConsumer_doesNothingForUserMetaThatKeepsTheZone(t *testing.T) {
	t.Parallel()
	w := setupFloating(t, "2025-12-02T09:00:00")
	w.editMeta(func(it item.Item) { it.Map("preferences")["theme"] = item.String("light") })
	w.editMeta(func(it item.Item) { it.Map("preferences")["theme"] = item.String("dark") })
	w.moveTo("UTC")
	w.runUntilIdle()
	require.Equal(t, 1, w.counts[reminders.Scheduled])
	require.Empty(t, w.rows(entity.ItemPrefix(entity.RowZone)))
}

func TestConsumer_continuesAChangeOfZoneWhereItStopped(t *testing.T) {
	t.Parallel()
	w := setup(t)
	const tasks = 470
	for i := range tasks {
		w.create(fmt.Sprintf("task_%03d", i), fmt.Sprintf(floatingTask, "2025-12-02T09:00:00", "0"))
	}
	w.create("rem_1", `{"title":"r","triggerUtc":"2025-12-02T09:00:00"}`)
	w.runUntilIdle()
	w.moveTo("Europe/Berlin")
	records := w.records()
	w.slowly()
	require.Equal(t, 1, len(records))
	w.setOff(records[0])
	calls := w.carryOut()
	require.Greater(t, calls, 3, "each for 20 seconds")
	require.Less(t, calls, 10)
	require.Len(t, w.schedules(), tasks+1)
	require.Equal(t, 2*(tasks+1), w.counts[reminders.Scheduled])
	for _, line := range w.schedules() {
		require.Contains(t, line, "02T08:00")
	}
	w.deliver(records...)
	require.Equal(t, 2*(tasks+1), w.counts[reminders.Scheduled], "a duplicate finds the cursor at its end")
	require.Empty(t, w.queue.Waiting())
	w.requireExact()
}

func TestConsumer_movesToThePresentZoneForAnOldChange(t *testing.T) {
	t.Parallel()
	w := setupFloating(t, "2025-12-02T09:00:00")
	w.moveTo("America/New_York")
	first := w.records()
	w.moveTo("Asia/Tokyo")
	second := w.records()
	w.deliver(second...)
	w.deliver(first...)
	require.Equal(t, []string{"task_1 -0 02T00:00"}, w.schedules())
	w.requireExact()
}

// Samoa left out 30 December 2011: there the reading of that day is the instant of the next day's, and a series has it
// once.
func TestConsumer_skipsAnExceptionWhoseDateTheZoneSkips(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.now = time.Date(2011, time.December, 29, 6, 0, 0, 0, time.UTC)
	w.create("mst_1", `{"title":"e","startUtc":"2011-12-30T08:18:00","rrule":"FREQ=DAILY"}`)
	w.except("mst_1", "20111230", `{"startUtc":"2011-12-31T11:01:00Z","startTzid":"UTC","reminderMinutes":[20]}`)
	w.runUntilIdle()
	require.Equal(t, []string{"inst_20111230_1 -20 31T10:41"}, w.schedules())
	w.moveTo("Pacific/Apia")
	w.runUntilIdle()
	require.Empty(t, w.schedules())
	w.moveTo("Pacific/Auckland")
	w.runUntilIdle()
	require.Equal(t, []string{"inst_20111230_1 -20 31T10:41"}, w.schedules())
}
