package ical

import (
	"fmt"
	"slices"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/recurrence"
)

// synchronize takes a start that its rule does not give out of DTSTART. RFC 5545 §3.8.5.3 leaves open whether such a start
// is an occurrence, and programs read it either way; some show it twice if it stands in RDATE, too. So DTSTART becomes the
// first date that the rule gives, the start becomes an RDATE, and COUNT no longer counts it.
func (d *Draft) synchronize(it entity.Item) error {
	rule, err := recurrence.Parse(d.RRule)
	if err != nil {
		return fmt.Errorf("draft %s: %w", it.Key(), err)
	}
	if rule.Gives(d.start.Reading) {
		return nil
	}
	spec := recurrence.Spec{Rule: d.RRule, Start: d.start.Reading, AllDay: d.start.Form == Day, WithStart: true, Level: recurrence.Calendar}
	if d.start.IsInstant() {
		if spec.Zone, err = entity.LoadZone(d.start.ZoneName()); err != nil {
			return fmt.Errorf("draft %s: %w", it.Key(), err)
		}
	}
	whole, err := recurrence.Compile(spec)
	if err != nil {
		return fmt.Errorf("draft %s: %w", it.Key(), err)
	}
	if _, counts := whole.On(d.start.Reading); !counts {
		return nil // the rule ends before the start
	}
	first, ok := whole.Next(d.start.At())
	if !ok {
		d.RRule = onlyStart
		return nil
	}
	date := d.start.Reading.Format(compactDate)
	withStart := sortedDates(append(slices.Clone(d.RDates), date))
	if !d.startAt(first) {
		d.RDates = withStart
		d.countNoStart(rule, whole, it)
		return nil
	}
	if slices.Contains(d.ExDates, date) { // out of the set without being excluded
		d.ExDates = slices.DeleteFunc(d.ExDates, func(excluded string) bool { return excluded == date })
	} else {
		d.RDates = withStart
	}
	if rule.Count() > 0 {
		d.RRule = rule.WithCount(rule.Count() - 1).String()
	}
	return nil
}

// onlyStart is the rule of a series whose start is all that its own rule leaves: every program shows it once.
const onlyStart = "FREQ=DAILY;COUNT=1"

// startAt lets the series start with another of its occurrences; false if the clocks skip its time on that date, so that no
// start can say it.
func (d *Draft) startAt(first recurrence.Occurrence) bool {
	m := d.start
	m.Reading = first.Wall
	if !m.clock().Equal(m.Reading) {
		return false
	}
	length := d.end.At().Sub(d.start.At())
	if m.Form == Day {
		d.Fields[entity.AttrStartDate] = entity.String(entity.FormatDate(m.Reading))
		d.Fields[entity.AttrEndDate] = entity.String(entity.FormatDate(m.Reading.Add(length)))
	} else {
		d.Fields[entity.AttrStartUtc] = d.timeField(m.At())
		if d.hasEnd {
			d.Fields[entity.AttrEndUtc] = d.timeField(m.At().Add(length))
		}
	}
	d.start = m
	return true
}

// timeField is a time as the fields of a draft have it: one that floats without offset.
func (d *Draft) timeField(at time.Time) entity.Value {
	if d.start.Form == Floating {
		return clientInstant(Moment{Form: Floating, Reading: at})
	}
	return entity.String(entity.FormatInstant(at))
}

// countNoStart puts an UNTIL in the place of a COUNT, which some programs let the start count for and others not.
func (d *Draft) countNoStart(rule recurrence.Rule, whole *recurrence.Series, it entity.Item) {
	if last, ok := whole.Last(); ok && rule.Count() > 0 {
		d.RRule = endRule(rule, last.Start, it, entity.AttrStartTzid).String()
	}
}
