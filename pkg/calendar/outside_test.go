package calendar_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/item"
	"nexus/pkg/product"
)

// A start that its rule does not give is one occurrence wherever its calendar goes.
func TestImporter_keepsAStartOutsideItsRuleAsOneOccurrence(t *testing.T) {
	t.Parallel()
	from, to := time.Date(2019, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, lines := range map[string][]string{
		"endless": {"DTSTART;TZID=Europe/Berlin:20200109T090000", "DTEND;TZID=Europe/Berlin:20200109T100000",
			"RRULE:FREQ=WEEKLY;BYDAY=SU,TU"},
		"COUNT":    {"DTSTART;TZID=Europe/Berlin:20200109T090000", "RRULE:FREQ=MONTHLY;COUNT=5;BYDAY=SA;BYSETPOS=2"},
		"floating": {"DTSTART:20200109T090000", "RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=SU,TU;UNTIL=20210101T000000"},
		"whole days": {"DTSTART;VALUE=DATE:20200109", "DTEND;VALUE=DATE:20200112",
			"RRULE:FREQ=YEARLY;BYMONTH=3;BYMONTHDAY=1"},
		"alone": {"DTSTART;TZID=Europe/Berlin:20200109T090000", "RRULE:FREQ=WEEKLY;BYDAY=SU;COUNT=1"},
		"changed": {"DTSTART;TZID=Europe/Berlin:20200109T090000", "RRULE:FREQ=WEEKLY;BYDAY=SU;COUNT=4",
			"EXDATE;TZID=Europe/Berlin:20200112T090000"},
	} {
		here := setup(t)
		components := []string{vevent("a", lines...)}
		if name == "changed" {
			components = append(components,
				vevent("a", "RECURRENCE-ID;TZID=Europe/Berlin:20200109T090000", "DTSTART;TZID=Europe/Berlin:20200109T113000"))
		}
		require.Empty(t, here.imports(ann, text(components...)).Refused, name)
		want := here.starts(from, to)
		require.NotEmpty(t, want, name)
		exported := here.export(ann).Text
		rows := here.rows()
		require.Empty(t, here.imports(ann, exported).Refused, name)
		require.Equal(t, rows, here.rows(), "%s: an import of an export writes nothing\n%s", name, exported)

		elsewhere := setup(t)
		require.Empty(t, elsewhere.imports(ann, exported).Refused, name)
		require.Equal(t, want, elsewhere.starts(from, to), "%s\n%s", name, exported)
		require.Equal(t, string(exported), string(elsewhere.export(ann).Text), name)
	}
}

// A first trigger that its rule does not give is one trigger wherever its reminder goes.
func TestImporter_keepsATriggerOutsideItsRuleAsOneTrigger(t *testing.T) {
	t.Parallel()
	for name, lines := range map[string][]string{
		"endless":  {"DTSTART;TZID=Europe/Berlin:20300109T090000", "RRULE:FREQ=WEEKLY;BYDAY=SU,TU"},
		"past":     {"DTSTART;TZID=Europe/Berlin:20200109T090000", "RRULE:FREQ=WEEKLY;BYDAY=SU,TU"},
		"COUNT":    {"DTSTART;TZID=Europe/Berlin:20300109T090000", "RRULE:FREQ=MONTHLY;COUNT=5;BYDAY=SA;BYSETPOS=2"},
		"floating": {"DTSTART:20300109T090000", "RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=SU,TU;UNTIL=20310101T000000"},
		"alone":    {"DTSTART;TZID=Europe/Berlin:20300109T090000", "RRULE:FREQ=WEEKLY;BYDAY=SU;COUNT=1"},
		"with an alarm": {
			"DTSTART;TZID=Europe/Berlin:20300109T090000", "RRULE:FREQ=WEEKLY;BYDAY=SU",
			"BEGIN:VALARM", "ACTION:DISPLAY", "DESCRIPTION:x", "TRIGGER:-PT10M", "END:VALARM",
		},
	} {
		here := setup(t)
		require.Empty(t, here.imports(ann, text(vtodo("a", lines...))).Refused, name)
		want := triggersOf(here)
		exported := here.export(ann).Text
		require.Equal(t, name != "alone", strings.Contains(string(exported), "\r\nRDATE"), "%s\n%s", name, exported)
		rows := here.rows()
		require.Empty(t, here.imports(ann, exported).Refused, name)
		require.Equal(t, rows, here.rows(), "%s: an import of an export writes nothing\n%s", name, exported)

		elsewhere := setup(t)
		r := elsewhere.imports(ann, exported)
		require.Empty(t, r.Refused, name)
		require.Zero(t, r.LeftOutTotal, name)
		require.Equal(t, want, triggersOf(elsewhere), "%s\n%s", name, exported)
		require.Equal(t, string(exported), string(elsewhere.export(ann).Text), name)
	}
}

// triggersOf returns the first ten occurrences of the reminder "a", as they are stored.
func triggersOf(b *fixture) (readings []string) {
	series, err := product.CompileReminder(b.item(product.Reminder(), "a", 0))
	b.NoError(err)
	for o, ok := series.First(); ok && len(readings) < 10; o, ok = series.Next(o.Start) {
		readings = append(readings, item.FormatInstant(o.Start))
	}
	return readings
}
