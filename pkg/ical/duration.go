package ical

import (
	"fmt"
	"strings"
	"time"
)

// Duration is a length of time (RFC 5545 §3.3.6). Days and weeks are days of the calendar, 23 or 25 hours long at a
// change of the clocks; hours, minutes and seconds are exact. All parts have the same sign.
type Duration struct {
	Days  int
	Exact time.Duration
}

// maxDurationDays bounds a duration in both directions: more than the years that are accepted.
const maxDurationDays = 400 * 366

// ParseDuration reads a DURATION such as P1DT2H, -PT15M or P2W. It also accepts weeks together with smaller units, and
// no unit at all (P, PT), which programs write for zero.
func ParseDuration(text string) (Duration, error) {
	s := upper(strings.TrimSpace(text))
	negative := strings.HasPrefix(s, "-")
	if negative || strings.HasPrefix(s, "+") {
		s = s[1:]
	}
	body, ok := strings.CutPrefix(s, "P")
	date, clock, _ := strings.Cut(body, "T")
	days, okDays := sumUnits(date, "WD", []int64{7, 1})
	seconds, okClock := sumUnits(clock, "HMS", []int64{3600, 60, 1})
	switch {
	case !ok || !okDays || !okClock:
		return Duration{}, fmt.Errorf("%q is no duration such as P1D or -PT15M", clip(text))
	case days > maxDurationDays || seconds > maxDurationDays*86400:
		return Duration{}, fmt.Errorf("the duration %q is too long", clip(text))
	}
	if negative {
		days, seconds = -days, -seconds
	}
	return Duration{int(days), time.Duration(seconds) * time.Second}, nil
}

// sumUnits adds up numbers with their units, which come in the order given and once each.
func sumUnits(s, units string, worth []int64) (sum int64, ok bool) {
	next := 0
	for s != "" {
		n, unit, rest := leadingNumber(s)
		i := strings.IndexByte(units, unit)
		if n < 0 || i < next {
			return 0, false
		}
		sum, next, s = sum+n*worth[i], i+1, rest
	}
	return sum, true
}

// leadingNumber reads digits and the letter after them; n is -1 if there is no number, or one that is far too great.
func leadingNumber(s string) (n int64, unit byte, rest string) {
	i := 0
	for i < len(s) && '0' <= s[i] && s[i] <= '9' {
		n = n*10 + int64(s[i]-'0')
		i++
		if i > 12 {
			return -1, 0, ""
		}
	}
	if i == 0 || i == len(s) {
		return -1, 0, ""
	}
	return n, s[i], s[i+1:]
}

// String writes the duration as a DURATION value.
func (d Duration) String() string {
	sign := ""
	if d.Days < 0 || d.Exact < 0 {
		sign, d = "-", Duration{-d.Days, -d.Exact}
	}
	seconds := int64(d.Exact / time.Second)
	text := sign + "P"
	if d.Days > 0 || seconds == 0 {
		if seconds == 0 && d.Days == 0 {
			return sign + "PT0S"
		}
		text += fmt.Sprintf("%dD", d.Days)
	}
	if seconds == 0 {
		return text
	}
	text += "T"
	for _, unit := range []struct {
		seconds int64
		letter  byte
	}{{3600, 'H'}, {60, 'M'}, {1, 'S'}} {
		if n := seconds / unit.seconds; n > 0 {
			text += fmt.Sprintf("%d%c", n, unit.letter)
			seconds -= n * unit.seconds
		}
	}
	return text
}
