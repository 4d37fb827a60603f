package ical

import (
	"nexus/pkg/entity"
	"nexus/pkg/recurrence"
)

// checkRule refuses a rule that the product cannot keep, with the reason, and gives the draft its normal form.
func (d *Draft) checkRule(start Moment) error {
	rule, err := recurrence.Parse(d.RRule)
	if err != nil {
		return err
	}
	spec := recurrence.Spec{
		Rule: d.RRule, Start: start.Reading, AllDay: start.Form == Day,
		RDates: d.RDates, EXDates: d.ExDates, WithStart: true, Level: recurrence.Calendar,
	}
	if start.IsInstant() {
		if spec.Zone, err = entity.LoadZone(start.ZoneName()); err != nil {
			return err
		}
	}
	if _, err := recurrence.Compile(spec); err != nil {
		return err
	}
	d.RRule = rule.String()
	return nil
}
