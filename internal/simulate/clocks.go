package simulate

import (
	"context"
	"time"

	"nexus/pkg/port"
	"nexus/pkg/product"
	"nexus/pkg/wallclock"
)

var noContext = context.Background()

// wait returns at once; if the context has ended, it returns the context's error.
func wait(ctx context.Context) error {
	d := time.Duration(0)
	if ctx.Err() != nil {
		d = time.Hour
	}
	return port.Sleep(ctx, d)
}

func zoneNamed(name string) *time.Location {
	if name == "" {
		return time.UTC
	}
	zone, err := wallclock.LoadLocation(name)
	if err != nil {
		panic("simulate: " + err.Error()) // commands refuse any other name
	}
	return zone
}

// zone returns the user's zone.
func (s *userState) zone() *time.Location { return zoneNamed(s.meta.Str(product.AttrDefaultTzid)) }

// wallOf returns the wall-clock reading, labelled UTC.
func wallOf(at time.Time, zone *time.Location) time.Time {
	_, offset := at.In(zone).Zone()
	return at.UTC().Add(time.Duration(offset) * time.Second)
}

// latestWallOf returns the last reading that a clock has shown by the instant: after a fall-back, that before it.
func latestWallOf(at time.Time, zone *time.Location) time.Time {
	wall := wallOf(at, zone)
	if since, _ := at.In(zone).ZoneBounds(); !since.IsZero() {
		if before := wallOf(since.Add(-time.Second), zone); before.After(wall) {
			return before
		}
	}
	return wall
}

// resolve returns the instant of a reading: the first of two; a reading in a gap moves forward by the gap.
func resolve(reading time.Time, zone *time.Location) time.Time {
	const day = 24 * time.Hour
	offset := func(at time.Time) time.Duration {
		_, seconds := at.In(zone).Zone()
		return time.Duration(seconds) * time.Second
	}
	before := reading.Add(-offset(reading.Add(-day)))
	if wallOf(before, zone).Equal(reading) {
		return before
	}
	if after := reading.Add(-offset(reading.Add(day))); wallOf(after, zone).Equal(reading) {
		return after
	}
	return before
}
