package recurrence

import (
	"math/bits"
	"slices"
)

// maxSteps bounds a search for a time of day among periods of less than a day, which may pass many that do not match.
// It takes some milliseconds. A rule whose occurrences are further apart counts as having no more of them.
const maxSteps = 250_000

// clock finds the readings of a rule: its days, and the times of each. It works without a zone.
type clock struct {
	days  days
	start int64 // reading of the start: no occurrence is before it
	time  int64 // the first time of the grid
	grid  grid  // the times of a day, or those within an hour or minute for a rule by hours or minutes
	// picks are the indexes in the grid that BYSETPOS picks, if its sets do not depend on the day; picked says whether
	// there are such.
	picked bool
	picks  []int32
	// For a rule of less than a day: the length of its unit in seconds, and the number of the unit in which it starts.
	unit, origin int64
}

// newClock prepares a complete rule.
func newClock(rule Rule, start int64) clock {
	c := clock{unit: rule.freq.unitSeconds()}
	c.begin(rule, start)
	if rule.has(partSetPos) && rule.freq <= Daily {
		c.picked = true
		for i := range rule.picked(0, c.grid.size, c.grid.size) {
			c.picks = append(c.picks, int32(i))
		}
	}
	return c
}

// startingAt returns the clock of the rule from another reading on, for a rule of less than a day. The picks of
// BYSETPOS stay: each unit has the same number of times.
func (c *clock) startingAt(start int64) *clock {
	other := &clock{unit: c.unit, picked: c.picked, picks: c.picks}
	other.begin(c.days.rule.completeTime(start), start)
	return other
}

func (c *clock) begin(rule Rule, start int64) {
	c.start = start
	c.origin = (start - floorMod(start, c.unit)) / c.unit
	hours, minutes, seconds := rule.hours, rule.minutes, rule.seconds
	switch rule.freq {
	case Hourly:
		hours = 1
	case Minutely:
		hours, minutes = 1, 1
	case Secondly:
		hours, minutes, seconds = 1, 1, 1
	}
	c.grid = newGrid(hours, minutes, seconds)
	c.time = c.grid.at(0)
	c.days = newDays(rule, dayOfReading(start), c.grid.size)
}

// single reports whether a day has one time at most, the same on every day.
func (c *clock) single() bool { return c.grid.size == 1 && c.unit == daySeconds && !c.picked }

// budget is the rest of the steps that a search may spend without a result.
type budget int

func (b *budget) spend(steps int) bool {
	*b -= budget(steps)
	return *b > 0
}

// between yields the readings from first to last, in order, until yield returns false; it reports whether it reached
// the end. It skips the days in without.
func (c *clock) between(first, last int64, without []int32, b *budget, yield func(reading int64) bool) bool {
	first, last = max(first, c.start), min(last, finalWall)
	if first > last || c.picked && len(c.picks) == 0 {
		return true
	}
	until := dayOfReading(last)
	var days cursor
	days.seek(&c.days, dayOfReading(first), until)
	for {
		day, ok := days.day()
		if !ok || *b <= 0 {
			return true
		}
		midnight := int64(day) * daySeconds
		if !isAmong(without, day) && !c.dayReadings(day, max(0, first-midnight), min(daySeconds-1, last-midnight), b, yield) {
			return false
		}
		if next := c.dayOfNextUnit(day); next > day+1 {
			days.seek(&c.days, next, until)
		}
	}
}

// dayOfNextUnit returns the day of the first of the rule's units that begins after the day, for a rule of less than a
// day.
func (c *clock) dayOfNextUnit(day int) int {
	step := c.days.rule.interval
	if c.unit == daySeconds || step*c.unit <= daySeconds {
		return day + 1
	}
	return dayOfReading(alignUp(int64(day+1)*(daySeconds/c.unit), c.origin, step) * c.unit)
}

// dayOfLastUnit returns the day of the last of the rule's units that begins by the day's end, for a rule of less than a
// day.
func (c *clock) dayOfLastUnit(day int) int {
	step := c.days.rule.interval
	if c.unit == daySeconds || step*c.unit <= daySeconds {
		return day
	}
	return dayOfReading(alignDown(int64(day+1)*(daySeconds/c.unit)-1, c.origin, step) * c.unit)
}

func isAmong(days []int32, day int) bool {
	if len(days) == 0 {
		return false
	}
	_, there := slices.BinarySearch(days, int32(day))
	return there
}

// dayReadings yields the readings of one of the days between two seconds of it, both included.
func (c *clock) dayReadings(day int, first, last int64, b *budget, yield func(int64) bool) bool {
	midnight := int64(day) * daySeconds
	switch {
	case c.unit < daySeconds:
		return c.units(midnight, first, last, b, yield)
	case c.picked:
		return c.some(c.picks, midnight, first, last, yield)
	}
	from, end := c.grid.below(first), c.grid.below(last+1)
	if !c.days.picks || c.grid.size == 1 {
		for i := from; i < end; i++ {
			if !yield(midnight + c.grid.at(i)) {
				return false
			}
		}
		return true
	}
	rank, days := c.days.place(day)
	before, size := rank*c.grid.size, days*c.grid.size // members before the day, and of the period
	for i := range c.days.rule.picked(before+from, before+end, size) {
		if !yield(midnight + c.grid.at(i-before)) {
			return false
		}
	}
	return true
}

// some yields the times of the indexes given.
func (c *clock) some(indexes []int32, from, first, last int64, yield func(int64) bool) bool {
	low, _ := slices.BinarySearch(indexes, int32(c.grid.below(first)))
	end := int32(c.grid.below(last + 1))
	for _, i := range indexes[low:] {
		if i >= end {
			break
		}
		if !yield(from + c.grid.at(int(i))) {
			return false
		}
	}
	return true
}

// units yields the readings of a rule by hours, minutes or seconds.
func (c *clock) units(midnight, first, last int64, b *budget, yield func(int64) bool) bool {
	base, step, none := midnight/c.unit, c.days.rule.interval, true
	for u := alignUp(base+first/c.unit, c.origin, step); (u-base)*c.unit <= last; u += step {
		ofDay := (u - base) * c.unit
		if skip := c.skip(ofDay); skip > 0 {
			u = alignUp(u+skip, c.origin, step) - step
			if !b.spend(1) {
				return true
			}
			continue
		}
		none = false
		from := midnight + ofDay
		if !c.within(from, max(0, first-ofDay), min(c.unit-1, last-ofDay), yield) {
			return false
		}
	}
	if none {
		b.spend(1)
	}
	return true
}

// within yields the readings of one hour, minute or second.
func (c *clock) within(from, first, last int64, yield func(int64) bool) bool {
	if c.picked {
		return c.some(c.picks, from, first, last, yield)
	}
	for i, end := c.grid.below(first), c.grid.below(last+1); i < end; i++ {
		if !yield(from + c.grid.at(i)) {
			return false
		}
	}
	return true
}

// skip returns how many units after the one that begins at a second of the day the next unit comes that BYHOUR,
// BYMINUTE and BYSECOND accept; 0 if they accept that one. It may return fewer.
func (c *clock) skip(ofDay int64) int64 {
	r := &c.days.rule
	if hour := ofDay / 3600; r.hours>>hour&1 == 0 {
		to := int64(24)
		if later := r.hours >> hour; later != 0 {
			to = hour + int64(bits.TrailingZeros32(later))
		}
		return (to*3600 - ofDay) / c.unit
	}
	if c.unit == 3600 {
		return 0
	}
	if minute := ofDay / 60 % 60; r.minutes>>minute&1 == 0 {
		to := int64(60)
		if later := r.minutes >> minute; later != 0 {
			to = minute + int64(bits.TrailingZeros64(later))
		}
		return (to*60 - ofDay%3600) / c.unit
	}
	if c.unit == 60 {
		return 0
	}
	if second := ofDay % 60; r.seconds>>second&1 == 0 {
		if later := r.seconds >> second; later != 0 {
			return int64(bits.TrailingZeros64(later))
		}
		return 60 - second
	}
	return 0
}
