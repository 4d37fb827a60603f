package ical

import "time"

// adopt reads a time as one of the series: in its zone, even if the TZID was forgotten.
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

// localDate returns the date of a moment in the series' zone.
func (d *Draft) localDate(at Moment) string { return at.DateIn(d.start.ZoneName()) }

// timeOfDay returns the time of day of a moment in the series' zone.
func (d *Draft) timeOfDay(at Moment) time.Duration {
	wall := at.wallIn(d.start.ZoneName())
	return wall.Sub(wall.Truncate(24 * time.Hour))
}

// isTimeOf reports whether a moment can name an occurrence by its time: it is a date, which many programs write for a
// day, or has the series' time of day.
func (d *Draft) isTimeOf(at Moment) bool {
	if at.Form == Day || d.start.Form == Day {
		return true
	}
	// A reading in a gap of the clocks is written as the time after it.
	original := d.start
	original.Reading = at.wallIn(d.start.ZoneName()).Truncate(24 * time.Hour).Add(d.timeOfDay(d.start))
	return d.timeOfDay(at) == d.timeOfDay(d.start) || original.At().Equal(at.At())
}

// occurrence returns the moment of the series on a date.
func (d *Draft) occurrence(date string) Moment {
	at := d.start
	day, err := time.Parse(compactDate, date)
	if err == nil {
		at.Reading = day.Add(d.timeOfDay(d.start))
	}
	return at
}
