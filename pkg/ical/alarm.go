package ical

import (
	"slices"
	"time"

	"nexus/pkg/item"
	"nexus/pkg/product"
)

const (
	mostOffsets   = 10
	longestOffset = 40320 * time.Minute // four weeks (docs/data-model.md)
)

// alarms reads the VALARMs of a component as minutes before anchor, the time that its reminders count from.
// RELATED=END counts from end. Alarms that the product cannot represent, such as one after the start, are preserved
// and do not remind here.
func (m *mapper) alarms(c *Component, d *Draft, anchor, end Moment) []int64 {
	var minutes []int64
	looked := 0
	for _, child := range c.Children {
		// Apple stores the absence of an alarm as NONE
		if child.Name != "VALARM" || upper(child.Value("ACTION")) == "NONE" {
			continue
		}
		if looked++; looked > maxAlarms {
			m.leaveOut(d, "it has more than %d alarms", maxAlarms)
			break
		}
		before, reason := m.alarmOffset(c, child, anchor, end)
		if reason != "" {
			m.leaveOut(d, "the alarm in line %d is kept and does not remind here: it %s", child.Line, reason)
			continue
		}
		minutes = append(minutes, wholeMinutes(before))
	}
	slices.Sort(minutes)
	minutes = slices.Compact(minutes)
	if len(minutes) > mostOffsets {
		m.leaveOut(d, "it has %d alarms, more than %d: those nearest to the time are kept", len(minutes), mostOffsets)
		minutes = minutes[:mostOffsets]
	}
	return minutes
}

// alarmOffset returns how long before anchor an alarm is, or why it is left out.
func (m *mapper) alarmOffset(c, alarm *Component, anchor, end Moment) (before time.Duration, reason string) {
	p := alarm.Get("TRIGGER")
	if p == nil {
		return 0, "has no TRIGGER"
	}
	var trigger Moment
	if length, err := ParseDuration(p.Value); err == nil {
		base := anchor
		if upper(p.Param("RELATED")) == "END" {
			base = end
		} else if start := c.Get("DTSTART"); start != nil {
			if base, err = m.zones.moment(start); err != nil {
				return 0, "counts from a start that cannot be read"
			}
		}
		if repeats(c) { // for most occurrences, if not for the first, a day before is 24 hours before
			length = Duration{Exact: length.Exact + time.Duration(length.Days)*24*time.Hour}
		}
		trigger = base.add(length)
		if base.Form == Day { // add treats a Day as its midnight
			trigger.Form = Floating
		}
	} else if trigger, err = m.zones.moment(p); err != nil {
		return 0, "has a TRIGGER that is neither a duration nor a time"
	} else if repeats(c) {
		return 0, "has a fixed time, which cannot be that of every occurrence"
	}
	if trigger.IsInstant() != anchor.IsInstant() {
		return 0, "has a time with a zone where the component has none, or the other way round"
	}
	before = anchor.At().Sub(trigger.At())
	switch {
	case before < 0:
		return 0, "comes after the time it would remind of"
	case before > longestOffset:
		return 0, "comes more than four weeks before the time it reminds of"
	}
	return before, ""
}

// setMinutes writes reminder offsets into the fields; none is an absent set.
func (d *Draft) setMinutes(minutes []int64) {
	if len(minutes) > 0 {
		d.Fields[product.AttrReminderMinutes] = item.Ints(minutes...)
	}
}

func repeats(c *Component) bool { return c.Get("RRULE") != nil || c.Get("RDATE") != nil }
