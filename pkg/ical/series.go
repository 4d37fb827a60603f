package ical

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"nexus/pkg/entity"
	"nexus/pkg/product"
)

// onceRule is the rule of a series that has only a start and RDATEs: a MASTER has a rule.
const onceRule = "FREQ=DAILY;COUNT=1"

const compactDate = "20060102"

// readSeries reads a repeating VEVENT as a MASTER. RDATEs at another time or of another length also become instances.
func (m *mapper) readSeries(c *Component, d *Draft) (err error) {
	d.Kind = entity.TypeMaster
	if c.Get("EXRULE") != nil {
		return errors.New("EXRULE is not known here (RFC 5545 has dropped it)")
	}
	if d.RRule, err = onlyRule(c); err != nil {
		return err
	}
	rule, err := d.compileRule(d.start)
	if err != nil {
		return err
	}
	if shown := d.start.clock(); !shown.Equal(d.start.Reading) {
		m.leaveOut(d, "its start does not exist, because the clocks go forward then: the series is at %s",
			shown.Format("15:04"))
	}
	excluded, err := m.exclusions(c, d)
	if err != nil {
		return err
	}
	if err := m.additions(c, d, rule, excluded); err != nil {
		return err
	}
	for _, ex := range excluded.others {
		if !ex.met {
			m.leaveOut(d, "the EXDATE in line %d has another time than every occurrence", ex.line)
		}
	}
	d.ExDates, d.RDates = excluded.sorted(), sortedDates(d.RDates)
	if err := errors.Join(tooMany("EXDATE", d.ExDates), tooMany("RDATE", d.RDates)); err != nil {
		return err
	}
	return d.leaveOne(m)
}

// onlyRule returns the component's RRULE. It accepts the same rule twice, and refuses two different ones.
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
	return strings.TrimSpace(rules[0].Value), nil
}

// instanceOf returns the exception of an RDATE whose time or length is not the series'.
func (d *Draft) instanceOf(r rdateValue, date string) (Draft, bool) {
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
	for _, name := range []string{product.AttrStartUtc, product.AttrEndUtc, product.AttrStartTzid, product.AttrEndTzid} {
		delete(instance.Fields, name)
	}
	instance.Original = d.occurrence(date)
	instance.start, instance.end, instance.hasEnd = r.Start, end, d.hasEnd || r.HasEnd
	instance.setSpan()
	return instance, true
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

// readInstance reads a VEVENT with a RECURRENCE-ID. Its date can be determined only with its series.
func (m *mapper) readInstance(p *Property, d *Draft) (err error) {
	d.Kind = entity.TypeInstance
	d.following = upper(p.Param("RANGE"))
	if d.Original, err = m.zones.moment(p); err != nil {
		return err
	}
	d.Date = d.localDate(d.Original)
	return nil
}
