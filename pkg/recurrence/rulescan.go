package recurrence

import "nexus/pkg/wallclock"

// eachOfRule yields the rule's occurrences from the first instant to the last, in the order of their instants, each
// instant once. It reports whether it reached the end of them.
func (s *Series) eachOfRule(first, last int64, b *budget, yield func(moment) bool) bool {
	last = min(last, s.lastInstant, s.lastReading+wallclock.Reach)
	switch {
	case s.elapsed:
		return s.eachElapsed(first, last, s.exDays, b, func(m moment) bool {
			if m.reading > s.lastReading || s.excludedTime(m.reading) {
				return b.spend(1)
			}
			return yield(m)
		})
	case s.zone == nil:
		return s.clock.between(first, min(last, s.lastReading), s.exDays, b, func(reading int64) bool {
			if s.excludedTime(reading) {
				return true
			}
			return yield(moment{reading, reading})
		})
	}
	return s.eachInZone(first, last, b, yield)
}

// eachInZone does so for a rule that is expanded in wall-clock time. Readings are in order, their instants nearly: a
// reading in a gap moves forward, among the readings after the gap.
func (s *Series) eachInZone(first, last int64, b *budget, yield func(moment) bool) bool {
	var room [4]moment
	moved := room[:0] // out of a gap, not yielded yet
	instants := newResolver(s.zone)
	pass := func(m moment) bool { return m.instant < first || m.instant > last || yield(m) }
	more := s.clock.between(s.earliestReading(first), s.latestReading(last), s.exDays, b, func(reading int64) bool {
		if s.excludedTime(reading) {
			return true
		}
		instant, skipped := instants.instant(reading)
		if skipped {
			moved = append(moved, moment{reading, instant})
			return true
		}
		for len(moved) > 0 && moved[0].instant <= instant {
			// Of two readings of one instant the clock shows the later.
			if moved[0].instant < instant && !pass(moved[0]) {
				return false
			}
			moved = moved[1:]
		}
		return pass(moment{reading, instant})
	})
	for _, m := range moved {
		if more = more && pass(m); !more {
			break
		}
	}
	return more
}

// earliestReading returns a reading before which no occurrence is at the instant or later.
func (s *Series) earliestReading(instant int64) int64 {
	span := s.zone.At(instant)
	if instant >= span.Start+wallclock.Reach && instant < span.End-wallclock.Reach {
		return instant + span.Offset
	}
	return instant + span.Offset - wallclock.Reach
}

// latestReading returns a reading after which no occurrence is at the instant or earlier.
func (s *Series) latestReading(instant int64) int64 {
	if instant >= s.lastReading+wallclock.Reach {
		return s.lastReading
	}
	span := s.zone.At(instant)
	if instant < span.Start+wallclock.Reach || instant >= span.End-wallclock.Reach {
		instant += wallclock.Reach
	}
	return min(instant+span.Offset, s.lastReading)
}
