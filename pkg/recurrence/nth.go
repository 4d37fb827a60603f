package recurrence

import "math/bits"

// nth returns the reading of the rule's n-th occurrence, or its instant if the rule runs in elapsed time.
func (s *Series) nth(n int) (at int64, end outcome) {
	if s.clock.single() {
		return s.clock.nth(n)
	}
	steps := budget(maxSteps)
	end = none
	next := func(next int64) bool {
		if n--; n == 0 {
			at, end = next, found
		}
		return n > 0
	}
	if s.elapsed {
		s.eachElapsed(s.instant, finalWall, nil, &steps, func(m moment) bool { return next(m.instant) })
	} else {
		s.clock.between(s.clock.start, finalWall, nil, &steps, next)
	}
	if end == none && steps <= 0 {
		end = givenUp
	}
	return at, end
}

// nth returns the n-th reading of a rule with one time of day.
func (c *clock) nth(n int) (reading int64, end outcome) {
	if c.time < timeOfReading(c.start) { // too early on the start's own day
		if day, ok := c.days.nth(1); ok && day == c.days.origin {
			n++
		}
	}
	day, ok := c.days.nth(n)
	if !ok {
		return 0, none
	}
	return int64(day)*daySeconds + c.time, found
}

// nth returns the n-th of the days. It counts weeks and months at a time: every compilation of a series with COUNT
// calls it.
func (d *days) nth(n int) (day int, ok bool) {
	switch d.shape {
	case byDay:
		day = d.origin + (n-1)*d.step
		return day, day <= finalDay
	case byWeek:
		each := bits.OnesCount8(d.weekdays)
		if each == 0 {
			return 0, false
		}
		n += bits.OnesCount8(d.weekdays & (1<<(d.origin-d.week) - 1)) // those of the first week before the start
		day = d.week + (n-1)/each*d.step*7 + member(uint32(d.weekdays), (n-1)%each)
		return day, day <= finalDay
	}
	var months cursor
	for months.seek(d, d.origin, finalDay); ; months.take() {
		here := bits.OnesCount32(months.mask)
		if n <= here {
			return months.base + member(months.mask, n-1), true
		}
		if n -= here; months.end > finalDay {
			return 0, false
		}
		months.advance()
	}
}

// member returns the n-th bit, from 0, that is set.
func member(set uint32, n int) int {
	for ; n > 0; n-- {
		set &= set - 1
	}
	return bits.TrailingZeros32(set)
}
