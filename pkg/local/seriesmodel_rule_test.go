package local_test

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// plainRule is a rule as its text says it, part by part.
type plainRule map[string]string

func parsePlainRule(text string) plainRule {
	r := plainRule{}
	for _, part := range strings.Split(text, ";") {
		name, value, _ := strings.Cut(part, "=")
		r[name] = value
	}
	if r["INTERVAL"] == "1" {
		delete(r, "INTERVAL")
	}
	for _, name := range []string{"BYDAY", "BYMONTHDAY", "BYMONTH", "BYSETPOS"} {
		if v, ok := r[name]; ok {
			r[name] = strings.Join(slices.Compact(slices.Sorted(slices.Values(strings.Split(v, ",")))), ",")
		}
	}
	return r
}

func (r plainRule) String() string {
	text := "FREQ=" + r["FREQ"]
	for _, name := range []string{"INTERVAL", "COUNT", "UNTIL", "BYMONTH", "BYMONTHDAY", "BYDAY", "BYSETPOS", "WKST"} {
		if v, ok := r[name]; ok {
			text += ";" + name + "=" + v
		}
	}
	return text
}

func (r plainRule) with(name, value string) plainRule {
	more := plainRule{}
	for n, v := range r {
		more[n] = v
	}
	more[name] = value
	return more
}

func (r plainRule) number(name string, otherwise int) int {
	if n, err := strconv.Atoi(r[name]); err == nil {
		return n
	}
	return otherwise
}

func (r plainRule) list(name string) []string {
	if r[name] == "" {
		return nil
	}
	return strings.Split(r[name], ",")
}

func dayOf(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
}

func lastOfMonth(t time.Time) int {
	return time.Date(t.Year(), t.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

func weekdayName(t time.Time) string { return strings.ToUpper(t.Weekday().String()[:2]) }

// fitsDay says whether a day is one of those that the rule names, intervals and positions aside.
func (r plainRule) fitsDay(day, start time.Time) bool {
	numberIn := func(name string, values ...int) bool {
		return slices.ContainsFunc(values, func(n int) bool { return slices.Contains(r.list(name), strconv.Itoa(n)) })
	}
	nth, fromEnd := (day.Day()-1)/7+1, -((lastOfMonth(day)-day.Day())/7 + 1)
	byDay := func() bool {
		for _, v := range r.list("BYDAY") {
			number, name := v[:len(v)-2], v[len(v)-2:]
			if name == weekdayName(day) && (number == "" || number == strconv.Itoa(nth) || number == strconv.Itoa(fromEnd)) {
				return true
			}
		}
		return false
	}
	byMonthDay := func() bool { return numberIn("BYMONTHDAY", day.Day(), day.Day()-lastOfMonth(day)-1) }
	switch {
	case r["BYMONTH"] != "" && !numberIn("BYMONTH", int(day.Month())):
		return false
	case r["FREQ"] == "YEARLY" && r["BYMONTH"] == "" && day.Month() != start.Month():
		return false
	case r["BYDAY"] != "" && !byDay(), r["BYMONTHDAY"] != "" && !byMonthDay():
		return false
	case r["BYDAY"] != "" || r["BYMONTHDAY"] != "" || r["FREQ"] == "DAILY":
		return true
	case r["FREQ"] == "WEEKLY":
		return day.Weekday() == start.Weekday()
	}
	return day.Day() == start.Day()
}

// period is the number of the day, week, month or year in which a day lies.
func (r plainRule) period(day time.Time) int {
	days := int(day.Unix() / 86400)
	switch r["FREQ"] {
	case "DAILY":
		return days
	case "WEEKLY":
		if r["WKST"] == "SU" {
			return (days + 4) / 7
		}
		return (days + 3) / 7 // 1 January 1970 was a Thursday, and weeks begin on Mondays
	case "MONTHLY":
		return day.Year()*12 + int(day.Month())
	}
	return day.Year()
}

// days goes through every day from the start's on and keeps those on which the rule has an occurrence, its end aside;
// the start is one whether it fits or not. It stops at the horizon.
func (r plainRule) days(start, horizon time.Time) []time.Time {
	first := dayOf(start)
	var found, set []time.Time
	keep := func() {
		chosen := set
		if positions := r.list("BYSETPOS"); positions != nil {
			chosen = nil
			for i, day := range set {
				if slices.Contains(positions, strconv.Itoa(i+1)) || slices.Contains(positions, strconv.Itoa(i-len(set))) {
					chosen = append(chosen, day)
				}
			}
		}
		for _, day := range chosen {
			if !day.Before(first) {
				found = append(found, day)
			}
		}
		set = nil
	}
	at := time.Date(first.Year(), 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, -7)
	for present := r.period(at); !at.After(horizon); at = at.AddDate(0, 0, 1) {
		if p := r.period(at); p != present {
			keep()
			present = p
		}
		if past := r.period(at) - r.period(first); past >= 0 && past%r.number("INTERVAL", 1) == 0 && r.fitsDay(at, first) {
			set = append(set, at)
		}
	}
	keep()
	if len(found) == 0 || !found[0].Equal(first) {
		found = append([]time.Time{first}, found...)
	}
	return found
}
