package recurrence_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"nexus/pkg/wallclock"
)

// plain is a rule as the oracle reads it: lists of numbers, nothing compiled. The oracle goes through every day, or
// every hour, minute or second, and asks of each whether it belongs, with package time's calendar.
type plain struct {
	freq                                                        string
	interval, count                                             int
	until                                                       string
	week                                                        time.Weekday
	months, weeks, yearDays, monthDays, hours, minutes, seconds []int
	setPos                                                      []int
	weekdays                                                    []numbered
	start                                                       time.Time
	allDay                                                      bool
	zone                                                        *time.Location
	exDates, rDates                                             []string
	withStart                                                   bool
}

type numbered struct {
	n   int
	day time.Weekday
}

var dayNames = []string{"SU", "MO", "TU", "WE", "TH", "FR", "SA"}

func (p *plain) text() string {
	parts := []string{"FREQ=" + p.freq}
	add := func(name string, list []int) {
		if len(list) > 0 {
			parts = append(parts, name+"="+strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ","), "[]"))
		}
	}
	if p.interval > 1 {
		add("INTERVAL", []int{p.interval})
	}
	if p.count > 0 {
		add("COUNT", []int{p.count})
	}
	if p.until != "" {
		parts = append(parts, "UNTIL="+p.until)
	}
	if p.week != time.Monday {
		parts = append(parts, "WKST="+dayNames[p.week])
	}
	add("BYMONTH", p.months)
	add("BYWEEKNO", p.weeks)
	add("BYYEARDAY", p.yearDays)
	add("BYMONTHDAY", p.monthDays)
	var days []string
	for _, d := range p.weekdays {
		if d.n == 0 {
			days = append(days, dayNames[d.day])
		} else {
			days = append(days, fmt.Sprint(d.n, dayNames[d.day]))
		}
	}
	if len(days) > 0 {
		parts = append(parts, "BYDAY="+strings.ReplaceAll(strings.Join(days, ","), " ", ""))
	}
	add("BYHOUR", p.hours)
	add("BYMINUTE", p.minutes)
	add("BYSECOND", p.seconds)
	add("BYSETPOS", p.setPos)
	return strings.Join(parts, ";")
}

const day = 24 * time.Hour

func midnight(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
}

func lastOfMonth(t time.Time) int {
	return time.Date(t.Year(), t.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()
}
func lastOfYear(t time.Time) int { return time.Date(t.Year(), 12, 31, 0, 0, 0, 0, time.UTC).YearDay() }

func (p *plain) weekStart(t time.Time) time.Time {
	t = midnight(t)
	for t.Weekday() != p.week {
		t = t.Add(-day)
	}
	return t
}

// weekNumber counts from the first week that has four days in the year, and from the last.
func (p *plain) weekNumber(t time.Time) (n, back int) {
	start := p.weekStart(t)
	year := start.Add(3 * day).Year()
	for at := start; at.Add(3*day).Year() == year; at = at.Add(-7 * day) {
		n++
	}
	for at := start; at.Add(3*day).Year() == year; at = at.Add(7 * day) {
		back++
	}
	return n, -back
}

func matches(list []int, values ...int) bool {
	return slices.ContainsFunc(list, func(n int) bool { return slices.Contains(values, n) })
}

// admits says whether a day passes the rule's filters.
func (p *plain) admits(t time.Time) bool {
	if len(p.months) > 0 && !matches(p.months, int(t.Month())) {
		return false
	}
	if len(p.monthDays) > 0 && !matches(p.monthDays, t.Day(), t.Day()-lastOfMonth(t)-1) {
		return false
	}
	if len(p.yearDays) > 0 && !matches(p.yearDays, t.YearDay(), t.YearDay()-lastOfYear(t)-1) {
		return false
	}
	if len(p.weeks) > 0 {
		n, back := p.weekNumber(t)
		if !matches(p.weeks, n, back) {
			return false
		}
	}
	switch {
	case len(p.weekdays) > 0:
		return slices.ContainsFunc(p.weekdays, func(d numbered) bool { return p.isWeekday(t, d) })
	case p.freq == "WEEKLY" && len(p.monthDays) == 0,
		p.freq == "YEARLY" && len(p.weeks) > 0 && len(p.monthDays)+len(p.yearDays) == 0:
		return t.Weekday() == p.start.Weekday()
	}
	named := len(p.weeks)+len(p.yearDays)+len(p.monthDays) > 0
	switch p.freq {
	case "MONTHLY":
		return named || t.Day() == p.start.Day()
	case "YEARLY":
		if len(p.months) == 0 && len(p.weeks)+len(p.yearDays) == 0 && t.Month() != p.start.Month() {
			return false
		}
		return named || t.Day() == p.start.Day()
	}
	return true
}

func (p *plain) isWeekday(t time.Time, d numbered) bool {
	if t.Weekday() != d.day {
		return false
	}
	if d.n == 0 {
		return true
	}
	same := func(a, b time.Time) bool { return a.Year() == b.Year() }
	if p.freq == "MONTHLY" || len(p.months) > 0 {
		same = func(a, b time.Time) bool { return a.Year() == b.Year() && a.Month() == b.Month() }
	}
	n, step := 0, -7*day
	if d.n < 0 {
		step = 7 * day
	}
	for at := t; same(at, t); at = at.Add(step) {
		n++
	}
	return n == max(d.n, -d.n)
}

// period numbers the periods of the rule.
func (p *plain) period(t time.Time) int {
	switch p.freq {
	case "YEARLY":
		return t.Year()
	case "MONTHLY":
		return t.Year()*12 + int(t.Month())
	case "WEEKLY":
		return int(p.weekStart(t).Unix()+1e5*7*86400) / (7 * 86400)
	case "DAILY":
		return int(midnight(t).Unix()) / 86400
	case "HOURLY":
		return int(t.Unix()) / 3600
	case "MINUTELY":
		return int(t.Unix()) / 60
	}
	return int(t.Unix())
}

// readings expands the rule by what the clock shows, up to the horizon, before COUNT, UNTIL and exceptions.
func (p *plain) readings(start, horizon time.Time) []time.Time {
	var all, set []time.Time
	flush := func() {
		if len(set) > 0 && (p.period(set[0])-p.period(start))%p.interval == 0 {
			for i, at := range set {
				if len(p.setPos) == 0 || matches(p.setPos, i+1, i-len(set)) {
					all = append(all, at)
				}
			}
		}
		set = set[:0]
	}
	first, slack := midnight(start), day
	switch p.freq {
	case "YEARLY":
		slack = 366 * day
		first = time.Date(start.Year(), 1, 1, 0, 0, 0, 0, time.UTC)
	case "MONTHLY":
		slack = 31 * day
		first = time.Date(start.Year(), start.Month(), 1, 0, 0, 0, 0, time.UTC)
	case "WEEKLY":
		slack = 7 * day
		first = p.weekStart(start)
	}
	for date := first; date.Before(horizon.Add(slack)); date = date.Add(day) {
		if !p.admits(date) {
			continue
		}
		for _, at := range p.timesOf(start, date) {
			if len(set) > 0 && p.period(set[0]) != p.period(at) {
				flush()
			}
			set = append(set, at)
		}
	}
	flush()
	return slices.DeleteFunc(all, func(t time.Time) bool { return t.Before(start) || t.After(horizon) })
}

// timesOf lists the times of one day, going through all that there could be.
func (p *plain) timesOf(start, date time.Time) []time.Time {
	finer := map[string]int{"SECONDLY": 3, "MINUTELY": 2, "HOURLY": 1}[p.freq] // how many of hour, minute, second vary
	values := func(list []int, level, of, from int) []int {
		switch {
		case len(list) > 0:
			return slices.Compact(slices.Sorted(slices.Values(list)))
		case p.allDay || finer < level:
			return []int{from}
		}
		var all []int
		for n := range of {
			all = append(all, n)
		}
		return all
	}
	var times []time.Time
	for _, h := range values(p.hours, 1, 24, start.Hour()) {
		for _, m := range values(p.minutes, 2, 60, start.Minute()) {
			for _, s := range values(p.seconds, 3, 60, start.Second()) {
				times = append(times, date.Add(time.Duration(h*3600+m*60+s)*time.Second))
			}
		}
	}
	return times
}

// occurrence is one of the oracle's answers.
type occurrence struct{ wall, start time.Time }

// expand gives the occurrences up to the horizon, which is an instant.
func (p *plain) expand(horizon time.Time) []occurrence {
	var all []occurrence
	for _, wall := range p.readings(p.start, horizon.Add(48*time.Hour)) {
		start := wall
		if p.zone != nil {
			start = wallclock.Resolve(wall, p.zone)
		}
		all = append(all, occurrence{wall, start})
	}
	fits := len(all) > 0 && all[0].wall.Equal(p.start)
	if p.withStart && !fits {
		start := p.start
		if p.zone != nil {
			start = wallclock.Resolve(p.start, p.zone)
		}
		all = slices.Insert(all, 0, occurrence{p.start, start})
	}
	if p.count > 0 && len(all) > p.count {
		all = all[:p.count]
	}
	all = slices.DeleteFunc(all, func(o occurrence) bool { return p.isPast(o) })
	for _, text := range p.rDates {
		date, _ := time.Parse("20060102", text)
		wall := date.Add(p.start.Sub(midnight(p.start)))
		start := wall
		if p.zone != nil {
			start = wallclock.Resolve(wall, p.zone)
		}
		all = append(all, occurrence{wall, start})
	}
	all = slices.DeleteFunc(all, func(o occurrence) bool { return slices.Contains(p.exDates, o.wall.Format("20060102")) })
	slices.SortStableFunc(all, func(a, b occurrence) int {
		if c := a.start.Compare(b.start); c != 0 {
			return c
		}
		return b.wall.Compare(a.wall) // of one instant the clock shows the later reading
	})
	all = slices.CompactFunc(all, func(a, b occurrence) bool { return a.start.Equal(b.start) })
	return slices.DeleteFunc(all, func(o occurrence) bool { return o.start.After(horizon) })
}

// isPast says whether UNTIL ends the rule before the occurrence.
func (p *plain) isPast(o occurrence) bool {
	switch {
	case p.until == "":
		return false
	case len(p.until) == 8 || p.allDay:
		return o.wall.Format("20060102") > p.until[:8]
	case strings.HasSuffix(p.until, "Z"):
		return o.start.Format("20060102T150405Z") > p.until
	}
	return o.wall.Format("20060102T150405") > p.until
}
