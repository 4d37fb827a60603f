package recurrence

import (
	"cmp"
	"slices"
	"time"

	"nexus/pkg/wallclock"
)

// settleExtra drops the extra readings that are excluded or lie beyond the end that the whole series was given. What
// the rule gives, too, may stay: whoever walks over both takes equal instants for one.
func (s *Series) settleExtra(end time.Time) {
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
		// Of two readings of one instant the later is what the clock shows; the earlier fell into a gap.
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

// In returns the series as it is seen in a zone: one that floats, or of whole days, has instants there. A series that
// has a zone of its own is the same everywhere.
func (s *Series) In(location *time.Location) *Series {
	if s.own {
		return s
	}
	seen := &Series{core: s.core, zone: wallclock.Of(location)}
	if len(s.core.extra) > 0 {
		seen.placeExtra()
	}
	return seen
}
