package recurrence

import (
	"strings"

	"nexus/pkg/text"
)

// Bounds in addition to those of RFC 5545.
const (
	// MaxCount is the largest COUNT.
	MaxCount = 10_000
	// MaxRuleLength is the longest text of a rule, in bytes.
	MaxRuleLength = 8192
	// maxIntervalYears is the longest step between two periods, in years.
	maxIntervalYears = 1000
)

// Parse reads a recurrence rule (RFC 5545 §3.3.10) with any frequency. It accepts common deviations with one meaning:
// a trailing semicolon, lower case, white space around the rule, the property's name before it, a value twice in a
// list. A [*Refusal] names the part that is unknown, out of range or in contradiction with another.
func Parse(text string) (Rule, error) {
	r := Rule{interval: 1}
	if len(text) > MaxRuleLength {
		return Rule{}, refuse("RRULE", "is longer than %d characters", MaxRuleLength)
	}
	text = strings.ToUpper(strings.TrimSpace(text))
	text = strings.TrimPrefix(text, "RRULE:")
	text = strings.TrimRight(text, ";")
	for rest, more := text, true; more; {
		var item string
		item, rest, more = strings.Cut(rest, ";")
		name, value, ok := strings.Cut(item, "=")
		if !ok {
			return Rule{}, refuse("RRULE", "%q is not of the form NAME=value", clip(item))
		}
		if problem := r.set(name, value); problem != nil {
			return Rule{}, problem
		}
	}
	if problem := r.check(); problem != nil {
		return Rule{}, problem
	}
	return r, nil
}

// clip keeps a message short for any input.
func clip(s string) string { return text.Clip(s, 40) }

func partOf(name string) part {
	switch name {
	case "FREQ":
		return partFreq
	case "INTERVAL":
		return partInterval
	case "COUNT":
		return partCount
	case "UNTIL":
		return partUntil
	case "WKST":
		return partWeekStart
	case "BYMONTH":
		return partMonth
	case "BYWEEKNO":
		return partWeekNo
	case "BYYEARDAY":
		return partYearDay
	case "BYMONTHDAY":
		return partMonthDay
	case "BYDAY":
		return partDay
	case "BYHOUR":
		return partHour
	case "BYMINUTE":
		return partMinute
	case "BYSECOND":
		return partSecond
	case "BYSETPOS":
		return partSetPos
	}
	return 0
}

// set reads one part into the rule.
func (r *Rule) set(name, value string) *Refusal {
	p := partOf(name)
	switch {
	case p == 0:
		return refuse(clip(name), "is not a part of a rule that is known here")
	case r.has(p):
		return refuse(name, "stands twice (RFC 5545 §3.3.10)")
	}
	r.given |= p
	switch p {
	case partFreq:
		return r.setFreq(value)
	case partInterval:
		n, ok := number(value, 1, 1<<40)
		r.interval = int64(n)
		return unless(ok, name, value, "a whole number from 1")
	case partCount:
		n, ok := number(value, 1, MaxCount)
		r.count = n
		return unless(ok, name, value, "a whole number from 1 to 10000")
	case partUntil:
		s, ok := parseStamp(value)
		r.until = s
		return unless(ok, name, value, "a date (20251231) or a date and time (20251231T235959Z)")
	case partWeekStart:
		day, ok := weekdayNamed(value)
		r.weekBegins = uint8(day)
		return unless(ok, name, value, "one of MO, TU, WE, TH, FR, SA, SU")
	}
	return r.setList(p, name, value)
}

func (r *Rule) setFreq(value string) *Refusal {
	switch value {
	case "SECONDLY":
		r.freq = Secondly
	case "MINUTELY":
		r.freq = Minutely
	case "HOURLY":
		r.freq = Hourly
	case "DAILY":
		r.freq = Daily
	case "WEEKLY":
		r.freq = Weekly
	case "MONTHLY":
		r.freq = Monthly
	case "YEARLY":
		r.freq = Yearly
	default:
		const inCalendar = "DAILY, WEEKLY, MONTHLY, YEARLY"
		unknown := refuse("FREQ", "%q is not one of SECONDLY, MINUTELY, HOURLY, "+inCalendar, clip(value))
		unknown.inCalendar = refuse("FREQ", "%q is not one of "+inCalendar, clip(value)).Reason
		return unknown
	}
	return nil
}

// setList reads the comma-separated values of a BY part.
func (r *Rule) setList(p part, name, value string) *Refusal {
	for rest, more := value, true; more; {
		var item string
		item, rest, more = strings.Cut(rest, ",")
		var ok bool
		var want string
		n := 0
		switch p {
		case partMonth:
			n, ok = number(item, 1, 12)
			r.months |= 1 << (n - 1)
			want = "a month from 1 to 12"
		case partWeekNo:
			want, ok = "a week from 1 to 53 or -53 to -1", setBits(item, 53, &r.weeks, &r.weeksBack)
		case partMonthDay:
			var ahead, back uint64
			want, ok = "a day from 1 to 31 or -31 to -1", setBits(item, 31, &ahead, &back)
			r.monthDays, r.monthDaysBack = r.monthDays|uint32(ahead), r.monthDaysBack|uint32(back)
		case partYearDay:
			want, ok = "a day from 1 to 366 or -366 to -1", setOrdinal(item, &r.yearDays, &r.yearDaysBack)
		case partSetPos:
			want, ok = "a position from 1 to 366 or -366 to -1", setOrdinal(item, &r.positions, &r.positionsBack)
		case partDay:
			want, ok = "a weekday such as MO, 2TU or -1FR", r.addWeekday(item)
		case partHour:
			n, ok = number(item, 0, 23)
			r.hours |= 1 << n
			want = "an hour from 0 to 23"
		case partMinute:
			n, ok = number(item, 0, 59)
			r.minutes |= 1 << n
			want = "a minute from 0 to 59"
		case partSecond:
			n, ok = number(item, 0, 60)
			r.seconds |= 1 << min(n, 59) // RFC 5545 §3.3.12: a system without leap seconds reads 60 as 59
			want = "a second from 0 to 60"
		}
		if !ok {
			return unless(false, name, item, want)
		}
	}
	return nil
}

func unless(ok bool, name, value, want string) *Refusal {
	if ok {
		return nil
	}
	return refuse(name, "%q is not %s", clip(value), want)
}

// number reads a number without a sign, in range; 1 on failure, so that the caller may shift by it.
func number(s string, from, to int) (int, bool) {
	if len(s) == 0 || len(s) > 13 {
		return 1, false
	}
	n, ok := digits(s)
	if !ok || n < from || n > to {
		return 1, false
	}
	return n, true
}

// signed reads a number that may have a sign, and is neither 0 nor beyond the limit either way.
func signed(s string, limit int) (n int, ok bool) {
	back := false
	if len(s) > 0 && (s[0] == '+' || s[0] == '-') {
		back, s = s[0] == '-', s[1:]
	}
	n, ok = number(s, 1, limit)
	if back {
		n = -n
	}
	return n, ok
}

func setBits(s string, limit int, ahead, back *uint64) bool {
	n, ok := signed(s, limit)
	switch {
	case !ok:
		return false
	case n > 0:
		*ahead |= 1 << (n - 1)
	default:
		*back |= 1 << (-n - 1)
	}
	return true
}

func setOrdinal(s string, ahead, back *ordinals) bool {
	n, ok := signed(s, 366)
	switch {
	case !ok:
		return false
	case n > 0:
		ahead.add(n)
	default:
		back.add(-n)
	}
	return true
}

func (r *Rule) addWeekday(s string) bool {
	if len(s) < 2 {
		return false
	}
	ordinal, name := s[:len(s)-2], s[len(s)-2:]
	day, ok := weekdayNamed(name)
	if !ok || ordinal == "" {
		r.weekdays |= uint8(1 << day)
		return ok
	}
	n, ok := signed(ordinal, 53)
	switch {
	case !ok:
		return false
	case n > 0:
		r.nth[n-1] |= 1 << day
	default:
		r.nthBack[-n-1] |= 1 << day
	}
	r.numbered = true
	return true
}

const weekdayNames = "MOTUWETHFRSASU"

func weekdayNamed(s string) (int, bool) {
	if len(s) == 2 {
		for day := range 7 {
			if weekdayNames[2*day:2*day+2] == s {
				return day, true
			}
		}
	}
	return 0, false
}
