package recurrence

import "errors"

// check refuses contradictions between the parts.
func (r *Rule) check() *Refusal {
	switch {
	case !r.has(partFreq):
		return refuse("FREQ", "is missing")
	case r.has(partCount) && r.has(partUntil):
		return refuse("COUNT", "must not stand together with UNTIL (RFC 5545 §3.3.10)")
	case r.interval > r.maxInterval():
		return refuse("INTERVAL", "is more than %d years", maxIntervalYears)
	case r.numbered && r.freq != Monthly && r.freq != Yearly:
		return refuse("BYDAY", "must not have a number unless FREQ is MONTHLY or YEARLY (RFC 5545 §3.3.10)")
	case r.numbered && r.freq == Yearly && r.has(partWeekNo):
		return refuse("BYDAY", "must not have a number together with BYWEEKNO (RFC 5545 §3.3.10)")
	case r.has(partWeekNo) && r.freq != Yearly:
		return refuse("BYWEEKNO", "must not be used unless FREQ is YEARLY (RFC 5545 §3.3.10)")
	case r.has(partYearDay) && r.freq >= Daily && r.freq <= Monthly:
		return refuse("BYYEARDAY", "must not be used when FREQ is DAILY, WEEKLY or MONTHLY (RFC 5545 §3.3.10)")
	}
	return nil
}

func (r *Rule) maxInterval() int64 {
	switch r.freq {
	case Yearly:
		return maxIntervalYears
	case Monthly:
		return maxIntervalYears * 12
	case Weekly:
		return maxIntervalYears * cycleDays / 400 / 7
	}
	return maxIntervalYears * cycleDays / 400 * daySeconds / r.freq.unitSeconds()
}

// Check checks a rule at this level, for any series: it returns nil or a [*Refusal].
func (l Level) Check(rule string) error {
	_, err := l.parse(rule)
	return err
}

func (l Level) parse(text string) (Rule, error) {
	rule, err := Parse(text)
	if err != nil {
		return rule, atLevel(l, err)
	}
	if l != Calendar {
		return rule, nil
	}
	if problem := rule.checkCalendar(); problem != nil {
		return rule, problem
	}
	return rule, nil
}

// atLevel returns the error with the reason for the level.
func atLevel(l Level, err error) error {
	var refused *Refusal
	if errors.As(err, &refused) {
		return refused.at(l)
	}
	return err
}

// checkCalendar refuses what could give two occurrences on one local day: in a calendar a date names one occurrence.
func (r *Rule) checkCalendar() *Refusal {
	switch {
	case r.freq < Daily:
		return refuse("FREQ", "must be DAILY, WEEKLY, MONTHLY or YEARLY in a calendar: at most one occurrence a day")
	case r.has(partHour):
		return refuse("BYHOUR", "must not be used in a calendar: the time of day is that of the start")
	case r.has(partMinute):
		return refuse("BYMINUTE", "must not be used in a calendar: the time of day is that of the start")
	case r.has(partSecond):
		return refuse("BYSECOND", "must not be used in a calendar: the time of day is that of the start")
	}
	return nil
}
