package recurrence

import (
	"math/bits"
	"slices"

	"nexus/pkg/wallclock"
)

// latestOfRule returns the rule's last occurrence that is not after the instant.
func (s *Series) latestOfRule(last int64, b *budget) (found moment, ok bool) {
	last = min(last, s.lastInstant, s.lastReading+wallclock.Reach)
	switch {
	case s.elapsed:
		return s.latestElapsed(last, b)
	case s.zone == nil:
		reading, ok := s.clock.latest(firstWall, min(last, s.lastReading), s.exDays, s.excludedTime, b)
		return moment{reading, reading}, ok
	}
	for !ok && last >= firstWall-wallclock.Reach && b.spend(1) {
		reading, there := s.clock.latest(firstWall, s.latestReading(last), s.exDays, s.excludedTime, b)
		if !there {
			break
		}
		// Near a change of the clocks the latest reading need not be the latest occurrence.
		first := min(s.zone.Instant(reading), last)
		if span := s.zone.At(last); last-wallclock.Reach < span.Start || last+wallclock.Reach >= span.End {
			first = min(first, last-wallclock.Reach)
		}
		s.eachOfRule(first, last, b, func(m moment) bool {
			found, ok = m, true
			return true
		})
		last = first - 1
	}
	return found, ok
}

// latest returns the last reading from first to last whose day is not in without and that excluded does not report. It
// searches from the end, so its cost does not depend on how many times a day has.
func (c *clock) latest(
	first, last int64, without []int32, excluded func(reading int64) bool, b *budget,
) (reading int64, ok bool) {
	first, last = max(first, c.start), min(last, finalWall)
	var year yearPicks
	for day := dayOfReading(last); int64(day+1)*daySeconds > first; day-- {
		day = c.dayOfLastUnit(day)
		if day, ok = c.days.previous(day, &year); !ok || *b <= 0 {
			return 0, false
		}
		midnight := int64(day) * daySeconds
		if isAmong(without, day) || midnight+daySeconds <= first {
			continue
		}
		found := false
		c.backInDay(day, max(0, first-midnight), min(daySeconds-1, last-midnight), b, func(at int64) bool {
			reading, found = at, !excluded(at)
			return !found
		})
		if found {
			return reading, true
		}
	}
	return 0, false
}

// backInDay yields the times of one of the days between two seconds of it, both included, the last first.
func (c *clock) backInDay(day int, first, last int64, b *budget, yield func(int64) bool) {
	midnight := int64(day) * daySeconds
	switch {
	case c.unit < daySeconds:
		c.backInUnits(midnight, first, last, b, yield)
		return
	case c.picked || !c.days.picks || c.grid.size == 1:
		c.backWithin(midnight, first, last, yield)
		return
	}
	rank, days := c.days.place(day)
	before, size := rank*c.grid.size, days*c.grid.size
	for i := range c.days.rule.pickedBack(before+c.grid.below(first), before+c.grid.below(last+1), size) {
		if !yield(midnight + c.grid.at(i-before)) {
			return
		}
	}
}

// backWithin yields times of the grid, or those of them that BYSETPOS picks, the last first; it reports whether it
// reached the beginning.
func (c *clock) backWithin(from, first, last int64, yield func(int64) bool) bool {
	low, end := c.grid.below(first), c.grid.below(last+1)
	if c.picked {
		low, _ = slices.BinarySearch(c.picks, int32(low))
		end, _ = slices.BinarySearch(c.picks, int32(end))
	}
	for i := end - 1; i >= low; i-- {
		index := i
		if c.picked {
			index = int(c.picks[i])
		}
		if !yield(from + c.grid.at(index)) {
			return false
		}
	}
	return true
}

// backInUnits yields the readings of a rule by hours, minutes or seconds, the last first.
func (c *clock) backInUnits(midnight, first, last int64, b *budget, yield func(int64) bool) {
	base, step, none := midnight/c.unit, c.days.rule.interval, true
	for u := alignDown(base+last/c.unit, c.origin, step); u >= base+first/c.unit; u -= step {
		ofDay := (u - base) * c.unit
		if skip := c.skipBack(ofDay); skip > 0 {
			u = alignDown(u-skip, c.origin, step) + step
			if !b.spend(1) {
				return
			}
			continue
		}
		none = false
		if !c.backWithin(midnight+ofDay, max(0, first-ofDay), min(c.unit-1, last-ofDay), yield) {
			return
		}
	}
	if none {
		b.spend(1)
	}
}

// skipBack is [clock.skip] towards the beginning of the day.
func (c *clock) skipBack(ofDay int64) int64 {
	r := &c.days.rule
	if hour := ofDay / 3600; r.hours>>hour&1 == 0 {
		end := int64(bits.Len32(r.hours&(1<<hour-1))) * 3600 // of the last hour before; 0 if none
		return (ofDay-end)/c.unit + 1
	}
	if c.unit == 3600 {
		return 0
	}
	if minute := ofDay / 60 % 60; r.minutes>>minute&1 == 0 {
		end := int64(bits.Len64(r.minutes&(1<<minute-1))) * 60
		return (ofDay%3600-end)/c.unit + 1
	}
	if c.unit == 60 {
		return 0
	}
	if second := ofDay % 60; r.seconds>>second&1 == 0 {
		return second - int64(bits.Len64(r.seconds&(1<<second-1))) + 1
	}
	return 0
}

// previous returns the last of the days that is not after the one given.
func (d *days) previous(day int, picks *yearPicks) (int, bool) {
	day = min(day, finalDay)
	for day >= d.origin {
		var first int
		var mask uint32
		switch d.shape {
		case byDay:
			day = alignDown(day, d.origin, d.step)
			return day, day >= d.origin
		case byWeek:
			first = alignDown(day, d.week, 7*d.step)
			mask = uint32(d.weekdays)
		case byMonth:
			m := d.monthBefore(day)
			first, mask = m.first, d.daysOf(m, picks)
		}
		if first+31 > day && day >= first {
			mask &= 2<<(day-first) - 1
		}
		if mask != 0 {
			found := first + bits.Len32(mask) - 1
			return found, found >= d.origin
		}
		day = first - 1
	}
	return 0, false
}

// monthBefore returns the last month with a period of the rule that begins by the day.
func (d *days) monthBefore(day int) month {
	year, number, _ := civil(day)
	switch d.rule.freq {
	case Monthly:
		index := alignDown(year*12+number-1, d.month, d.step)
		return monthOf(index/12, index%12+1)
	case Yearly:
		if admissible := alignDown(year, d.month/12, d.step); admissible != year {
			return monthOf(admissible, 12)
		}
	}
	return monthOf(year, number)
}
