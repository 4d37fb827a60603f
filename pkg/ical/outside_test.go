package ical_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/ical"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

// A recurring reminder whose first trigger its rule does not give leaves as a series of events does, and comes back.
func TestExport_writesATriggerOutsideItsRuleAsAnRDATE(t *testing.T) {
	t.Parallel()
	const starts = "triggerUtc=2025-01-06T08:00:00Z tzid=Europe/Berlin"
	zoned := func(rule string, more ...string) item.Item {
		return texts(append([]string{
			"title", "t", "triggerUtc", "2025-01-06T08:00:00Z", "tzid", berlin, "rrule", rule,
		}, more...)...)
	}
	for name, c := range map[string]struct {
		fields             item.Item
		want, back, itRule string
	}{
		"endless": {
			zoned("FREQ=WEEKLY;BYDAY=TU"),
			"DTSTART;TZID=Europe/Berlin:20250107T090000|RRULE:FREQ=WEEKLY;BYDAY=TU|RDATE;TZID=Europe/Berlin:20250106T090000",
			starts, "FREQ=WEEKLY;BYDAY=TU",
		},
		"COUNT": {
			zoned("FREQ=WEEKLY;INTERVAL=2;COUNT=3;BYDAY=TU"),
			"DTSTART;TZID=Europe/Berlin:20250107T090000|RRULE:FREQ=WEEKLY;INTERVAL=2;COUNT=2;BYDAY=TU|" +
				"RDATE;TZID=Europe/Berlin:20250106T090000",
			starts, "FREQ=WEEKLY;INTERVAL=2;COUNT=3;BYDAY=TU",
		},
		"its end": {
			zoned("FREQ=WEEKLY;BYDAY=TU", "rruleUntil", "2025-01-21T08:00:00Z"),
			"DTSTART;TZID=Europe/Berlin:20250107T090000|RRULE:FREQ=WEEKLY;UNTIL=20250121T080000Z;BYDAY=TU|" +
				"RDATE;TZID=Europe/Berlin:20250106T090000",
			starts, "FREQ=WEEKLY;UNTIL=20250121T080000Z;BYDAY=TU",
		},
		"which fits": {
			zoned("FREQ=WEEKLY;COUNT=3;BYDAY=MO"),
			"DTSTART;TZID=Europe/Berlin:20250106T090000|RRULE:FREQ=WEEKLY;COUNT=3;BYDAY=MO",
			starts, "FREQ=WEEKLY;COUNT=3;BYDAY=MO",
		},
		"alone": {
			zoned("FREQ=WEEKLY;COUNT=1;BYDAY=TU"),
			"DTSTART;TZID=Europe/Berlin:20250106T090000|RRULE:FREQ=DAILY;COUNT=1",
			starts, "FREQ=DAILY;COUNT=1",
		},
		"floating": {
			texts("title", "t", "triggerUtc", "2025-01-06T08:00:00", "rrule", "FREQ=MONTHLY;COUNT=4;BYDAY=SA;BYSETPOS=2"),
			"DTSTART:20250111T080000|RRULE:FREQ=MONTHLY;COUNT=3;BYDAY=SA;BYSETPOS=2|RDATE:20250106T080000",
			"triggerUtc=2025-01-06T08:00:00", "FREQ=MONTHLY;COUNT=4;BYDAY=SA;BYSETPOS=2",
		},
		"the first is skipped by the clocks": {
			texts("title", "t", "triggerUtc", "2025-03-24T01:30:00Z", "tzid", berlin, "rrule", "FREQ=WEEKLY;COUNT=3;BYDAY=SU"),
			"DTSTART;TZID=Europe/Berlin:20250324T023000|RRULE:FREQ=WEEKLY;UNTIL=20250406T003000Z;BYDAY=SU|" +
				"RDATE;TZID=Europe/Berlin:20250324T023000",
			"triggerUtc=2025-03-24T01:30:00Z tzid=Europe/Berlin", "FREQ=WEEKLY;UNTIL=20250406T003000Z;BYDAY=SU",
		},
		"the second of two equal readings": {
			texts("title", "t", "triggerUtc", "2025-10-26T01:30:00Z", "tzid", berlin, "rrule", "FREQ=WEEKLY;BYDAY=TU"),
			"DTSTART;TZID=Europe/Berlin:20251028T023000|RRULE:FREQ=WEEKLY;BYDAY=TU|RDATE;TZID=Europe/Berlin:20251026T023000",
			"triggerUtc=2025-10-26T00:30:00Z tzid=Europe/Berlin", "FREQ=WEEKLY;BYDAY=TU",
		},
	} {
		draft, err := ical.FromItem(stored(t, product.Reminder(), c.fields), nil)
		require.NoError(t, err, name)
		drafts := []ical.Draft{draft}
		require.Equal(t, c.want, lines(t, drafts, "DTSTART", "DUE", "RRULE", "RDATE", "EXDATE"), name)
		back := again(t, drafts).Drafts[0]
		require.Equal(t, c.back, times(back), name)
		require.Equal(t, c.itRule, back.RRule, name)
		require.Empty(t, back.RDates, name)
	}
}

// A to-do has an RDATE only where the reminder has the same occurrences without it.
func TestMap_takesAnRDATEOfAToDoAsItsFirstTriggerOrRefusesIt(t *testing.T) {
	t.Parallel()
	const tuesdays = "RRULE:FREQ=WEEKLY;BYDAY=TU"
	for name, c := range map[string]struct {
		lines []string
		want  string
	}{
		"before a rule that gives it": {
			[]string{"DTSTART:20250107T090000", "RRULE:FREQ=DAILY;COUNT=3", "RDATE:20250106T090000"},
			"triggerUtc=2025-01-06T09:00:00 FREQ=DAILY;COUNT=4",
		},
		"an instant of another form": {
			[]string{"DTSTART;TZID=Europe/Berlin:20250107T090000", tuesdays, "RDATE:20250106T080000Z"},
			"triggerUtc=2025-01-06T08:00:00Z tzid=Europe/Berlin FREQ=WEEKLY;BYDAY=TU",
		},
		"DTSTART itself": {
			[]string{"DTSTART:20250107T090000", "RRULE:FREQ=DAILY", "RDATE:20250107T090000"},
			"triggerUtc=2025-01-07T09:00:00 FREQ=DAILY",
		},
		"behind DTSTART": {[]string{"DTSTART:20250107T090000", tuesdays, "RDATE:20250109T090000"}, ""},
		"two": {[]string{"DTSTART:20250107T090000", tuesdays, "RDATE:20250105T090000,20250106T090000"},
			""},
		"at another time":          {[]string{"DTSTART:20250107T090000", tuesdays, "RDATE:20250106T100000"}, ""},
		"a period":                 {[]string{"DTSTART:20250107T090000", tuesdays, "RDATE:20250106T090000/PT1H"}, ""},
		"with a date between":      {[]string{"DTSTART:20250114T090000", tuesdays, "RDATE:20250106T090000"}, ""},
		"DTSTART outside its rule": {[]string{"DTSTART:20250108T090000", tuesdays, "RDATE:20250106T090000"}, ""},
		"another day of the week": {
			[]string{"DTSTART:20250107T090000", "RRULE:FREQ=WEEKLY", "RDATE:20250106T090000"}, "",
		},
		"another phase": {
			[]string{"DTSTART:20250107T090000", "RRULE:FREQ=DAILY;INTERVAL=2", "RDATE:20250106T090000"}, "",
		},
		"a mark, but no rule": {
			[]string{"DUE:20250107T090000", "X-NEXUS-ENTITY:REMINDER", "RDATE:20250106T090000"}, "",
		},
		"an excluded date beside it": {
			[]string{"DTSTART:20250107T090000", tuesdays, "RDATE:20250106T090000", "EXDATE:20250107T090000"}, "",
		},
	} {
		r := mapped(t, slices.Concat([]string{"BEGIN:VTODO", "UID:u", "SUMMARY:s"}, c.lines, []string{"END:VTODO"})...)
		if c.want == "" {
			require.Len(t, r.Refused, 1, name)
			require.Contains(t, r.Refused[0].Reason, "RDATE", name)
			continue
		}
		require.Empty(t, r.Refused, name)
		require.Equal(t, c.want, times(r.Drafts[0])+" "+r.Drafts[0].RRule, name)
	}
}
