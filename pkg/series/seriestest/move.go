// Package seriestest holds a second implementation of docs/series.md, "Rule and end follow the start", and of the part
// of docs/recurrence.md that it needs. It was written from those documents alone. It asks each day of each period
// whether the rule has it.
//
// It promises to share no code with the packages that it tests. Production code must never import it.
package seriestest

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

type numbered struct {
	n   int // 0: every such weekday
	day time.Weekday
}

// Rule is a rule of a series, without its ends.
type Rule struct {
	freq                             string
	interval, count                  int
	months, monthDays, yearDays      []int
	weekNumbers, positions           []int
	days                             []numbered
	weekStart                        time.Weekday
	hasDays, hasMonthDays, hasMonths bool
}

var weekdayNames = []string{"SU", "MO", "TU", "WE", "TH", "FR", "SA"}

// ReadRule reads a rule of FREQ DAILY to YEARLY. It panics on a part that the document does not name.
func ReadRule(text string) Rule {
	r := Rule{interval: 1, weekStart: time.Monday}
	for part := range strings.SplitSeq(text, ";") {
		name, value, _ := strings.Cut(part, "=")
		switch name {
		case "FREQ":
			r.freq = value
		case "INTERVAL":
			r.interval, _ = strconv.Atoi(value)
		case "COUNT":
			r.count, _ = strconv.Atoi(value)
		case "UNTIL": // one of the series' ends
		case "WKST":
			r.weekStart = weekday(value)
		case "BYMONTH":
			r.months, r.hasMonths = readInts(value), true
		case "BYMONTHDAY":
			r.monthDays, r.hasMonthDays = readInts(value), true
		case "BYYEARDAY":
			r.yearDays = readInts(value)
		case "BYWEEKNO":
			r.weekNumbers = readInts(value)
		case "BYSETPOS":
			r.positions = readInts(value)
		case "BYDAY":
			r.hasDays = true
			for day := range strings.SplitSeq(value, ",") {
				n, _ := strconv.Atoi(day[:len(day)-2])
				r.days = append(r.days, numbered{n, weekday(day[len(day)-2:])})
			}
		default:
			panic("unknown part " + part)
		}
	}
	return r
}

func weekday(name string) time.Weekday { return time.Weekday(slices.Index(weekdayNames, name)) }

func readInts(text string) []int {
	var all []int
	for s := range strings.SplitSeq(text, ",") {
		n, _ := strconv.Atoi(s)
		all = append(all, n)
	}
	return all
}

// String writes the rule without its UNTIL, each list in order and each value once. So two spellings of one rule are
// equal.
func (r Rule) String() string {
	text := "FREQ=" + r.freq
	add := func(name, value string) {
		if value != "" {
			text += ";" + name + "=" + value
		}
	}
	if r.interval > 1 {
		add("INTERVAL", strconv.Itoa(r.interval))
	}
	if r.count > 0 {
		add("COUNT", strconv.Itoa(r.count))
	}
	add("BYMONTH", inOrder(r.months, strconv.Itoa))
	add("BYWEEKNO", inOrder(r.weekNumbers, strconv.Itoa))
	add("BYYEARDAY", inOrder(r.yearDays, strconv.Itoa))
	add("BYMONTHDAY", inOrder(r.monthDays, strconv.Itoa))
	add("BYDAY", inOrder(r.days, numbered.String))
	add("BYSETPOS", inOrder(r.positions, strconv.Itoa))
	if r.weekStart != time.Monday {
		add("WKST", weekdayNames[r.weekStart])
	}
	return text
}

func (d numbered) String() string {
	if d.n == 0 {
		return weekdayNames[d.day]
	}
	return strconv.Itoa(d.n) + weekdayNames[d.day]
}

func inOrder[V any](all []V, text func(V) string) string {
	var texts []string
	for _, v := range all {
		texts = append(texts, text(v))
	}
	slices.Sort(texts)
	return strings.Join(slices.Compact(texts), ",")
}

func date(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }

// DateOf returns the date of a reading, at midnight.
func DateOf(t time.Time) time.Time { return date(t.Year(), t.Month(), t.Day()) }

// ClockOf returns the time of day of a reading.
func ClockOf(t time.Time) time.Duration { return t.Sub(DateOf(t)) }

// DaysIn returns how many days a month has.
func DaysIn(y int, m time.Month) int { return date(y, m+1, 0).Day() }
func daysInYear(y int) int           { return date(y, 12, 31).YearDay() }

// FromEnd turns a number counted from the front into the one counted from the end of the whole.
func FromEnd(n, whole int) int { return n - whole - 1 }

// NumberInMonth returns the number of a date among those of its weekday, from the front and from the end.
func NumberInMonth(d time.Time) (front, end int) {
	return (d.Day()-1)/7 + 1, -((DaysIn(d.Year(), d.Month())-d.Day())/7 + 1)
}

// NumberInYear does the same within the year.
func NumberInYear(d time.Time) (front, end int) {
	return (d.YearDay()-1)/7 + 1, -((daysInYear(d.Year())-d.YearDay())/7 + 1)
}

func (r Rule) number(d time.Time) (front, end int) {
	if r.freq == "YEARLY" && !r.hasMonths {
		return NumberInYear(d)
	}
	return NumberInMonth(d)
}

func (r Rule) isOfDay(v numbered, d time.Time) bool {
	front, end := r.number(d)
	return v.day == d.Weekday() && (v.n == 0 || v.n == front || v.n == end)
}

func isOfMonthDay(v int, d time.Time) bool {
	return v == d.Day() || v == FromEnd(d.Day(), DaysIn(d.Year(), d.Month()))
}

// weekNumber returns the number of a date's week and how many weeks the year of that week has.
func weekNumber(d time.Time, weekStart time.Weekday) (week, weeks int) {
	begin := weekBegin(d, weekStart)
	year := begin.AddDate(0, 0, 3).Year() // the week belongs to the year in which four of its days lie
	first := weekBegin(date(year, 1, 4), weekStart)
	next := weekBegin(date(year+1, 1, 4), weekStart)
	return int(begin.Sub(first)/(7*24*time.Hour)) + 1, int(next.Sub(first) / (7 * 24 * time.Hour))
}

func weekBegin(d time.Time, weekStart time.Weekday) time.Time {
	return d.AddDate(0, 0, -int((d.Weekday()-weekStart+7)%7))
}

// has reports whether a date meets all parts of the rule but INTERVAL and BYSETPOS. What the rule leaves out is taken
// from the start.
func (r Rule) has(d, start time.Time) bool {
	sameDay, sameMonth := d.Day() == start.Day(), d.Month() == start.Month()
	noDay := !r.hasDays && !r.hasMonthDays && r.yearDays == nil && r.weekNumbers == nil
	switch {
	case r.hasMonths && !slices.Contains(r.months, int(d.Month())):
		return false
	case r.hasMonthDays && !slices.ContainsFunc(r.monthDays, func(v int) bool { return isOfMonthDay(v, d) }):
		return false
	case r.hasDays && !slices.ContainsFunc(r.days, func(v numbered) bool { return r.isOfDay(v, d) }):
		return false
	case r.yearDays != nil && !slices.Contains(r.yearDays, d.YearDay()) &&
		!slices.Contains(r.yearDays, FromEnd(d.YearDay(), daysInYear(d.Year()))):
		return false
	case r.weekNumbers != nil && !r.isOfWeek(d):
		return false
	}
	switch r.freq {
	case "WEEKLY":
		return !noDay || d.Weekday() == start.Weekday()
	case "MONTHLY":
		return !noDay || sameDay
	case "YEARLY":
		switch {
		case noDay:
			return sameDay && (r.hasMonths || sameMonth)
		case r.weekNumbers != nil && !r.hasDays && !r.hasMonthDays && r.yearDays == nil:
			return d.Weekday() == start.Weekday()
		case r.hasMonthDays && !r.hasMonths && !r.hasDays && r.yearDays == nil && r.weekNumbers == nil:
			return sameMonth
		}
	}
	return true
}

func (r Rule) isOfWeek(d time.Time) bool {
	week, weeks := weekNumber(d, r.weekStart)
	return slices.Contains(r.weekNumbers, week) || slices.Contains(r.weekNumbers, FromEnd(week, weeks))
}

// period returns the first day of the k-th period from the start's on, and the day after its last.
func (r Rule) period(start time.Time, k int) (from, to time.Time) {
	k *= r.interval
	switch r.freq {
	case "DAILY":
		from = start.AddDate(0, 0, k)
		return from, from.AddDate(0, 0, 1)
	case "WEEKLY":
		from = weekBegin(start, r.weekStart).AddDate(0, 0, 7*k)
		return from, from.AddDate(0, 0, 7)
	case "MONTHLY":
		from = date(start.Year(), start.Month()+time.Month(k), 1)
		return from, from.AddDate(0, 1, 0)
	}
	from = date(start.Year()+k, 1, 1)
	return from, from.AddDate(1, 0, 0)
}

// Dates calls yield for each date that the rule has from the start's on, until it returns false or the limit is passed.
func (r Rule) Dates(start, limit time.Time, yield func(time.Time) bool) {
	for k := 0; ; k++ {
		from, to := r.period(start, k)
		if from.After(limit) {
			return
		}
		var set []time.Time
		for d := from; d.Before(to); d = d.AddDate(0, 0, 1) {
			if r.has(d, start) {
				set = append(set, d)
			}
		}
		for i, d := range set {
			isAtPosition := slices.Contains(r.positions, i+1) || slices.Contains(r.positions, FromEnd(i+1, len(set)))
			if r.positions != nil && !isAtPosition {
				continue
			}
			if !d.Before(start) && (d.After(limit) || !yield(d)) {
				return
			}
		}
	}
}

// Gives reports whether the start fits the rule.
func (r Rule) Gives(start time.Time) bool {
	day, given := DateOf(start), false
	r.Dates(day, day, func(time.Time) bool { given = true; return false })
	return given
}

// Series is a series as the document defines it: readings of the clocks in the zone of the start.
type Series struct {
	Start time.Time
	Rule  Rule
	Ends  map[string]time.Time // by name: [Until], [End]
}

// The names of a series' ends.
const (
	Until = "UNTIL"      // of the rule
	End   = "rruleUntil" // of the series
)

// Occurrences returns at most so many of the series' starts up to an end: its start, and each date of the rule.
func (m Series) Occurrences(end time.Time, most int) []time.Time {
	all := []time.Time{m.Start}
	m.Rule.Dates(DateOf(m.Start), DateOf(end), func(d time.Time) bool {
		if at := d.Add(ClockOf(m.Start)); at.After(m.Start) {
			if at.After(end) || len(all) == most {
				return false
			}
			all = append(all, at)
		}
		return true
	})
	return all
}

// Move returns the series that the document prescribes after a move of its start. A rule that the change sets stays as
// sent, with its UNTIL. A change does not set ends.
func (m Series) Move(start time.Time, sent *Rule) Series {
	after := Series{Start: start, Ends: map[string]time.Time{}}
	if sent != nil {
		after.Rule = *sent
	} else {
		after.Rule = m.Rule.follow(m.Start, start)
	}
	for name, end := range m.Ends {
		if sent == nil || name == End {
			after.Ends[name] = m.follow(after, end, sent != nil)
		}
	}
	return after
}

func (r Rule) follow(from, to time.Time) Rule {
	simple := r.positions == nil && r.weekNumbers == nil && r.yearDays == nil && !(r.hasDays && r.hasMonthDays)
	if r.Gives(to) || !r.Gives(from) || !simple {
		return r
	}
	old, day := DateOf(from), DateOf(to)
	next := r
	if !slices.ContainsFunc(r.days, func(v numbered) bool { return r.isOfDay(v, day) }) {
		next.days = slices.Clone(r.days)
		for i, v := range next.days {
			if r.isOfDay(v, old) {
				next.days[i] = r.numberedLike(v, day)
			}
		}
	}
	if !slices.ContainsFunc(r.monthDays, func(v int) bool { return isOfMonthDay(v, day) }) {
		next.monthDays = slices.Clone(r.monthDays)
		for i, v := range next.monthDays {
			switch {
			case !isOfMonthDay(v, old):
			case v > 0:
				next.monthDays[i] = day.Day()
			default:
				next.monthDays[i] = FromEnd(day.Day(), DaysIn(day.Year(), day.Month()))
			}
		}
	}
	if r.freq == "YEARLY" && !slices.Contains(r.months, int(day.Month())) {
		next.months = slices.Clone(r.months)
		for i, v := range next.months {
			if v == int(old.Month()) {
				next.months[i] = int(day.Month())
			}
		}
	}
	if !next.Gives(to) {
		return r
	}
	return next
}

// numberedLike returns the weekday of a date, counted as the value counts.
func (r Rule) numberedLike(v numbered, d time.Time) numbered {
	front, end := r.number(d)
	rare := 5
	if r.freq == "YEARLY" && !r.hasMonths {
		rare = 53
	}
	n := 0
	switch {
	case v.n > 0 && front == rare && v.n != rare:
		n = -1
	case v.n > 0:
		n = front
	case v.n < 0 && end == -rare && v.n != -rare:
		n = 1
	case v.n < 0:
		n = end
	}
	return numbered{n, d.Weekday()}
}

// Far is the number of occurrences beyond which none is counted.
const Far = 10_000

// follow returns the new value of one end.
func (m Series) follow(after Series, end time.Time, isRuleSent bool) time.Time {
	by := ClockOf(after.Start) - ClockOf(m.Start)
	if DateOf(after.Start).Equal(DateOf(m.Start)) || m.hasDate(DateOf(after.Start), end) {
		return byClock(end, by)
	}
	next := byClock(end.Add(DateOf(after.Start).Sub(DateOf(m.Start))), by)
	if isRuleSent {
		return next
	}
	r := after.Rule
	namesDays := r.hasDays || r.hasMonthDays || r.yearDays != nil
	if !r.Gives(after.Start) && namesDays && !after.Start.After(byClock(end, by)) {
		return byClock(end, by)
	}
	had := len(m.Occurrences(end, Far))
	if had >= Far || len(after.Occurrences(next, had+1)) == had {
		return next
	}
	all := after.Occurrences(date(9999, 1, 1), had)
	return all[len(all)-1]
}

// byClock moves an end by the change of the time of day; a later time moves it at most to the last second of its day.
func byClock(end time.Time, by time.Duration) time.Time {
	next := end.Add(by)
	if last := DateOf(end).Add(24*time.Hour - time.Second); next.After(last) {
		return last
	}
	return next
}

// hasDate reports whether the series has a date by its rule, after its start and not after the end.
func (m Series) hasDate(d, end time.Time) bool {
	if !d.After(DateOf(m.Start)) || d.Add(ClockOf(m.Start)).After(end) {
		return false
	}
	has := false
	m.Rule.Dates(DateOf(m.Start), d, func(at time.Time) bool { has = at.Equal(d); return !has })
	return has
}
