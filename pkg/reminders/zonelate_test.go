package reminders_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/item"
)

// By the clock of the new zone the next occurrence is at the instant until which the trigger is done. The one after it
// rings.
func TestNotifier_continuesAfterASnoozeThatEndedInAnotherZone(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.moveTo("Pacific/Honolulu")
	w.create("rem_1", `{"title":"Pills","triggerUtc":"2025-12-10T13:00:00","rrule":"FREQ=DAILY"}`)
	w.act(snoozeFor("rem_1", 60))
	w.advance(65 * time.Minute)
	require.Equal(t, []string{"rem_1 -0 01T13:00"}, w.published())
	require.Equal(t, "2025-12-10T23:00:00Z", w.item("rem_1").Str("lastFiredUtc"))
	w.moveTo("Pacific/Kiritimati") // a day ahead to the hour
	w.runUntilIdle()
	require.Equal(t, []string{"rem_1 -0 11T23:00"}, w.schedules())
	w.requireExact()
}

// A reading that is past by one clock is to come by another.
func TestReminders_readAFloatingTimeByTheClockOfItsZone(t *testing.T) {
	t.Parallel()
	w := setupFloating(t, "2025-12-01T09:00:00")
	require.Empty(t, w.schedules())
	w.moveTo("Pacific/Honolulu")
	w.runUntilIdle()
	require.Equal(t, []string{"task_1 -0 01T19:00"}, w.schedules())
	w.requireExact()
}

// The record of the move comes when the reading has been past for a day by the clock that it was left with, but not for
// a day where the user is. It is late there.
func TestReminders_areLateForAReadingWhoseMoveCameLate(t *testing.T) {
	t.Parallel()
	w := setupFloating(t, "2025-12-01T09:00:00")
	w.moveTo("Pacific/Honolulu")
	w.to(noon.Add(23 * time.Hour))
	w.runUntilIdle()
	require.Equal(t, []string{"task_1 -0 01T19:00"}, w.published())
	w.requireExact()
	w.requireNothingLost()
}

// A walk keeps its place after thousands of items that it passes over.
func TestConsumer_reachesAnItemAfterAnyNumberOfOthersInAMove(t *testing.T) {
	t.Parallel()
	w := setupFloating(t, "2025-12-02T09:00:00")
	var others []item.Item
	for i := range 2100 {
		id, other := fmt.Sprintf("task_0%04d", i), w.item("task_1").Clone()
		other["SK"], other["taskId"] = item.String("TASK#"+id), item.String(id)
		delete(other, "reminderMinutes")
		others = append(others, other)
	}
	require.NoError(t, w.store.Load(t.Context(), others))
	for len(w.records()) > 0 {
		continue // the others' records
	}
	w.moveTo("Europe/Berlin")
	w.slowly()
	w.setOff(w.records()[0])
	require.Greater(t, w.carryOut(), 1)
	require.Equal(t, []string{"task_1 -0 02T08:00"}, w.schedules())
}

// A move to another zone asks for floating times alone. What an exception's times are decides, if it has its own, and
// otherwise what its series' are.
func TestConsumer_asksForTheOccurrencesThatFloatInAMove(t *testing.T) {
	t.Parallel()
	const floating = `{"title":"e","startUtc":"2025-12-01T15:00:00","rrule":"FREQ=DAILY","reminderMinutes":[0]}`
	for name, c := range map[string]struct {
		series, exception string
		change            string // of the series, since
		from, to          string // zones, before and after the instant
		published         []string
	}{
		"an instant in a series that floats": {floating, `{"startUtc":"2025-12-01T14:00:00Z","startTzid":"UTC"}`, "",
			"UTC", "Pacific/Kiritimati", []string{"mst_1 -0 01T14:00"}},
		"a reading in a series that does not": {fmt.Sprintf(dailyAt, "0"),
			`{"startUtc":"2025-12-01T14:00:00","startTzid":null}`, "",
			"America/New_York", "UTC", []string{}},
		"a title in a series that does not": {fmt.Sprintf(dailyAt, "0"), `{"title":"Other"}`, "",
			"UTC", "Pacific/Kiritimati", []string{"mst_1 -0 01T14:00"}},
		"a title in a series that floats": {floating, `{"title":"Other"}`, "",
			"America/New_York", "Europe/Berlin", []string{}},
		"a title in a series that floats by now": {fmt.Sprintf(dailyAt, "0"), `{"title":"Other"}`,
			`{"startUtc":"2025-12-01T15:00:00","startTzid":null,"endUtc":null}`,
			"America/New_York", "Europe/Berlin", []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			w.moveTo(c.from)
			w.create("mst_1", c.series)
			w.except("mst_1", "20251201", c.exception)
			if c.change != "" {
				w.patchSeries("mst_1", c.change)
			}
			w.runUntilIdle()
			w.to(noon.Add(2*time.Hour + time.Minute)) // after two o'clock by UTC; no call has come
			w.moveTo(c.to)
			w.deliver(w.records()...)
			w.runUntilIdle()
			require.Equal(t, c.published, w.published())
			w.requireExact()
		})
	}
}
