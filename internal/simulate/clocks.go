package simulate

import (
	"context"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/port"
	"nexus/pkg/product"
)

var noContext = context.Background()

// wait is the wait of programs for no time at all; one whose context has ended is told so however long it would take.
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
	zone, err := entity.LoadZone(name)
	if err != nil {
		panic("simulate: " + err.Error()) // commands let no other name in
	}
	return zone
}

// zone is where the user is.
func (s *userState) zone() *time.Location { return zoneNamed(s.meta.Str(product.AttrDefaultTzid)) }

// wallOf is what the clock on a wall shows, labelled UTC.
func wallOf(at time.Time, zone *time.Location) time.Time {
	_, offset := at.In(zone).Zone()
	return at.UTC().Add(time.Duration(offset) * time.Second)
}

// resolve is the instant of a reading: the first of two, and behind a gap as far as the reading is inside it.
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
