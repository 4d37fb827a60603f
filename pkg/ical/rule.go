package ical

import (
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
	d.RRule = rule.OfKind(start.Form == Day, zone).String()
	return series, nil
}
