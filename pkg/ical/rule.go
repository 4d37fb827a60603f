package ical

import (
	"slices"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/recurrence"
	"nexus/pkg/wallclock"
)

// compileRule refuses a rule that the product cannot represent, with the reason, and gives the draft its normal form.
// The returned series is that of the rule and the start alone.
func (d *Draft) compileRule(start Moment) (*recurrence.Series, error) {
	rule, err := recurrence.Parse(d.RRule)
	if err != nil {
		return nil, err
	}
	spec, err := specAt(d.RRule, start)
	if err != nil {
		return nil, err
	}
	series, err := recurrence.Compile(spec)
	if err != nil {
		return nil, err
	}
	d.RRule = rule.WithKind(start.Form == Day, spec.Zone).String()
	return series, nil
}

// specAt returns the series of a rule from a start on.
func specAt(rule string, start Moment) (spec recurrence.Spec, err error) {
	spec = recurrence.Spec{
		Rule: rule, Start: start.Reading, AllDay: start.Form == Day, WithStart: true, Level: recurrence.Calendar,
	}
	if start.IsInstant() {
		spec.Zone, err = wallclock.LoadLocation(start.ZoneName())
	}
	return spec, err
}

// leaveOne restores the first date of a series whose dates are all excluded, as a cancelled occurrence: a series has
// at least one occurrence, and a cancelled one is exported as an EXDATE again.
func (d *Draft) leaveOne(m *mapper) error {
	if len(d.ExDates) == 0 {
		return nil
	}
	spec, err := specAt(d.RRule, d.start)
	if err != nil {
		return err
	}
	spec.RDates, spec.EXDates = d.RDates, d.ExDates
	left, err := recurrence.Compile(spec)
	if err != nil {
		return err
	}
	if _, any := left.First(); any {
		return nil
	}
	spec.EXDates = nil
	whole, err := recurrence.Compile(spec)
	if err != nil {
		return err
	}
	first, any := whole.First()
	if !any {
		return nil // it ends before it begins: the check of the whole reports that
	}
	date := first.Wall.Format(compactDate)
	d.ExDates = slices.DeleteFunc(d.ExDates, func(other string) bool { return other == date })
	instance := *d
	instance.Kind, instance.Date, instance.isDerived, instance.Excluded = entity.TypeInstance, date, true, true
	instance.derived, instance.RRule, instance.ExDates, instance.RDates = nil, "", nil, nil
	instance.Fields = d.Fields.Clone()
	instance.Fields[entity.AttrStatus] = item.String(product.StatusCancelled)
	instance.Original = d.occurrence(date)
	length := d.end.At().Sub(d.start.At())
	instance.start, instance.end = instance.Original, instance.Original.add(Duration{Exact: length})
	if d.start.Form == Day {
		instance.end = instance.Original.add(Duration{Days: int(length / (24 * time.Hour))})
	}
	instance.setSpan()
	m.derived++
	d.derived = append(d.derived, instance)
	return nil
}
