package recurrence

import "math/bits"

// shape says how the days of a rule are found.
type shape uint8

const (
	// byDay: a day every so many days.
	byDay shape = iota
	// byWeek: the same weekdays in a week every so many weeks.
	byWeek
	// byMonth: by a mask of the month's days.
	byMonth
)

// days are the days on which a rule has occurrences, from its start to the end of the calendar. For a rule of less than
// a day they are the days that it does not rule out.
type days struct {
	rule     Rule // complete
	shape    shape
	weekdays uint8 // byWeek: from the weekday on which weeks begin
	picks    bool  // BYSETPOS picks days: the frequency is WEEKLY or longer
	times    int   // how many times of day there are
	step     int
	origin   int // day of the start
	week     int // first day of the week of the start
	month    int // month of the start, counted from year 0
}

func newDays(rule Rule, origin, times int) days {
	year, month, _ := civil(origin)
	d := days{
		rule: rule, shape: byMonth, step: int(rule.interval), times: times, origin: origin,
		week: weekStart(origin, int(rule.weekBegins)), month: year*12 + month - 1,
		picks: rule.has(partSetPos) && rule.freq >= Weekly,
	}
	plain := rule.months == 0 && rule.monthDays|rule.monthDaysBack == 0 && !rule.has(partYearDay)
	switch {
	case rule.freq < Daily:
		d.step = 1
		if plain && rule.weekdays == 0 {
			d.shape = byDay
		}
	case rule.freq == Daily && plain && rule.weekdays == 0:
		d.shape = byDay
	case rule.freq == Weekly && plain:
		d.shape = byWeek
		masks := []uint32{rotate(rule.weekdays, int(rule.weekBegins))}
		if d.picks {
			d.rule.pickDays(masks, times)
		}
		d.weekdays = uint8(masks[0])
	}
	return d
}

// daysOf returns the days of the month that belong to the rule, as bits. The month must have a period of the rule; for
// a rule by months or years the caller ensures that.
func (d *days) daysOf(m month, picks *yearPicks) uint32 {
	mask := d.rule.days(m)
	switch {
	case d.picks && d.rule.freq == Weekly:
		return d.pickWeeks(m, mask)
	case d.picks && d.rule.freq == Monthly && mask != 0:
		masks := [1]uint32{mask}
		d.rule.pickDays(masks[:], d.times)
		return masks[0]
	case d.picks && d.rule.freq == Yearly && mask != 0:
		if picks.year != m.year {
			picks.year, picks.masks = m.year, d.year(m.year)
		}
		return picks.masks[m.number-1]
	case d.step > 1 && d.rule.freq == Daily:
		return mask & d.everyStep(m)
	case d.step > 1 && d.rule.freq == Weekly:
		return mask & d.everyWeek(m)
	}
	return mask
}

// yearPicks are the days that BYSETPOS picks in the current year, for a rule by years. The first year is 1.
type yearPicks struct {
	year  int
	masks [12]uint32
}

// year returns the picked days of each month of a year.
func (d *days) year(year int) [12]uint32 {
	var masks [12]uint32
	m := monthOf(year, 1)
	for i := range masks {
		masks[i] = d.rule.days(m)
		m = m.next()
	}
	d.rule.pickDays(masks[:], d.times)
	return masks
}

// everyStep returns every step-th day from the origin on.
func (d *days) everyStep(m month) uint32 {
	var mask uint32
	for day := alignUp(m.first, d.origin, d.step); day < m.first+m.length; day += d.step {
		mask |= 1 << (day - m.first)
	}
	return mask
}

// everyWeek returns the days of every step-th week from the origin's on.
func (d *days) everyWeek(m month) uint32 {
	var mask uint32
	for start := d.firstWeekOf(m); start < m.first+m.length; start += 7 * d.step {
		mask |= shifted(0x7f, start-m.first)
	}
	return mask
}

// firstWeekOf returns the start of the first of the rule's weeks that reaches into the month.
func (d *days) firstWeekOf(m month) int { return alignUp(m.first-6, d.week, 7*d.step) }

// pickWeeks picks days in each of the rule's weeks that reach into the month.
func (d *days) pickWeeks(m month, mask uint32) uint32 {
	before, after := m.previous(), m.next()
	// The days around the month in one row, bit 7 being the month's first.
	row := uint64(mask)<<7 | uint64(d.rule.days(before)>>(before.length-7)) | uint64(d.rule.days(after)&0x7f)<<(7+m.length)
	var picked uint64
	for start := d.firstWeekOf(m); start < m.first+m.length; start += 7 * d.step {
		at := start - m.first + 7
		week := [1]uint32{uint32(row>>at) & 0x7f}
		d.rule.pickDays(week[:], d.times)
		picked |= uint64(week[0]) << at
	}
	return uint32(picked>>7) & (1<<m.length - 1)
}

// place returns the rank, from 0, of a day among the days of its period, and how many they are, before BYSETPOS picks.
func (d *days) place(day int) (rank, size int) {
	year, number, _ := civil(day)
	var masks [12]uint32
	first := day // of the period
	switch d.rule.freq {
	case Weekly:
		first = weekStart(day, int(d.rule.weekBegins))
		for i := range 7 {
			y, n, ofMonth := civil(first + i)
			if d.rule.days(monthOf(y, n))>>(ofMonth-1)&1 == 1 {
				masks[0] |= 1 << i
			}
		}
	case Monthly:
		m := monthOf(year, number)
		first, masks[0] = m.first, d.rule.days(m)
	case Yearly:
		m := monthOf(year, 1)
		for i := range masks {
			masks[i] = d.rule.days(m)
			size += bits.OnesCount32(masks[i])
			switch {
			case i+1 < number:
				rank += bits.OnesCount32(masks[i])
			case i+1 == number:
				rank += bits.OnesCount32(masks[i] & (1<<(day-m.first) - 1))
			}
			m = m.next()
		}
		return rank, size
	}
	return bits.OnesCount32(masks[0] & (1<<(day-first) - 1)), bits.OnesCount32(masks[0])
}
