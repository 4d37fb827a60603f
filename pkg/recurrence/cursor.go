package recurrence

import "math/bits"

// cursor walks over days in order, a week or a month at a time. It is a value on the caller's stack.
type cursor struct {
	days *days
	last int // the last day to search
	// The rest of the current week or month, from base on.
	base int
	mask uint32
	// byMonth: the current month, and where the next begins.
	month month
	end   int
	// byMonth, years of which BYSETPOS picks days: the current year.
	picks yearPicks
}

// seek makes the cursor one over the days from first to last.
func (c *cursor) seek(d *days, first, last int) {
	c.days, c.last, c.mask = d, min(last, finalDay), 0
	first = max(first, d.origin)
	if first > c.last {
		c.base, c.end = c.last+1, c.last+1
		return
	}
	switch d.shape {
	case byDay:
		c.base = alignUp(first, d.origin, d.step)
	case byWeek:
		c.base = alignDown(first, d.week, 7*d.step)
		c.mask = uint32(d.weekdays)
		c.cut(first)
	case byMonth:
		year, number, ofMonth := civil(first)
		c.month = month{year, number, first - ofMonth + 1, monthLength(year, number)}
		c.align()
		c.take()
		c.cut(first)
	}
}

// cut drops the days before first.
func (c *cursor) cut(first int) {
	if by := first - c.base; by > 0 {
		c.mask &^= uint32(uint64(1)<<min(by, 32) - 1)
	}
}

// day returns the next day, or false when there is none up to the last.
func (c *cursor) day() (int, bool) {
	d := c.days
	if d.shape == byDay {
		day := c.base
		c.base += d.step
		return day, day <= c.last
	}
	for c.mask == 0 {
		if d.shape == byWeek {
			c.base += 7 * d.step
			c.mask = uint32(d.weekdays)
			if c.mask == 0 || c.base > c.last {
				c.base = c.last + 1
				return 0, false
			}
			break
		}
		if c.end > c.last {
			return 0, false
		}
		c.advance()
		c.take()
	}
	day := c.base + bits.TrailingZeros32(c.mask)
	c.mask &= c.mask - 1
	return day, day <= c.last
}

// take loads the current month.
func (c *cursor) take() {
	d, m := c.days, c.month
	c.base, c.end = m.first, m.first+m.length
	switch {
	case m.first > c.last:
		c.mask = 0
	default:
		c.mask = d.daysOf(m, &c.picks)
	}
}

// advance moves from the current month to the next with a period of the rule that BYMONTH accepts.
func (c *cursor) advance() {
	d, m := c.days, c.month
	switch {
	case d.rule.freq != Monthly:
		c.month = m.next()
		c.align()
	case d.step == 1:
		c.month = m.next()
	default:
		index := m.year*12 + m.number - 1 + d.step
		c.month = monthOf(index/12, index%12+1)
	}
}

// align advances unless the current month is such a one.
func (c *cursor) align() {
	d, year, number := c.days, c.month.year, c.month.number
	months, years := d.rule.months, 1 // from one year with a period of the rule to the next
	switch d.rule.freq {
	case Monthly:
		index := alignUp(year*12+number-1, d.month, d.step)
		year, number, months = index/12, index%12+1, 0
	case Yearly:
		years = d.step
		if next := alignUp(year, d.month/12, d.step); next != year {
			year, number = next, 1
		}
	}
	if months != 0 {
		later := months >> (number - 1)
		if later == 0 {
			year, number, later = year+years, 1, months
		}
		number += bits.TrailingZeros16(later)
	}
	if number != c.month.number || year != c.month.year {
		c.month = monthOf(year, number)
	}
}
