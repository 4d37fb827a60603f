package ical_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMap_refusesRulesThatCannotBeKept(t *testing.T) {
	t.Parallel()
	for rule, reason := range map[string]string{
		"FREQ=HOURLY":                         "FREQ",
		"FREQ=DAILY;BYHOUR=8":                 "BYHOUR",
		"FREQ=WEEKLY;UNTL=20191023":           "UNTL",
		"FREQ=DAILY;COUNT=2;UNTIL=2025":       "UNTIL",
		"FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30": "never",
	} {
		require.Contains(t, refused(t, "VEVENT", "DTSTART:20250101T090000Z", "RRULE:"+rule), reason, rule)
		require.Contains(t, refused(t, "VTODO", "DUE:20250101T090000Z", "RRULE:"+rule), reason, rule)
	}
	for rule, want := range map[string]string{
		"freq=weekly;byday=we,mo;": "FREQ=WEEKLY;BYDAY=MO,WE", "FREQ=DAILY;INTERVAL=1": "FREQ=DAILY",
	} {
		require.Equal(t, want, event(t, "DTSTART:20250101T090000Z", "RRULE:"+rule).RRule)
	}
	for start, want := range map[string]string{
		"DTSTART;TZID=Europe/Berlin:20250101T090000": "UNTIL=20250701T215959Z",
		"DTSTART:20250101T090000Z":                   "UNTIL=20250701T235959Z",
		"DTSTART:20250101T090000":                    "UNTIL=20250701T235959",
		"DTSTART;VALUE=DATE:20250101":                "UNTIL=20250701",
	} {
		require.Equal(t, "FREQ=DAILY;"+want, event(t, start, "RRULE:FREQ=DAILY;UNTIL=20250701").RRule,
			"an end of the start's kind")
	}
	require.Equal(t, "FREQ=WEEKLY", event(t, "DTSTART:20250101", "RRULE:FREQ=WEEKLY", "RRULE:freq=weekly").RRule)
}
