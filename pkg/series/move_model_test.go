package series_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"nexus/pkg/entity"
)

// This file holds a second implementation of docs/series.md, "Rule and end follow the start", and of the part of
// docs/recurrence.md that it needs. It was written from those documents alone. It asks each day of each period whether
// the rule has it, and shares no code with package recurrence.

type numbered struct {
	n   int // 0: every such weekday
	day time.Weekday
}

// plainRule is a rule of a series. Its ends are kept outside.
type plainRule struct {
	freq                             string
	interval, count                  int
	months, monthDays, yearDays      []int
	weekNumbers, positions           []int
	days                             []numbered
	weekStart                        time.Weekday
	until                            string // as it is written
	hasDays, hasMonthDays, hasMonths bool
}

var weekdayNames = []string{"SU", "MO", "TU", "WE", "TH", "FR", "SA"}

func readRule(text string) plainRule {
	r := plainRule{interval: 1, weekStart: time.Monday}
	for part := range strings.SplitSeq(text, ";") {
		name, value, _ := strings.Cut(part, "=")
		switch name {
		case "FREQ":
			r.freq = value
		case "INTERVAL":
			r.interval, _ = strconv.Atoi(value)
		case "COUNT":
			r.count, _ = strconv.Atoi(value)
		case "UNTIL":
			r.until = value
		case "WKST":
			r.weekStart = time.Weekday(slices.Index(weekdayNames, value))
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
				r.days = append(r.days, numbered{n, time.Weekday(slices.Index(weekdayNames, day[len(day)-2:]))})
			}
		default:
			panic("unknown part " + part)
		}
	}
	return r
}

func readInts(text string) []int {
	var all []int
	for s := range strings.SplitSeq(text, ",") {
		n, _ := strconv.Atoi(s)
		all = append(all, n)
	}
	return all
}

// shape writes a rule as sets in a fixed order, so that two spellings of one rule are equal.
func (r plainRule) shape() string {
	var days []string
	for _, d := range r.days {
		days = append(days, fmt.Sprint(d.n, weekdayNames[d.day]))
	}
	slices.Sort(days)
	set := func(all []int) []int { all = slices.Clone(all); slices.Sort(all); return slices.Compact(all) }
	return fmt.Sprint(r.freq, r.interval, " count", r.count, " months", set(r.months), " days", set(r.monthDays),
		slices.Compact(days),
		" year", set(r.yearDays), " weeks", set(r.weekNumbers), " set", set(r.positions), " week begins ", r.weekStart)
}

func date(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }
func dateOf(t time.Time) time.Time              { return date(t.Year(), t.Month(), t.Day()) }
func clockOf(t time.Time) time.Duration         { return t.Sub(dateOf(t)) }

func daysIn(y int, m time.Month) int { return date(y, m+1, 0).Day() }
func daysInYear(y int) int           { return date(y, 12, 31).YearDay() }

// fromEnd turns a number counted from the front into the one counted from the end of the whole.
func fromEnd(n, whole int) int { return n - whole - 1 }

// numberInMonth returns the number of a date among those of its weekday, from the front and from the end.
func numberInMonth(d time.Time) (front, end int) {
	return (d.Day()-1)/7 + 1, -((daysIn(d.Year(), d.Month())-d.Day())/7 + 1)
}

// numberInYear does the same within the year.
func numberInYear(d time.Time) (front, end int) {
	return (d.YearDay()-1)/7 + 1, -((daysInYear(d.Year())-d.YearDay())/7 + 1)
}

func (r plainRule) number(d time.Time) (front, end int) {
	if r.freq == "YEARLY" && !r.hasMonths {
		return numberInYear(d)
	}
	return numberInMonth(d)
}

func (r plainRule) isOfDay(v numbered, d time.Time) bool {
	front, end := r.number(d)
	return v.day == d.Weekday() && (v.n == 0 || v.n == front || v.n == end)
}

func isOfMonthDay(v int, d time.Time) bool {
	return v == d.Day() || v == fromEnd(d.Day(), daysIn(d.Year(), d.Month()))
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
func (r plainRule) has(d, start time.Time) bool {
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
		!slices.Contains(r.yearDays, fromEnd(d.YearDay(), daysInYear(d.Year()))):
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

func (r plainRule) isOfWeek(d time.Time) bool {
	week, weeks := weekNumber(d, r.weekStart)
	return slices.Contains(r.weekNumbers, week) || slices.Contains(r.weekNumbers, fromEnd(week, weeks))
}

// period returns the first day of the k-th period from the start's on, and the day after its last.
func (r plainRule) period(start time.Time, k int) (from, to time.Time) {
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

// dates calls yield for each date that the rule has from the start's on, until it returns false or the limit is passed.
func (r plainRule) dates(start, limit time.Time, yield func(time.Time) bool) {
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
			isAtPosition := slices.Contains(r.positions, i+1) || slices.Contains(r.positions, fromEnd(i+1, len(set)))
			if r.positions != nil && !isAtPosition {
				continue
			}
			if !d.Before(start) && (d.After(limit) || !yield(d)) {
				return
			}
		}
	}
}

// gives reports whether the start fits the rule.
func (r plainRule) gives(start time.Time) bool {
	day, given := dateOf(start), false
	r.dates(day, day, func(time.Time) bool { given = true; return false })
	return given
}

// plainSeries is a series as the document sees it: readings of the clocks in the zone of the start.
type plainSeries struct {
	start time.Time
	rule  plainRule
	ends  map[string]time.Time // by name: UNTIL, rruleUntil
}

// occurrences returns at most so many of the series' starts up to an end: its start, and each date of the rule.
func (m plainSeries) occurrences(end time.Time, most int) []time.Time {
	all := []time.Time{m.start}
	m.rule.dates(dateOf(m.start), dateOf(end), func(d time.Time) bool {
		if at := d.Add(clockOf(m.start)); at.After(m.start) {
			if at.After(end) || len(all) == most {
				return false
			}
			all = append(all, at)
		}
		return true
	})
	return all
}

// move returns what the document says becomes of a series whose start moves. The rule and the ends are not sent.
func (m plainSeries) move(start time.Time) plainSeries {
	after := plainSeries{start: start, rule: m.rule.follow(m.start, start), ends: map[string]time.Time{}}
	for name, end := range m.ends {
		after.ends[name] = m.follow(after, end)
	}
	return after
}

func (r plainRule) follow(from, to time.Time) plainRule {
	simple := r.positions == nil && r.weekNumbers == nil && r.yearDays == nil && !(r.hasDays && r.hasMonthDays)
	if r.gives(to) || !r.gives(from) || !simple {
		return r
	}
	old, day := dateOf(from), dateOf(to)
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
				next.monthDays[i] = fromEnd(day.Day(), daysIn(day.Year(), day.Month()))
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
	if !next.gives(to) {
		return r
	}
	return next
}

// numberedLike returns the weekday of a date, counted as the value counts.
func (r plainRule) numberedLike(v numbered, d time.Time) numbered {
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

const farEnd = 10_000 // occurrences

// follow returns what becomes of one end.
func (m plainSeries) follow(after plainSeries, end time.Time) time.Time {
	by := clockOf(after.start) - clockOf(m.start)
	if dateOf(after.start).Equal(dateOf(m.start)) || m.hasDate(dateOf(after.start), end) {
		return byClock(end, by)
	}
	r := after.rule
	namesDays := r.hasDays || r.hasMonthDays || r.yearDays != nil
	if !r.gives(after.start) && namesDays && !after.start.After(byClock(end, by)) {
		return byClock(end, by)
	}
	had := len(m.occurrences(end, farEnd))
	next := byClock(end.Add(dateOf(after.start).Sub(dateOf(m.start))), by)
	if had >= farEnd || len(after.occurrences(next, had+1)) == had {
		return next
	}
	all := after.occurrences(date(9999, 1, 1), had)
	return all[len(all)-1]
}

// byClock moves an end by as much as the time of day; a later one takes it to the last second of its day at most.
func byClock(end time.Time, by time.Duration) time.Time {
	next := end.Add(by)
	if last := dateOf(end).Add(24*time.Hour - time.Second); next.After(last) {
		return last
	}
	return next
}

// hasDate reports whether the series has a date by its rule, after its start and not after the end.
func (m plainSeries) hasDate(d, end time.Time) bool {
	if !d.After(dateOf(m.start)) || d.Add(clockOf(m.start)).After(end) {
		return false
	}
	has := false
	m.rule.dates(dateOf(m.start), d, func(at time.Time) bool { has = at.Equal(d); return !has })
	return has
}

// kind says how a series tells its times.
type kind string // the name of a zone, or one of these

const (
	floats kind = "floats"
	days   kind = "days"
)

func (k kind) zone() *time.Location {
	if k == floats || k == days {
		return time.UTC
	}
	zone, err := time.LoadLocation(string(k))
	if err != nil {
		panic(err)
	}
	return zone
}

// instant returns the reading as an instant. Readings that the clocks skip or repeat are not asked for.
func (k kind) instant(reading time.Time) time.Time {
	at := reading
	return time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), 0, k.zone()).UTC()
}

func (k kind) reading(instant time.Time) time.Time {
	at := instant.In(k.zone())
	return time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), 0, time.UTC)
}

// isPlain reports whether the clocks neither skip nor repeat the reading.
func (k kind) isPlain(reading time.Time) bool {
	return k.reading(k.instant(reading)).Equal(reading) &&
		k.reading(k.instant(reading).Add(-time.Hour)).Equal(reading.Add(-time.Hour)) &&
		k.reading(k.instant(reading).Add(time.Hour)).Equal(reading.Add(time.Hour))
}

func (k kind) until(reading time.Time) string {
	switch k {
	case days:
		return reading.Format("20060102")
	case floats:
		return reading.Format("20060102T150405")
	}
	return k.instant(reading).Format("20060102T150405Z")
}

func (k kind) readUntil(text string) time.Time {
	switch len(text) {
	case len("20060102"):
		at, err := time.Parse("20060102", text)
		must(err)
		return at.Add(24*time.Hour - time.Second)
	case len("20060102T150405"):
		at, err := time.Parse("20060102T150405", text)
		must(err)
		return at
	}
	at, err := time.Parse("20060102T150405Z", text)
	must(err)
	return k.reading(at)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// item returns the series as the table has it.
func (m plainSeries) item(k kind, rule string) entity.Item {
	it := entity.Item{entity.AttrType: entity.String(entity.TypeMaster), entity.AttrRRule: entity.String(rule)}
	if k == days {
		it[entity.AttrIsAllDay] = entity.Bool(true)
		it[entity.AttrStartDate] = entity.String(m.start.Format(time.DateOnly))
	} else {
		it.SetTime(entity.AttrStartUtc, k.instant(m.start))
		it.SetTime(entity.AttrEndUtc, k.instant(m.start).Add(time.Hour))
		if k != floats {
			it[entity.AttrStartTzid] = entity.String(k)
		}
	}
	if end, ok := m.ends[entity.AttrRRuleUntil]; ok {
		it.SetTime(entity.AttrRRuleUntil, k.instant(end))
	}
	return it
}
