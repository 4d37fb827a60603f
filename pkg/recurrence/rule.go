package recurrence

// Frequency is the value of FREQ. Longer periods are greater.
type Frequency uint8

// The seven frequencies of RFC 5545 §3.3.10.
const (
	Secondly Frequency = 1 + iota
	Minutely
	Hourly
	Daily
	Weekly
	Monthly
	Yearly
)

// unitSeconds is the length of a period of less than a day.
func (f Frequency) unitSeconds() int64 {
	switch f {
	case Secondly:
		return 1
	case Minutely:
		return 60
	case Hourly:
		return 3600
	}
	return daySeconds
}

// part is a name before an equals sign.
type part uint16

const (
	partFreq part = 1 << iota
	partInterval
	partCount
	partUntil
	partWeekStart
	partMonth
	partWeekNo
	partYearDay
	partMonthDay
	partDay
	partHour
	partMinute
	partSecond
	partSetPos
)

const (
	timeParts = partHour | partMinute | partSecond
	dayParts  = partWeekNo | partYearDay | partMonthDay | partDay
)

// ordinals is a set of numbers from 1 to 366, one bit each: days of a year, positions in a set.
type ordinals [6]uint64

func (o *ordinals) add(n int)      { o[(n-1)>>6] |= 1 << ((n - 1) & 63) }
func (o *ordinals) has(n int) bool { return n >= 1 && n <= 366 && o[(n-1)>>6]>>((n-1)&63)&1 == 1 }

// slice returns 31 members from number n+1 on as bits.
func (o *ordinals) slice(n int) uint32 {
	word, shift := n>>6, n&63
	if word >= len(o) {
		return 0
	}
	found := o[word] >> shift
	if shift > 0 && word+1 < len(o) {
		found |= o[word+1] << (64 - shift)
	}
	return uint32(found) & (1<<31 - 1)
}

// Rule is a recurrence rule, parsed and normalised: lists are sets. Two rules are equal (==) if they have the same
// values in the same parts.
//
// Bit n-1 of a set represents the number n, and in a set whose name ends in Back -n; hours, minutes and seconds count
// from bit 0.
type Rule struct {
	freq          Frequency
	given         part // the parts that the rule has
	weekBegins    uint8
	interval      int64
	count         int
	until         until
	months        uint16
	monthDays     uint32
	monthDaysBack uint32
	weeks         uint64
	weeksBack     uint64
	yearDays      ordinals
	yearDaysBack  ordinals
	// weekdays are those without a number; nth[n-1] holds the weekdays with n, nthBack[n-1] those with -n.
	weekdays      uint8
	numbered      bool
	nth           [53]uint8
	nthBack       [53]uint8
	hours         uint32
	minutes       uint64
	seconds       uint64
	positions     ordinals
	positionsBack ordinals
}

// Frequency returns the value of FREQ.
func (r Rule) Frequency() Frequency { return r.freq }

// Count returns COUNT, or 0 if the rule has none.
func (r Rule) Count() int { return r.count }

// Finite reports whether the rule itself has an end.
func (r Rule) Finite() bool { return r.given&(partCount|partUntil) != 0 }

func (r *Rule) has(p part) bool { return r.given&p != 0 }

// complete returns the rule with its missing parts taken from DTSTART. RFC 5545 §3.3.10: "Information, not contained
// in the rule, necessary to determine the various recurrence instance start time and dates".
func (r Rule) complete(start int64, allDay bool) Rule {
	day := dayOfReading(start)
	_, month, dayOfMonth := civil(day)
	switch r.freq {
	case Yearly:
		// The month is taken if the rule names a day of a month and no month. The weekday is taken if it names a week and no
		// day of it.
		onlyDays := r.given&dayParts == partMonthDay
		switch {
		case r.given&dayParts == 0:
			r.monthDays = 1 << (dayOfMonth - 1)
			if !r.has(partMonth) {
				r.months = 1 << (month - 1)
			}
		case onlyDays && !r.has(partMonth):
			r.months = 1 << (month - 1)
		case r.given&dayParts == partWeekNo:
			r.weekdays = 1 << weekdayOf(day)
		}
	case Monthly:
		if r.given&dayParts == 0 {
			r.monthDays = 1 << (dayOfMonth - 1)
		}
	case Weekly:
		if r.given&dayParts == 0 {
			r.weekdays = 1 << weekdayOf(day)
		}
	}
	if allDay { // RFC 5545 §3.3.10: the three parts are ignored if DTSTART is a date
		r.given &^= timeParts
		r.hours, r.minutes, r.seconds = 0, 0, 0
	}
	return r.completeTime(start)
}

// completeTime fills in the times of day that the rule leaves to DTSTART. A part that is finer than the frequency's
// period is taken from DTSTART; a coarser one limits nothing.
func (r Rule) completeTime(start int64) Rule {
	ofDay := timeOfReading(start)
	if !r.has(partHour) {
		r.hours = 1<<24 - 1
		if r.freq > Hourly {
			r.hours = 1 << (ofDay / 3600)
		}
	}
	if !r.has(partMinute) {
		r.minutes = 1<<60 - 1
		if r.freq > Minutely {
			r.minutes = 1 << (ofDay / 60 % 60)
		}
	}
	if !r.has(partSecond) {
		r.seconds = 1<<60 - 1
		if r.freq > Secondly {
			r.seconds = 1 << (ofDay % 60)
		}
	}
	return r
}

// rotate turns a set of weekdays so that bit 0 represents the weekday given.
func rotate(weekdays uint8, first int) uint32 {
	return (uint32(weekdays)>>first | uint32(weekdays)<<(7-first)) & 0x7f
}
