package ical

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"nexus/pkg/wallclock"
)

// spoken records that a malformed name was read as that of a zone.
func (z *zoneMap) spoken(id, name string) string {
	z.notes = append(z.notes, fmt.Sprintf("the zone %q is read as %s", clip(id), name))
	return name
}

// offsetNamed reads a name that is an offset of whole hours, such as GMT+0200 or UTC-5.
func offsetNamed(id string) (string, bool) {
	rest := strings.TrimPrefix(strings.TrimPrefix(upper(id), "GMT"), "UTC")
	seconds, ok := spokenOffset(rest)
	if !ok {
		return "", false
	}
	return fixedZone([]offsetSpan{{offset: seconds}})
}

// spokenOffset reads +2, +02, +0200 and +02:00.
func spokenOffset(text string) (time.Duration, bool) {
	if text == "" || text[0] != '+' && text[0] != '-' {
		return 0, false
	}
	digits := strings.Replace(text[1:], ":", "", 1)
	if len(digits) < 3 {
		digits += "00"
	}
	n, err := strconv.ParseUint(digits, 10, 16)
	if err != nil || len(digits) > 4 || n%100 > 59 || n/100 > 14 {
		return 0, false
	}
	offset := time.Duration(n/100)*time.Hour + time.Duration(n%100)*time.Minute
	if text[0] == '-' {
		offset = -offset
	}
	return offset, true
}

// displayNamed reads the name under which Windows shows a zone, such as (UTC+01:00) Amsterdam, Berlin, Bern. It
// returns the zone of the first of its cities that the zone database has at this offset, or the Windows zone that it
// names.
func displayNamed(id string) (string, bool) {
	head, rest, ok := strings.Cut(id, ")")
	prefix, isDisplay := strings.CutPrefix(upper(head), "(")
	if !ok || !isDisplay || !strings.HasPrefix(prefix, "UTC") && !strings.HasPrefix(prefix, "GMT") {
		return "", false
	}
	offset := time.Duration(0)
	if prefix = prefix[len("UTC"):]; prefix != "" {
		if offset, ok = spokenOffset(prefix); !ok {
			return "", false
		}
	}
	rest = strings.TrimSpace(rest)
	name, _, _ := strings.Cut(rest, " (") // Pacific Time (US & Canada)
	for _, form := range []string{rest, name, strings.TrimSuffix(name, " Time") + " Standard Time"} {
		if zone, ok := wallclock.WindowsZone(form); ok && hasOffset(zone, offset) {
			return zone, true
		}
		if zone, ok := zoneAliases[strings.ToLower(form)]; ok && hasOffset(zone, offset) {
			return zone, true
		}
	}
	for city := range strings.SplitSeq(rest, ",") {
		for _, region := range []string{"Europe", "Asia", "America", "Africa", "Australia", "Pacific", "Atlantic", "Indian"} {
			zone := region + "/" + strings.ReplaceAll(strings.TrimSpace(city), " ", "_")
			if hasOffset(zone, offset) {
				return zone, true
			}
		}
	}
	return "", false
}

// hasOffset reports whether the zone has the offset for a part of the year.
func hasOffset(name string, offset time.Duration) bool {
	for _, span := range zoneSpans(name, aroundAnyUse) {
		if span.offset == offset {
			return true
		}
	}
	return false
}
