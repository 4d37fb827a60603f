package ical

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// observance is one STANDARD or DAYLIGHT of a VTIMEZONE (RFC 5545 §3.6.5). From each of its onsets on, clocks have
// another offset from UTC.
type observance struct {
	from, to time.Duration
	start    time.Time // the first onset, a reading by the offset before it
	rules    []yearlyRule
	dates    []time.Time // more onsets, readings
}

// offsetSpan is the offset from UTC from an instant on.
type offsetSpan struct {
	start  time.Time
	offset time.Duration
}

// readZone reads a VTIMEZONE.
func readZone(c *Component) ([]observance, error) {
	var list []observance
	for _, child := range c.Children {
		if child.Name != "STANDARD" && child.Name != "DAYLIGHT" {
			continue
		}
		o, err := readObservance(child)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", child.Name, err)
		}
		list = append(list, o)
	}
	if len(list) == 0 {
		return nil, errors.New("it has neither STANDARD nor DAYLIGHT")
	}
	return list, nil
}

func readObservance(c *Component) (o observance, err error) {
	if len(c.Faults) > 0 {
		return o, fmt.Errorf("line %d: %s", c.Faults[0].Line, c.Faults[0].Reason)
	}
	if o.from, err = parseOffset(c.Value("TZOFFSETFROM")); err != nil {
		return o, fmt.Errorf("TZOFFSETFROM: %w", err)
	}
	if o.to, err = parseOffset(c.Value("TZOFFSETTO")); err != nil {
		return o, fmt.Errorf("TZOFFSETTO: %w", err)
	}
	var ok bool
	if o.start, ok = parseReading(c.Value("DTSTART")); !ok {
		return o, errors.New("DTSTART is no local time")
	}
	for _, p := range c.All("RRULE") {
		rule, err := parseYearly(p.Value, o.start)
		if err != nil {
			return o, fmt.Errorf("RRULE: %w", err)
		}
		o.rules = append(o.rules, rule)
	}
	for _, p := range c.All("RDATE") {
		for item := range strings.SplitSeq(p.Value, ",") {
			item, _, _ = strings.Cut(strings.TrimSpace(item), "/")
			reading, ok := parseReading(strings.TrimSuffix(item, "Z"))
			if !ok {
				return o, fmt.Errorf("RDATE %q is no local time", clip(item))
			}
			if strings.HasSuffix(item, "Z") {
				reading = reading.Add(o.from)
			}
			o.dates = append(o.dates, reading)
		}
	}
	return o, nil
}

// parseOffset reads +0100 or -075258 (RFC 5545 §3.3.14).
func parseOffset(s string) (time.Duration, error) {
	bad := fmt.Errorf("%q is no offset such as +0100", clip(s))
	if len(s) != 5 && len(s) != 7 || s[0] != '+' && s[0] != '-' {
		return 0, bad
	}
	n, err := strconv.ParseUint(s[1:], 10, 32)
	if err != nil {
		return 0, bad
	}
	if len(s) == 5 {
		n *= 100
	}
	offset := time.Duration(n/10000)*time.Hour + time.Duration(n/100%100)*time.Minute + time.Duration(n%100)*time.Second
	if s[0] == '-' {
		offset = -offset
	}
	return offset, nil
}

// formatOffset is the inverse of [parseOffset].
func formatOffset(d time.Duration) string {
	sign := '+'
	if d < 0 {
		sign, d = '-', -d
	}
	seconds := int(d / time.Second)
	text := fmt.Sprintf("%c%02d%02d", sign, seconds/3600, seconds/60%60)
	if seconds%60 != 0 {
		text += fmt.Sprintf("%02d", seconds%60)
	}
	return text
}

// spans returns the offsets in force from the beginning of one year to the end of another, the first at that beginning.
// Equal neighbours are one.
func spans(list []observance, fromYear, toYear int) []offsetSpan {
	begin := time.Date(fromYear, 1, 1, 0, 0, 0, 0, time.UTC)
	end := time.Date(toYear+1, 1, 1, 0, 0, 0, 0, time.UTC)
	var onsets []offsetSpan
	earliest := list[0]
	for _, o := range list {
		if o.start.Before(earliest.start) {
			earliest = o
		}
		onsets = o.appendOnsets(onsets, fromYear, toYear)
	}
	slices.SortStableFunc(onsets, func(a, b offsetSpan) int { return a.start.Compare(b.start) })
	result := []offsetSpan{{begin, earliest.from}}
	for _, onset := range onsets {
		last := &result[len(result)-1]
		switch {
		case !onset.start.After(begin):
			last.offset = onset.offset
		case onset.start.Before(end) && onset.offset != last.offset:
			result = append(result, onset)
		}
	}
	return result
}

// appendOnsets adds the onsets that decide the offsets in those years: all dates, and those of the rules from the
// previous year on, or their last before it.
func (o *observance) appendOnsets(onsets []offsetSpan, fromYear, toYear int) []offsetSpan {
	add := func(reading time.Time) { onsets = append(onsets, offsetSpan{reading.Add(-o.from), o.to}) }
	add(o.start)
	for _, reading := range o.dates {
		add(reading)
	}
	for _, rule := range o.rules {
		last := min(toYear, rule.lastYear)
		for year := max(o.start.Year(), min(fromYear, last)-2); year <= last; year++ {
			reading, ok := rule.in(year, o.start)
			if ok && !reading.Before(o.start) && rule.holds(reading, o.from) {
				add(reading)
			}
		}
	}
	return onsets
}
