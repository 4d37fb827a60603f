package recurrence

import (
	"cmp"
	"slices"
	"time"

	"nexus/pkg/wallclock"
)

// trimExtra drops the extra readings that are excluded or after the end of the whole series. It may leave readings
// that the rule also gives: a caller that walks over both treats equal instants as one.
func (s *Series) trimExtra(end time.Time) {
	if len(s.core.extra) == 0 {
		return
	}
	slices.Sort(s.core.extra)
	s.core.extra = slices.Compact(s.core.extra)
	instants := s.resolver()
	s.core.extra = slices.DeleteFunc(s.core.extra, func(reading int64) bool {
		late := !end.IsZero() && instants(reading) > end.Unix()
		return late || s.excluded(reading)
	})
	s.placeExtra()
}

// placeExtra finds the instants of the extra readings in the zone.
func (s *Series) placeExtra() {
	s.extra = make([]moment, len(s.core.extra))
	instants := s.resolver()
	for i, reading := range s.core.extra {
		s.extra[i] = moment{reading, instants(reading)}
	}
	slices.SortFunc(s.extra, func(a, b moment) int {
		// Of two readings of one instant the clock shows the later; the earlier was in a gap.
		return cmp.Or(cmp.Compare(a.instant, b.instant), cmp.Compare(b.reading, a.reading))
	})
	s.extra = slices.CompactFunc(s.extra, func(a, b moment) bool { return a.instant == b.instant })
}

// resolver returns a function that finds the instants of readings that come in order.
func (s *Series) resolver() func(reading int64) int64 {
	if s.zone == nil {
		return func(reading int64) int64 { return reading }
	}
	instants := newResolver(s.zone)
	return func(reading int64) int64 {
		at, _ := instants.instant(reading)
		return at
	}
}

// excluded reports whether EXDATE takes the reading away.
func (s *Series) excluded(reading int64) bool {
	if isAmong(s.exDays, dayOfReading(reading)) {
		return true
	}
	return s.excludedTime(reading)
}

func (s *Series) excludedTime(reading int64) bool {
	if len(s.exTimes) == 0 {
		return false
	}
	_, there := slices.BinarySearch(s.exTimes, reading)
	return there
}

// In returns the series as a reader in the zone sees it: a floating or all-day one has instants there. A series with
// its own zone is the same everywhere.
func (s *Series) In(location *time.Location) *Series {
	if s.own {
		return s
	}
	seen := &Series{core: s.core, zone: wallclock.ZoneOf(location)}
	if len(s.core.extra) > 0 {
		seen.placeExtra()
	}
	return seen
}
