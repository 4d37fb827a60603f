package ical

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/recurrence"
	"nexus/pkg/wallclock"
)

// synchronize replaces a start that its rule does not give. RFC 5545 §3.8.5.3 leaves open whether such a start is an
// occurrence, and programs read it either way; some show it twice if it is also an RDATE. So DTSTART becomes the first
// date that the rule gives, the start becomes an RDATE, and COUNT no longer counts it. The start of a reminder is its
// first trigger.
func (d *Draft) synchronize(it item.Item) error {
	rule, err := recurrence.Parse(d.RRule)
	if err != nil {
		return fmt.Errorf("draft %s: %w", it.Key(), err)
	}
	if rule.Gives(d.start.Reading) {
		return nil
	}
	spec := recurrence.Spec{
		Rule: d.RRule, Start: d.start.Reading, AllDay: d.start.Form == Day, WithStart: true, Level: recurrence.Calendar,
	}
	if d.start.IsInstant() {
		if spec.Zone, err = wallclock.LoadLocation(d.start.ZoneName()); err != nil {
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
	if slices.Contains(d.ExDates, date) { // removed without being excluded
		d.ExDates = slices.DeleteFunc(d.ExDates, func(excluded string) bool { return excluded == date })
	} else {
		d.RDates = withStart
	}
	if rule.Count() > 0 {
		d.RRule = rule.WithCount(rule.Count() - 1).String()
	}
	return nil
}

// onlyStart is the rule of a series of which only the start is left: every program shows it once.
const onlyStart = "FREQ=DAILY;COUNT=1"

// startAt lets the series start with another of its occurrences. It returns false if the clocks skip its time on that
// date, so that no start can express it.
func (d *Draft) startAt(first recurrence.Occurrence) bool {
	m := d.start
	m.Reading = first.Wall
	if !m.clock().Equal(m.Reading) {
		return false
	}
	at, _ := d.startFields()
	length := d.end.At().Sub(d.start.At())
	if m.Form == Day {
		d.Fields[product.AttrStartDate] = item.String(item.FormatDate(m.Reading))
		d.Fields[product.AttrEndDate] = item.String(item.FormatDate(m.Reading.Add(length)))
	} else {
		d.Fields[at] = d.timeField(m.At())
		if d.hasEnd {
			d.Fields[product.AttrEndUtc] = d.timeField(m.At().Add(length))
		}
	}
	d.start = m
	return true
}

// timeField returns a time in the form of a draft's fields: a floating one without offset.
func (d *Draft) timeField(at time.Time) item.Value {
	if d.start.Form == Floating {
		return clientInstant(Moment{Form: Floating, Reading: at})
	}
	return item.String(item.FormatInstant(at))
}

// countNoStart replaces COUNT by an UNTIL, because programs disagree on whether COUNT includes the start.
func (d *Draft) countNoStart(rule recurrence.Rule, whole *recurrence.Series, it item.Item) {
	_, zone := d.startFields()
	if last, ok := whole.Last(); ok && rule.Count() > 0 {
		d.RRule = endRule(rule, last.Start, it, zone).String()
	}
}

// startFields returns the fields with the time and the zone from which a rule counts.
func (d *Draft) startFields() (at, zone string) {
	if d.Kind == product.TypeReminder {
		return product.AttrTriggerUtc, product.AttrTzid
	}
	return product.AttrStartUtc, product.AttrStartTzid
}

var errToDoDates = errors.New("a to-do that repeats becomes a reminder, and that has no EXDATE, no EXRULE, " +
	"and of RDATE its first trigger alone, one occurrence before DTSTART")

// readOutside reverses [Draft.synchronize] for the start of a reminder: the RDATE is its first trigger again, and
// COUNT counts it. It refuses other dates, because a reminder has only its rule. So the result has the occurrences of
// the component: the RDATE, then DTSTART, then those of the rule from there.
func (m *mapper) readOutside(c *Component, d *Draft) error {
	start, err := m.onlyDate(c, d)
	if err != nil || start.At().Equal(d.start.At()) {
		return err
	}
	rule, err := recurrence.Parse(d.RRule)
	if err != nil {
		return err
	}
	if rule.Count() > 0 {
		rule = rule.WithCount(rule.Count() + 1)
	}
	spec, err := specAt(rule.String(), start)
	if err != nil {
		return err
	}
	whole, err := recurrence.Compile(spec)
	if err != nil {
		return err
	}
	second, ok := whole.Next(start.At())
	if !ok || !second.Wall.Equal(d.start.Reading) || !start.At().Before(d.start.At()) {
		return errToDoDates
	}
	d.start, d.RRule = start, rule.String()
	return nil
}

// onlyDate returns the only RDATE of a to-do as an occurrence; DTSTART if it has none.
func (m *mapper) onlyDate(c *Component, d *Draft) (Moment, error) {
	only := d.start
	for i, p := range c.All("RDATE") {
		list, err := m.zones.periods(p)
		if err != nil {
			return only, err
		}
		if i > 0 || len(list) != 1 || list[0].HasEnd {
			return only, errToDoDates
		}
		at := d.adopt(list[0].Start)
		if !d.isTimeOf(at) {
			return only, errToDoDates
		}
		only = d.occurrence(d.localDate(at))
	}
	return only, nil
}
