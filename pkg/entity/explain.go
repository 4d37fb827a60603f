package entity

import (
	"strings"

	"nexus/pkg/item"
)

// timeWanted is the form of a time.
const timeWanted = "must be a time such as 2025-12-15T14:00:00Z (RFC 3339)"

// ExplainTime says why a text is refused as a time: the form that is wanted and, if it can be determined, what differs
// from it.
func ExplainTime(s string) string {
	if why := whyNoTime(s); why != "" {
		return timeWanted + ": " + why
	}
	return timeWanted
}

// whyNoTime reads the text from the left up to the first part that no time has.
func whyNoTime(s string) string {
	if !hasShape(s, "0000-00-00") {
		return ""
	}
	date, rest := s[:len(item.DateLayout)], s[len(item.DateLayout):]
	if _, ok := item.ReadDate(date, false); !ok {
		return noSuchDate(date)
	}
	switch {
	case rest == "":
		return "the time of day is missing"
	case rest[0] == ' ':
		return "between the date and the time of day stands a T, not a space"
	case rest[0] != 'T' || !hasShape(rest[1:], "00:00"):
		return ""
	}
	return whyNoClock(rest[1:])
}

// whyNoClock explains the part after the T.
func whyNoClock(s string) string {
	const clock = "00:00:00"
	if len(s) == len("00:00") || s[len("00:00")] != ':' {
		return "the seconds are missing"
	}
	if !hasShape(s, clock) {
		return ""
	}
	if item.ReadDigits(s, 2) > 23 || item.ReadDigits(s[3:], 2) > 59 || item.ReadDigits(s[6:], 2) > 59 {
		return s[:len(clock)] + " is no time of day"
	}
	offset := s[len(clock):]
	if fraction, ok := strings.CutPrefix(offset, "."); ok {
		offset = strings.TrimLeft(fraction, "0123456789")
	}
	switch {
	case strings.HasPrefix(offset, " "):
		return "there is a space in the place of the offset's sign: a + in a query is written %2B"
	case len(offset) == len("+00:00") && strings.ContainsAny(offset[:1], "+-") && hasShape(offset[1:], "00:00"):
		if item.ReadDigits(offset[1:], 2) > 23 || item.ReadDigits(offset[4:], 2) > 59 {
			return offset + " is no offset"
		}
		return "" // its UTC year has not four digits
	}
	return "the offset is written Z, +01:00 or -01:00"
}

// ExplainOccurrenceDate says why a text does not name an occurrence: the form that is wanted and, for a date in
// another form, that date in the wanted form.
func ExplainOccurrenceDate(s string) string {
	const wanted = "must be the date that the series gives the occurrence, such as 20260303 (YYYYMMDD)"
	compact := strings.ReplaceAll(s, "-", "")
	switch {
	case IsCompactDate(compact):
		return wanted + ": here " + compact
	case len(compact) == len(item.CompactLayout) && hasShape(compact, "00000000"):
		return wanted + ": " + noSuchDate(s)
	}
	return wanted
}

// noSuchDate says that the calendar has no such date; the text has the form of one.
func noSuchDate(date string) string { return date + " is no date of the calendar" }

// hasShape reports whether the text begins like the shape, in which 0 stands for any digit.
func hasShape(s, shape string) bool {
	if len(s) < len(shape) {
		return false
	}
	for i := range len(shape) {
		if shape[i] == '0' && (s[i] < '0' || s[i] > '9') || shape[i] != '0' && s[i] != shape[i] {
			return false
		}
	}
	return true
}
