package entity

import (
	"fmt"
	"time"

	"nexus/pkg/recurrence"
)

// CompileMaster returns the occurrences of a MASTER without regard to its exceptions. The start counts as one whether it
// fits the rule or not (RFC 5545 §3.8.5.3). A series that floats, or of whole days, gives readings labelled UTC: see
// [recurrence.Series.In]. The error is a [*recurrence.Refusal], or about a zone that does not exist.
func CompileMaster(it Item) (*recurrence.Series, error) {
	start, _ := eventSpan(it)
	spec := recurrence.Spec{
		Rule: it.Str(AttrRRule), Start: start, AllDay: it.Bool(AttrIsAllDay),
		EXDates: it.Strings(AttrExDate), RDates: it.Strings(AttrRDate),
	}
	return compile(it, spec, AttrStartTzid)
}

// CompileReminder returns the triggers of a recurring REMINDER, as [CompileMaster] does.
func CompileReminder(it Item) (*recurrence.Series, error) {
	first, _ := it.Time(AttrFirstTriggerUtc)
	return compile(it, recurrence.Spec{Rule: it.Str(AttrRRule), Start: first}, AttrTzid)
}

// compile adds what series and reminders have in common. The start comes as it is stored.
func compile(it Item, spec recurrence.Spec, zoneAttr string) (*recurrence.Series, error) {
	if name := it.Str(zoneAttr); name != "" {
		zone, err := LoadZone(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", zoneAttr, err)
		}
		spec.Zone, spec.Start = zone, Wall(spec.Start, zone)
	}
	spec.Until, _ = it.Time(AttrRRuleUntil)
	spec.WithStart, spec.Level = true, recurrence.Calendar
	return recurrence.Compile(spec)
}

// CompactDate returns the date of a reading as keys, exdate and rdate have it: YYYYMMDD.
func CompactDate(reading time.Time) string {
	if !hasFourDigits(reading.Year()) {
		return reading.Format(compactDate)
	}
	var room [len(compactDate)]byte
	return string(appendDate(room[:0], reading, ""))
}

// ParseCompactDate is the inverse of [CompactDate].
func ParseCompactDate(s string) (time.Time, error) {
	t, ok := readDate(s, true)
	if !ok {
		return time.Time{}, fmt.Errorf("date %q: want the form %s", s, compactDate)
	}
	return t, nil
}
