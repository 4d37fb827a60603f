package reminders_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/reminders"
)

func TestReminders_keepAYearOfMondaysAtNine(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"America/New_York", "Europe/London", "Australia/Lord_Howe", "Pacific/Apia", "Asia/Kolkata",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			zone, err := time.LoadLocation(name)
			require.NoError(t, err)
			w := setup(t)
			w.moveTo(name)
			first := time.Date(2025, 12, 8, 9, 0, 0, 0, zone) // a Monday
			w.create("mst_1",
				fmt.Sprintf(
					`{"title":"zoned","startUtc":"%s","startTzid":"%s","rrule":"FREQ=WEEKLY;BYDAY=MO","reminderMinutes":[30,1440]}`,
					at(first), name))
			w.create("mst_2",
				`{"title":"floating","startUtc":"2025-12-08T09:00:00","rrule":"FREQ=WEEKLY;BYDAY=MO","reminderMinutes":[30,1440]}`)
			w.create("rem_1",
				fmt.Sprintf(`{"title":"recurring","triggerUtc":"%s","tzid":"%s","rrule":"FREQ=WEEKLY"}`, at(first), name))
			w.create("rem_2", `{"title":"floating","triggerUtc":"2025-12-08T09:00:00","rrule":"FREQ=WEEKLY"}`)
			w.to(noon)
			end := first.AddDate(1, 0, 0)
			var want []string
			for day := 8; ; day += 7 {
				monday := time.Date(2025, 12, day, 9, 0, 0, 0, zone)
				if monday.After(end) {
					break
				}
				for _, id := range []string{"mst_1", "mst_2"} {
					want = append(want, fmt.Sprintf("%s 30 %s", id, at(monday.Add(-30*time.Minute))))
					want = append(want, fmt.Sprintf("%s 1440 %s", id, at(monday.Add(-24*time.Hour))))
				}
				want = append(want, fmt.Sprintf("rem_1 0 %s", at(monday)), fmt.Sprintf("rem_2 0 %s", at(monday)))
			}
			w.advance(end.Sub(noon))
			var got []string
			for _, e := range w.bus.details(t) {
				// The last Monday's day-before reminders lie before the end, those of the next Monday after it.
				if occurrence, _ := time.Parse(time.RFC3339, e.OccurrenceUtc); !occurrence.After(end) {
					got = append(got, fmt.Sprintf("%s %d %s", e.ItemID, e.OffsetMinutes, e.DueUtc))
				}
			}
			slices.Sort(want)
			slices.Sort(got)
			require.Equal(t, want, got)
			require.Zero(t, w.counts[reminders.Late]+w.counts[reminders.Missed])
			w.requireExact()
		})
	}
}
