package recurrence

import "time"

// WithCount returns the rule ending after n occurrences, whatever ended it before; endless if n is 0. It is for whoever
// splits a series: the second part keeps what the first has left of COUNT.
func (r Rule) WithCount(n int) Rule {
	r.given &^= partCount | partUntil
	r.count, r.until = n, until{}
	if n != 0 {
		r.given |= partCount
	}
	return r
}

// MoveWeekday returns the rule with one weekday in the place of another wherever BYDAY names it, with a number or without:
// what an occurrence that is dragged from one weekday to another asks of the series.
func (r Rule) MoveWeekday(from, to time.Weekday) Rule {
	move := func(set uint8) uint8 {
		if a, b := fromMonday(from), fromMonday(to); set>>a&1 == 1 {
			set = set&^(1<<a) | 1<<b
		}
		return set
	}
	r.weekdays = move(r.weekdays)
	for i := range r.nth {
		r.nth[i], r.nthBack[i] = move(r.nth[i]), move(r.nthBack[i])
	}
	return r
}

func fromMonday(day time.Weekday) int { return (int(day) + 6) % 7 }

// NamesWeekday reports whether BYDAY names the weekday, with a number or without.
func (r Rule) NamesWeekday(day time.Weekday) bool {
	all := r.weekdays
	for i := range r.nth {
		all |= r.nth[i] | r.nthBack[i]
	}
	return all>>fromMonday(day)&1 == 1
}

// Counted returns how many occurrences with a reading before the one given COUNT has counted: excluded ones, too, and none
// from RDATE. Of a rule without COUNT, which may have more, it returns [MaxCount] at most.
func (s *Series) Counted(before time.Time) int {
	reading, n := seconds(before), s.unfit
	if s.clock.start >= reading {
		return 0
	}
	steps := budget(maxSteps)
	count := func(int64) bool { n++; return n < MaxCount }
	if s.elapsed {
		s.eachElapsed(s.instant, min(s.zone.Instant(reading)-1, s.lastInstant), nil, &steps, func(m moment) bool { return count(m.reading) })
	} else {
		s.clock.between(s.clock.start, min(reading-1, s.lastReading), nil, &steps, count)
	}
	return n
}
