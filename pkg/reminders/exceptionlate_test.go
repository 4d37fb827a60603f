package reminders_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A change of the series that moves nothing comes between the instant and the late delivery: it asked for nothing.
func TestReminders_keepAnOccurrenceLateWhenItsSeriesIsRenamed(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("mst_1",
		`{"title":"Standup","startUtc":"2025-12-01T14:00:00Z","startTzid":"Europe/London","rrule":"FREQ=DAILY"}`)
	w.except("mst_1", "20251202", `{"reminderMinutes":[5]}`)
	w.to(noon.Add(27 * time.Hour)) // no record has been delivered yet
	w.patchSeries("mst_1", `{"title":"Daily"}`)
	w.runUntilIdle()
	require.Equal(t, []string{"inst_20251202_1 -5 02T13:55"}, w.published())
}
