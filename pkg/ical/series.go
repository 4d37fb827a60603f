package ical

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"nexus/pkg/entity"
)

// onceRule is the rule of a series that has only a start and RDATEs: a MASTER has a rule.
const onceRule = "FREQ=DAILY;COUNT=1"

const compactDate = "20060102"

// readSeries reads a VEVENT that repeats as a MASTER; RDATEs at another time or of another length become instances, too.
func (m *mapper) readSeries(c *Component, d *Draft) error {
	d.Kind = entity.TypeMaster
	if c.Get("EXRULE") != nil {
		return errors.New("EXRULE is not known here (RFC 5545 has dropped it)")
	}
	rule, err := onlyRule(c)
	if err != nil {
		return err
	}
	d.RRule = rule
	if err := m.exDates(c, d); err != nil {
		return err
	}
	if err := m.rDates(c, d); err != nil {
		return err
	}
	return d.checkRule(d.start)
}

// onlyRule returns the component's RRULE. Twice the same is taken as once; two are refused.
func onlyRule(c *Component) (string, error) {
	rules := c.All("RRULE")
	if len(rules) == 0 {
		return onceRule, nil
	}
	for _, p := range rules[1:] {
		if upper(strings.TrimSpace(p.Value)) != upper(strings.TrimSpace(rules[0].Value)) {
			return "", errors.New("it has more than one RRULE (RFC 5545 §3.8.5.3)")
		}
	}
	rule := strings.TrimSpace(rules[0].Value)
	if rule == "" {
		return "", errors.New("RRULE is empty")
	}
	return rule, nil
}

// adopt reads a time as one of the series: in its zone, also where the TZID was forgotten.
func (d *Draft) adopt(at Moment) Moment {
	if at.Form == Day || !d.start.IsInstant() {
		return at
	}
	adopted := Moment{Form: d.start.Form, Reading: at.wallIn(d.start.ZoneName()), Zone: d.start.Zone}
	if at.IsInstant() && !adopted.At().Equal(at.At()) {
		return at // the second of two equal readings at the end of summer time
	}
	return adopted
}

// localDate is the date that a moment has where the series is.
func (d *Draft) localDate(at Moment) string { return at.DateIn(d.start.ZoneName()) }

// timeOfDay is the reading within its day that a moment has where the series is.
func (d *Draft) timeOfDay(at Moment) time.Duration {
	wall := at.wallIn(d.start.ZoneName())
	return wall.Sub(wall.Truncate(24 * time.Hour))
}

// isTimeOf reports whether a moment can name an occurrence by its time: it is a date, which many programs write for a day,
// or has the series' time of day.
func (d *Draft) isTimeOf(at Moment) bool {
	if at.Form == Day || d.start.Form == Day {
		return true
	}
	// A reading in a gap of the clocks is written as the time after it.
	original := d.start
	original.Reading = at.wallIn(d.start.ZoneName()).Truncate(24 * time.Hour).Add(d.timeOfDay(d.start))
	return d.timeOfDay(at) == d.timeOfDay(d.start) || original.At().Equal(at.At())
}

func (m *mapper) exDates(c *Component, d *Draft) error {
	for _, p := range c.All("EXDATE") {
		list, err := m.zones.periods(p)
		if err != nil {
			return err
		}
		for _, ex := range list {
			ex.Start = d.adopt(ex.Start)
			if !d.isTimeOf(ex.Start) {
				m.leaveOut(d, "the EXDATE in line %d has another time than every occurrence", p.Line)
				continue
			}
			d.ExDates = append(d.ExDates, d.localDate(ex.Start))
		}
	}
	d.ExDates = sortedDates(d.ExDates)
	return tooMany("EXDATE", d.ExDates)
}

func (m *mapper) rDates(c *Component, d *Draft) error {
	seen := map[string]bool{}
	for _, p := range c.All("RDATE") {
		list, err := m.zones.periods(p)
		if err != nil {
			return err
		}
		for _, r := range list {
			if r.Start.Form != Day && d.start.Form == Day {
				return errors.New("RDATE has a time where DTSTART is a date")
			}
			r.Start, r.End = d.adopt(r.Start), d.adopt(r.End)
			date := d.localDate(r.Start)
			if seen[date] {
				m.leaveOut(d, "the RDATE in line %d is the second on %s: a series has at most one occurrence a day", p.Line, date)
				continue
			}
			seen[date] = true
			d.RDates = append(d.RDates, date)
			if instance, differs := d.instanceOf(r, date); differs {
				if m.derived++; m.derived > maxDerived {
					return fmt.Errorf("RDATE: the calendar has more than %d at another time or of another length than their series", maxDerived)
				}
				d.derived = append(d.derived, instance)
			}
		}
	}
	d.RDates = sortedDates(d.RDates)
	return tooMany("RDATE", d.RDates)
}

// instanceOf returns the exception that an RDATE is besides its date, if its time or length is not the series'.
func (d *Draft) instanceOf(r Period, date string) (Draft, bool) {
	if d.start.Form == Day || r.Start.Form == Day {
		return Draft{}, false
	}
	end := r.End
	if !r.HasEnd {
		end = r.Start
		end.Reading = end.Reading.Add(d.end.wallIn(d.start.ZoneName()).Sub(d.start.Reading))
	}
	sameLength := !r.HasEnd || end.At().Sub(r.Start.At()) == d.end.At().Sub(d.start.At())
	if d.isTimeOf(r.Start) && sameLength {
		return Draft{}, false
	}
	instance := *d
	instance.Kind, instance.Date, instance.isDerived = entity.TypeInstance, date, true
	instance.derived = nil
	instance.RRule, instance.ExDates, instance.RDates = "", nil, nil
	instance.Fields = d.Fields.Clone()
	for _, name := range []string{entity.AttrStartUtc, entity.AttrEndUtc, entity.AttrStartTzid, entity.AttrEndTzid} {
		delete(instance.Fields, name)
	}
	instance.Original = d.occurrence(date)
	instance.start, instance.end, instance.hasEnd = r.Start, end, d.hasEnd || r.HasEnd
	instance.setSpan()
	return instance, true
}

// occurrence is the moment of the series on a date.
func (d *Draft) occurrence(date string) Moment {
	at := d.start
	day, err := time.Parse(compactDate, date)
	if err == nil {
		at.Reading = day.Add(d.timeOfDay(d.start))
	}
	return at
}

func sortedDates(dates []string) []string {
	slices.Sort(dates)
	return slices.Compact(dates)
}

func tooMany(name string, dates []string) error {
	if len(dates) > maxDates {
		return fmt.Errorf("%s: has %d dates, more than %d", name, len(dates), maxDates)
	}
	return nil
}

// readInstance reads a VEVENT with a RECURRENCE-ID. Which date it names is only known beside its series.
func (m *mapper) readInstance(p *Property, d *Draft) (err error) {
	d.Kind = entity.TypeInstance
	if upper(p.Param("RANGE")) == "THISANDFUTURE" {
		return errors.New("RECURRENCE-ID with RANGE=THISANDFUTURE is not known here: split the series there")
	}
	if d.Original, err = m.zones.moment(p); err != nil {
		return err
	}
	d.Date = d.localDate(d.Original)
	return nil
}
