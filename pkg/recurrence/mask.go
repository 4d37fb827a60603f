package recurrence

import "math/bits"

// month is one month of the calendar as the masks need it.
type month struct {
	year, number  int
	first, length int // number of its first day; how many days it has
}

func monthOf(year, number int) month {
	return month{year, number, dayOf(year, number, 1), monthLength(year, number)}
}

func (m month) next() month {
	if m.number == 12 {
		return month{m.year + 1, 1, m.first + m.length, 31}
	}
	return month{m.year, m.number + 1, m.first + m.length, monthLength(m.year, m.number+1)}
}

func (m month) previous() month {
	year, number := m.year, m.number-1
	if number == 0 {
		year, number = year-1, 12
	}
	length := monthLength(year, number)
	return month{year, number, m.first - length, length}
}

// offset returns the number of days of the year before the month.
func (m month) offset() int {
	days := int(monthStart[m.number])
	if m.number > 2 && isLeap(m.year) {
		days++
	}
	return days
}

// days returns the days of the month that the rule's filters accept, as bits: bit 0 is the first. It ignores INTERVAL
// and BYSETPOS.
func (r *Rule) days(m month) uint32 {
	if r.months != 0 && r.months>>(m.number-1)&1 == 0 {
		return 0
	}
	mask := uint32(1)<<m.length - 1
	if r.monthDays|r.monthDaysBack != 0 {
		mask &= r.monthDays | bits.Reverse32(r.monthDaysBack)>>(32-m.length)
	}
	if r.weekdays != 0 || r.numbered {
		mask &= r.weekdaysIn(m)
	}
	if mask != 0 && r.has(partYearDay) {
		mask &= r.yearDaysIn(m)
	}
	if mask != 0 && r.has(partWeekNo) {
		mask &= r.weeksIn(m)
	}
	return mask
}

// everyWeek repeats seven bits over five weeks.
const everyWeek = 1 | 1<<7 | 1<<14 | 1<<21 | 1<<28

func (r *Rule) weekdaysIn(m month) uint32 {
	first := weekdayOf(m.first)
	mask := uint32(uint64(rotate(r.weekdays, first)) * everyWeek)
	if !r.numbered {
		return mask
	}
	// The n-th Monday of a month or year lies within its n-th seven days, and of those each weekday is one.
	if r.freq == Monthly || r.has(partMonth) {
		last := (first + m.length) % 7
		for n := range 5 {
			if set := r.nth[n]; set != 0 {
				mask |= rotate(set, first) << (7 * n)
			}
			if set := r.nthBack[n]; set != 0 {
				mask |= shifted(rotate(set, last), m.length-7*(n+1))
			}
		}
		return mask
	}
	offset, year := m.offset(), yearLength(m.year)
	newYear := weekdayOf(m.first - offset)
	for n := offset / 7; n < 53 && 7*n < offset+m.length; n++ {
		mask |= shifted(rotate(r.nth[n], newYear), 7*n-offset)
	}
	for n := max(0, (year-offset-m.length)/7); n < 53 && year-7*n > offset; n++ {
		mask |= shifted(rotate(r.nthBack[n], (newYear+year)%7), year-7*(n+1)-offset)
	}
	return mask
}

// shifted moves bits up, or down if by is negative.
func shifted(set uint32, by int) uint32 {
	if by < 0 {
		return set >> -by
	}
	return set << by
}

func (r *Rule) yearDaysIn(m month) uint32 {
	offset, year := m.offset(), yearLength(m.year)
	// Day i of the month, from 0, is day -(year-offset-i) of the year: take the last of them in reverse order.
	back := r.yearDaysBack.slice(year - offset - m.length)
	return r.yearDays.slice(offset) | bits.Reverse32(back)>>(32-m.length)
}

// weeksIn tests the number of the week of a day. Weeks begin on WKST and belong to the year that has at least four of
// their days (RFC 5545 §3.3.10, BYWEEKNO).
func (r *Rule) weeksIn(m month) uint32 {
	var mask uint32
	begins := int(r.weekBegins)
	start := weekStart(m.first, begins)
	// The days on which the year's weeks begin and end. Its first days may lie in the year before, its last in the next.
	year := m.year
	first, end := firstWeek(year, begins), firstWeek(year+1, begins)
	if start < first {
		year--
		first, end = firstWeek(year, begins), first
	}
	for ; start < m.first+m.length; start += 7 {
		if start >= end {
			year++
			first, end = end, firstWeek(year+1, begins)
		}
		week, weeks := (start-first)/7, (end-first)/7
		if (r.weeks>>week|r.weeksBack>>(weeks-1-week))&1 == 1 {
			mask |= shifted(0x7f, start-m.first)
		}
	}
	return mask
}

// firstWeek returns the first day of week 1 of the year: the one with 4 January in it.
func firstWeek(year, begins int) int {
	// A cycle later, because the arithmetic does not hold in January of year 0, to which the first days of year 1 may
	// belong.
	return weekStart(dayOf(year+400, 1, 4)-cycleDays, begins)
}
