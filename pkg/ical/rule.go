package ical

import (
	"strings"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/recurrence"
)

// compileRule refuses a rule that the product cannot keep, with the reason, and gives the draft its normal form. The
// series it returns is that of the rule and the start alone.
func (d *Draft) compileRule(start Moment) (*recurrence.Series, error) {
	rule, err := recurrence.Parse(d.RRule)
	if err != nil {
		return nil, err
	}
	zone := (*time.Location)(nil)
	if start.IsInstant() {
		if zone, err = entity.LoadZone(start.ZoneName()); err != nil {
			return nil, err
		}
	}
	spec := recurrence.Spec{
		Rule: d.RRule, Zone: zone, Start: start.Reading, AllDay: start.Form == Day, WithStart: true, Level: recurrence.Calendar,
	}
	series, err := recurrence.Compile(spec)
	if err != nil {
		return nil, err
	}
	d.RRule = normalRule(rule, start.Form == Day, zone)
	return series, nil
}

// normalRule is the text of a rule whose UNTIL is of the kind that its start has (RFC 5545 §3.3.10): a date for whole days, a
// reading where there is no zone, else in UTC. Here any kind is taken for any start, but others refuse a mixture.
func normalRule(rule recurrence.Rule, isAllDay bool, zone *time.Location) string {
	parts := strings.Split(rule.String(), ";")
	for i, part := range parts {
		if until, ok := strings.CutPrefix(part, "UNTIL="); ok {
			parts[i] = "UNTIL=" + untilOfKind(until, isAllDay, zone)
		}
	}
	return strings.Join(parts, ";")
}

func untilOfKind(until string, isAllDay bool, zone *time.Location) string {
	digits, inUTC := strings.CutSuffix(until, "Z")
	if !strings.Contains(until, "T") {
		digits += "T235959" // the whole of the day
	}
	reading, err := time.Parse(untilReading, digits)
	switch {
	case isAllDay:
		return digits[:len(compactDate)]
	case err != nil || zone != nil && inUTC:
		return until
	case zone == nil:
		return digits
	}
	return entity.Resolve(reading, zone).UTC().Format(untilInstant)
}
