package ical

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
)

// yearlyRule is a recurrence rule of the shapes in which zones change their clocks: once a year, on a day of one month.
type yearlyRule struct {
	month    time.Month
	weekday  time.Weekday
	nth      int   // of the weekday in the month, from its end if negative; 0 for none
	days     []int // of the month; with byWeekday, the one of them that is the weekday
	lastYear int   // in which it can have an onset
	byDay    bool

	until    time.Time
	untilUTC bool
}

var errRuleShape = errors.New("it is not one day a year")

func parseYearly(text string, start time.Time) (yearlyRule, error) {
	rule := yearlyRule{month: start.Month(), lastYear: 9999}
	for item := range strings.SplitSeq(strings.TrimRight(upper(strings.TrimSpace(text)), ";"), ";") {
		name, value, _ := strings.Cut(item, "=")
		if err := rule.set(name, value, start); err != nil {
			return rule, err
		}
	}
	if rule.byDay && rule.nth == 0 && len(rule.days) == 0 || rule.nth != 0 && len(rule.days) > 0 ||
		!rule.byDay && len(rule.days) > 1 {
		return rule, errRuleShape
	}
	if !rule.byDay && len(rule.days) == 0 {
		rule.days = []int{start.Day()}
	}
	return rule, nil
}

func (r *yearlyRule) set(name, value string, start time.Time) error {
	switch name {
	case "FREQ":
		if value != "YEARLY" {
			return errRuleShape
		}
	case "INTERVAL":
		if value != "1" {
			return errRuleShape
		}
	case "WKST", "BYHOUR", "BYMINUTE", "BYSECOND": // the time of day is that of DTSTART
	case "BYMONTH":
		month, err := strconv.Atoi(value)
		if err != nil || month < 1 || month > 12 {
			return errRuleShape
		}
		r.month = time.Month(month)
	case "BYMONTHDAY":
		for item := range strings.SplitSeq(value, ",") {
			day, err := strconv.Atoi(item)
			if err != nil || day < 1 || day > 31 || len(r.days) == 31 {
				return errRuleShape
			}
			r.days = append(r.days, day)
		}
	case "BYDAY":
		i := slices.Index([]string{"SU", "MO", "TU", "WE", "TH", "FR", "SA"}, value[max(0, len(value)-2):])
		if i < 0 {
			return errRuleShape
		}
		r.byDay, r.weekday = true, time.Weekday(i)
		if number := value[:len(value)-2]; number != "" {
			n, err := strconv.Atoi(number)
			if err != nil || n < -5 || n > 5 || n == 0 {
				return errRuleShape
			}
			r.nth = n
		}
	case "COUNT":
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 || n > 9999 {
			return errRuleShape
		}
		r.lastYear = start.Year() + n - 1
	case "UNTIL":
		return r.setUntil(value)
	default:
		return errRuleShape
	}
	return nil
}

func (r *yearlyRule) setUntil(value string) error {
	if len(value) == len("20060102") {
		value += "T235959"
	}
	until, ok := parseReading(strings.TrimSuffix(value, "Z"))
	if !ok {
		return errRuleShape
	}
	r.until, r.untilUTC = until, strings.HasSuffix(value, "Z")
	r.lastYear = min(r.lastYear, until.Year()+1) // a reading can lie in the year after its instant
	return nil
}

// in returns the onset of a year, at the time of day of the start.
func (r *yearlyRule) in(year int, start time.Time) (time.Time, bool) {
	first := time.Date(year, r.month, 1, start.Hour(), start.Minute(), start.Second(), 0, time.UTC)
	day := 0
	switch {
	case r.nth > 0:
		day = 1 + (int(r.weekday)-int(first.Weekday())+7)%7 + 7*(r.nth-1)
	case r.nth < 0:
		last := first.AddDate(0, 1, -1)
		day = last.Day() - (int(last.Weekday())-int(r.weekday)+7)%7 + 7*(r.nth+1)
	default:
		for _, d := range r.days {
			if !r.byDay || first.AddDate(0, 0, d-1).Weekday() == r.weekday {
				day = d
				break
			}
		}
	}
	onset := first.AddDate(0, 0, day-1)
	return onset, day > 0 && onset.Month() == r.month
}

func (r *yearlyRule) holds(reading time.Time, from time.Duration) bool {
	if r.until.IsZero() {
		return true
	}
	if r.untilUTC {
		reading = reading.Add(-from)
	}
	return !reading.After(r.until)
}
