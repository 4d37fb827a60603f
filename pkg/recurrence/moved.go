package recurrence

import "time"

// NamesDays reports whether the rule names days of the year, the month or the week itself, rather than leave them to
// the start.
func (r Rule) NamesDays() bool { return r.has(partYearDay | partMonthDay | partDay) }

// namesSimply reports whether one part alone names the days, and each of its values by itself.
func (r *Rule) namesSimply() bool {
	return r.given&(partSetPos|partWeekNo|partYearDay) == 0 && r.given&(partDay|partMonthDay) != partDay|partMonthDay
}

// Moved returns the rule that a series must have when its start moves from one reading to another and the change does
// not set the rule. Values that the rule has because of the old start become those of the new one: a weekday, a
// numbered weekday, a day of the month, and for a yearly rule the month.
//
// A rule stays in four cases:
//   - It gives the new start.
//   - It does not give the old one.
//   - It does not name its days simply: it has BYSETPOS, BYWEEKNO or BYYEARDAY, or BYDAY and BYMONTHDAY together.
//   - It would not give the new start even after the change.
func (r Rule) Moved(from, to time.Time) Rule {
	if r.Gives(to) || !r.Gives(from) || !r.namesSimply() {
		return r
	}
	moved := r
	inYear := r.freq == Yearly && !r.has(partMonth)
	moved.moveMonth(from, to)
	moved.moveMonthDay(placeInMonth(from), placeInMonth(to))
	moved.moveWeekday(weekdayPlace(from, inYear), weekdayPlace(to, inYear))
	if !moved.Gives(to) {
		return r
	}
	return moved
}

// moveMonth moves the month of a yearly rule; that of any other only limits.
func (r *Rule) moveMonth(from, to time.Time) {
	a, b := uint16(1)<<(from.Month()-1), uint16(1)<<(to.Month()-1)
	if r.freq == Yearly && r.has(partMonth) && r.months&b == 0 {
		r.months = r.months&^a | b
	}
}

// place is the position of a day among those of its kind in a month or year: from the beginning, and from the end as a
// negative number.
type place struct {
	ahead, back int
	weekday     int
	most        int // the largest possible number of that weekday
}

func placeInMonth(t time.Time) place {
	year, month, day := t.Date()
	return place{ahead: day, back: day - monthLength(year, int(month)) - 1}
}

func weekdayPlace(t time.Time, inYear bool) place {
	p := placeInMonth(t)
	p.most = 5
	if inYear {
		p = place{ahead: t.YearDay(), back: t.YearDay() - yearLength(t.Year()) - 1, most: 53}
	}
	p.ahead, p.back = (p.ahead-1)/7+1, (p.back+1)/7-1
	p.weekday = (int(t.Weekday()) + 6) % 7
	return p
}

func (r *Rule) moveMonthDay(from, to place) {
	ahead, back := uint32(1)<<(to.ahead-1), uint32(1)<<(-to.back-1)
	if !r.has(partMonthDay) || r.monthDays&ahead|r.monthDaysBack&back != 0 {
		return
	}
	if a := uint32(1) << (from.ahead - 1); r.monthDays&a != 0 {
		r.monthDays = r.monthDays&^a | ahead
	}
	if a := uint32(1) << (-from.back - 1); r.monthDaysBack&a != 0 {
		r.monthDaysBack = r.monthDaysBack&^a | back
	}
}

func (r *Rule) moveWeekday(from, to place) {
	a, b := uint8(1)<<from.weekday, uint8(1)<<to.weekday
	if !r.has(partDay) || (r.weekdays|r.nth[to.ahead-1]|r.nthBack[-to.back-1])&b != 0 {
		return
	}
	old := *r
	if old.weekdays&a != 0 {
		r.weekdays = r.weekdays&^a | b
	}
	if old.nth[from.ahead-1]&a != 0 {
		r.nth[from.ahead-1] &^= a
		r.addNth(from.ahead, to.ahead, to, b)
	}
	if old.nthBack[-from.back-1]&a != 0 {
		r.nthBack[-from.back-1] &^= a
		r.addNth(from.back, to.back, to, b)
	}
}

// addNth adds weekdays with a number that replaces another number. If not every month or year has the new one but each
// has the old, it counts from the other end.
func (r *Rule) addNth(old, n int, of place, weekdays uint8) {
	switch n {
	case old:
	case of.most:
		n = of.back
	case -of.most:
		n = of.ahead
	}
	if n > 0 {
		r.nth[n-1] |= weekdays
	} else {
		r.nthBack[-n-1] |= weekdays
	}
}
