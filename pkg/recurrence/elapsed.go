package recurrence

import "nexus/pkg/wallclock"

// spanCost is the cost of a span of constant offset in a search: its clock has to be made.
const spanCost = 50

// eachElapsed yields the occurrences of a rule that runs in elapsed time, from the first instant to the last, in
// order, without regard to its end. It reports whether it reached the end of them.
func (s *Series) eachElapsed(first, last int64, without []int32, b *budget, yield func(moment) bool) bool {
	first, last = max(first, s.instant), min(last, finalWall+wallclock.Reach)
	unit, step := s.clock.unit, s.clock.unit*s.clock.days.rule.interval
	for b.spend(spanCost) {
		// A change of the clocks can move the beginning of a unit, but by less than its length.
		if first = max(first, alignUp(first-unit, s.instant, step)-unit); first > last {
			break
		}
		span := s.zone.At(first)
		to := min(span.End-1, last)
		more := s.clockIn(span).between(first+span.Offset, to+span.Offset, without, b, func(reading int64) bool {
			return yield(moment{reading, reading - span.Offset})
		})
		if !more {
			return false
		}
		first = span.End
	}
	return true
}

// latestElapsed returns the last occurrence of such a rule that is not after the instant.
func (s *Series) latestElapsed(last int64, b *budget) (moment, bool) {
	unit, step := s.clock.unit, s.clock.unit*s.clock.days.rule.interval
	for b.spend(spanCost) {
		if last = min(last, alignDown(last+unit, s.instant, step)+unit); last < s.instant {
			break
		}
		span := s.zone.At(last)
		first := max(span.Start, s.instant)
		if reading, ok := s.clockIn(span).latest(first+span.Offset, min(last+span.Offset, s.lastReading), s.exDays,
			s.excludedTime, b); ok {
			return moment{reading, reading - span.Offset}, true
		}
		last = first - 1
	}
	return moment{}, false
}

// clockIn returns the rule's clock for a span: it starts at the reading that the clock of that span would have shown
// at the start.
func (s *Series) clockIn(span wallclock.Span) *clock {
	wall := s.instant + span.Offset
	if wall == s.clock.start {
		return &s.clock
	}
	return s.clock.startingAt(wall)
}
