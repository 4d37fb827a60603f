package ical

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/wallclock"
)

func (d *Draft) exportEvent(stamp time.Time) (*Component, error) {
	if err := d.readSpan(); err != nil {
		return nil, err
	}
	c := d.begin("VEVENT", stamp)
	if d.Kind == entity.TypeInstance {
		if d.Original.Reading.IsZero() {
			return nil, errors.New("an instance without its original time")
		}
		d.Original.addTo(c, "RECURRENCE-ID")
	}
	d.start.addTo(c, "DTSTART")
	if d.hasEnd {
		d.end.addTo(c, "DTEND")
	}
	if d.Kind == entity.TypeMaster {
		if d.RRule == "" {
			return nil, errors.New("a series without its rule")
		}
		c.Add("RRULE", d.RRule)
		if err := errors.Join(d.addDates(c, "RDATE", d.RDates), d.addDates(c, "EXDATE", d.ExDates)); err != nil {
			return nil, err
		}
	}
	d.describeIn(c, attrDescription)
	c.AddText("LOCATION", d.Fields.Str(attrLocation))
	c.Add("STATUS", d.Fields.Str(entity.AttrStatus))
	c.AddText("CLASS", d.Fields.Str(product.AttrVisibility))
	c.AddText("TRANSP", d.Fields.Str(product.AttrTransparency))
	d.addKept(c)
	d.alarmsIn(c, "")
	return c, nil
}

// readSpan reads start and end from the fields.
func (d *Draft) readSpan() error {
	var ok bool
	var err error
	if d.Fields.Bool(product.AttrIsAllDay) {
		if d.start, ok, err = d.dayOf(product.AttrStartDate); err != nil || !ok {
			return errors.Join(errors.New("an all-day event without startDate"), err)
		}
		d.end, d.hasEnd, err = d.dayOf(product.AttrEndDate)
		return err
	}
	if d.start, ok, err = d.momentOf(product.AttrStartUtc, product.AttrStartTzid); err != nil || !ok {
		return errors.Join(errors.New("an event without startUtc"), err)
	}
	zone := product.AttrEndTzid
	if !d.Fields.Has(zone) {
		zone = product.AttrStartTzid
	}
	if d.end, d.hasEnd, err = d.momentOf(product.AttrEndUtc, zone); err != nil || d.Kind != entity.TypeMaster {
		return err
	}
	return d.readSeriesStart()
}

// readSeriesStart writes the start of a series as a reading in its zone: a rule that counts from an instant in UTC
// would continue in UTC. The second of two equal readings at the end of summer time is read as the first, as in the
// product's own occurrences.
func (d *Draft) readSeriesStart() error {
	_, zone := d.startFields()
	tzid := d.Fields.Str(zone)
	if d.start.Form != UTC || tzid == "UTC" {
		return nil
	}
	location, err := wallclock.LoadLocation(tzid)
	if err != nil {
		return err
	}
	length := d.end.At().Sub(d.start.At())
	d.start = Moment{Form: Zoned, Reading: item.Wall(d.start.Reading, location), Zone: tzid}
	if d.hasEnd {
		d.end, err = inZone(d.start.At().Add(length), tzid)
	}
	return err
}

// addDates adds local dates of a series, each with the series' time of day.
func (d *Draft) addDates(c *Component, name string, dates []string) error {
	if len(dates) == 0 {
		return nil
	}
	list := make([]string, len(dates))
	var tzid string
	for i, date := range dates {
		if !entity.IsCompactDate(date) {
			return fmt.Errorf("%s: %q is no date YYYYMMDD", name, clip(date))
		}
		list[i], tzid = d.occurrence(date).text()
	}
	if d.start.Form == Day {
		c.Add(name, strings.Join(list, ","), "VALUE", "DATE")
		return nil
	}
	c.Add(name, strings.Join(list, ","), "TZID", tzid)
	return nil
}
