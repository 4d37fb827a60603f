package ical

import (
	"fmt"
	"strings"
	"time"

	"nexus/pkg/item"
	"nexus/pkg/wallclock"
)

// Form is the form of a time, of those of RFC 5545 §3.3.4 and §3.3.5.
type Form uint8

const (
	// Day is a date: no time of day, the same day in every zone.
	Day Form = iota
	// Floating is a local time without zone: the same reading in each reader's zone.
	Floating
	// Zoned is a local time in a zone.
	Zoned
	// UTC is an instant.
	UTC
)

// Moment is the value of a property such as DTSTART.
type Moment struct {
	Form Form
	// Reading is the value, labelled UTC: midnight of a Day, the wall-clock reading of a Floating or Zoned one, the
	// instant of a UTC one.
	Reading time.Time
	// Zone is the IANA name of the zone of a Zoned moment.
	Zone string
}

// IsInstant reports whether the moment is one point on the time line, not one for each zone.
func (m Moment) IsInstant() bool { return m.Form == Zoned || m.Form == UTC }

// At returns the instant of a Zoned or UTC moment, and the reading of the others. A Zoned reading that does not exist,
// or that exists twice, is read as RFC 5545 §3.3.5 says.
func (m Moment) At() time.Time {
	if m.Form == Zoned {
		if zone, err := wallclock.LoadLocation(m.Zone); err == nil { // a moment is made only with a zone that was loaded
			return item.Resolve(m.Reading, zone)
		}
	}
	return m.Reading
}

// ZoneName returns the zone of an instant: UTC for one in UTC; "" for a Day and a Floating moment.
func (m Moment) ZoneName() string {
	if m.Form == UTC {
		return "UTC"
	}
	return m.Zone
}

// DateIn returns the date YYYYMMDD that the moment has in a zone. For the Original of an orphan it is that of its
// series, once it is found. The zone is "" for a series without one.
func (m Moment) DateIn(zone string) string { return m.wallIn(zone).Format(compactDate) }

// wallIn returns the clock's reading in the zone at an instant, and the reading of any other moment.
func (m Moment) wallIn(zone string) time.Time {
	if !m.IsInstant() || m.ZoneName() == zone {
		return m.Reading
	}
	location, err := wallclock.LoadLocation(zone)
	if err != nil {
		return m.Reading
	}
	return item.Wall(m.At(), location)
}

// clock returns the reading that clocks show at the moment. It differs from the moment's own if that is skipped.
func (m Moment) clock() time.Time {
	if zone, err := wallclock.LoadLocation(m.Zone); m.Form == Zoned && err == nil {
		return item.Wall(m.At(), zone)
	}
	return m.Reading
}

// add returns the moment after the duration: days by the calendar, the rest in exact time (RFC 5545 §3.3.6).
func (m Moment) add(d Duration) Moment {
	m.Reading = m.Reading.AddDate(0, 0, d.Days)
	if d.Exact == 0 {
		return m
	}
	if m.Form == Zoned {
		if zone, err := wallclock.LoadLocation(m.Zone); err == nil {
			m.Reading = item.Wall(m.At().Add(d.Exact), zone)
		}
		return m
	}
	m.Reading = m.Reading.Add(d.Exact)
	return m
}

// parseMoment reads a date or a date-time. The text decides the form: VALUE=DATE is often forgotten.
func parseMoment(text, tzid string, zones *zoneMap) (Moment, error) {
	text = strings.TrimSpace(text)
	if len(text) == len("20060102") {
		day, err := time.Parse("20060102", text)
		if err != nil {
			return Moment{}, notTime(text)
		}
		return Moment{Form: Day, Reading: day}, nil
	}
	local := strings.TrimRight(upper(text), "Z")
	if len(text)-len(local) > 1 {
		return Moment{}, notTime(text)
	}
	reading, ok := parseReading(local)
	if !ok {
		return Moment{}, notTime(text)
	}
	switch {
	case len(local) < len(text): // RFC 5545 §3.2.19: TZID must not occur with a time in UTC, and is ignored if it does
		return Moment{Form: UTC, Reading: reading}, nil
	case tzid == "":
		return Moment{Form: Floating, Reading: reading}, nil
	}
	zone, err := zones.name(tzid)
	if err != nil {
		return Moment{}, err
	}
	if zone == "UTC" {
		return Moment{Form: UTC, Reading: reading}, nil
	}
	return Moment{Form: Zoned, Reading: reading, Zone: zone}, nil
}

// parseReading reads 20060102T150405, and the form without seconds that some programs write. The second 60 is read as
// 59 (RFC 5545 §3.3.12).
func parseReading(s string) (time.Time, bool) {
	switch len(s) {
	case len("20060102T1504"):
		s += "00"
	case len("20060102T150405"):
	default:
		return time.Time{}, false
	}
	if strings.HasSuffix(s, "60") {
		s = s[:len(s)-2] + "59"
	}
	t, err := time.Parse("20060102T150405", s)
	return t, err == nil
}

func notTime(text string) error {
	if date, _, _ := strings.Cut(upper(text), "T"); len(date) == len(compactDate) &&
		strings.Trim(date, "0123456789") == "" {
		if _, err := time.Parse(compactDate, date); err != nil {
			return fmt.Errorf("%q is no date of the calendar", clip(text))
		}
	}
	return fmt.Errorf("%q is neither a date (20251231) nor a date and time (20251231T090000)", clip(text))
}

// moment reads a property with one time.
func (z *zoneMap) moment(p *Property) (Moment, error) {
	m, err := parseMoment(p.Value, p.Param("TZID"), z)
	if err != nil {
		return Moment{}, fmt.Errorf("%s: %w", p.Name, err)
	}
	return m, nil
}

// rdateValue is one value of RDATE or EXDATE: a start and, of a PERIOD (RFC 5545 §3.3.9), an end.
type rdateValue struct {
	Start  Moment
	End    Moment
	HasEnd bool
}

// periods reads a property with a list of times: EXDATE, RDATE.
func (z *zoneMap) periods(p *Property) ([]rdateValue, error) {
	var list []rdateValue
	tzid := p.Param("TZID")
	for rest, more := p.Value, true; more; {
		var item string
		item, rest, more = strings.Cut(rest, ",")
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		start, end, isPeriod := strings.Cut(item, "/")
		period, err := z.period(start, end, isPeriod, tzid)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
		list = append(list, period)
	}
	return list, nil
}

func (z *zoneMap) period(start, end string, isPeriod bool, tzid string) (rdateValue, error) {
	from, err := parseMoment(start, tzid, z)
	if err != nil || !isPeriod {
		return rdateValue{Start: from}, err
	}
	if d, err := ParseDuration(end); err == nil {
		return rdateValue{from, from.add(d), true}, nil
	}
	to, err := parseMoment(end, tzid, z)
	if err != nil {
		return rdateValue{}, fmt.Errorf("the end of the period: %w", err)
	}
	if to.IsInstant() != from.IsInstant() || to.At().Before(from.At()) {
		return rdateValue{}, fmt.Errorf("the period %q does not end after its start", clip(start+"/"+end))
	}
	return rdateValue{from, to, true}, nil
}

// text returns the moment as a property's value, and the TZID it needs.
func (m Moment) text() (value, tzid string) {
	switch m.Form {
	case Day:
		return m.Reading.Format("20060102"), ""
	case UTC:
		return m.Reading.Format("20060102T150405Z"), ""
	}
	return m.Reading.Format("20060102T150405"), m.Zone
}

// addTo appends the moment as a property.
func (m Moment) addTo(c *Component, name string) {
	value, tzid := m.text()
	if m.Form == Day {
		c.Add(name, value, "VALUE", "DATE")
		return
	}
	c.Add(name, value, "TZID", tzid)
}
