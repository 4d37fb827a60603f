package item

import (
	"fmt"
	"time"

	"nexus/pkg/wallclock"
)

// instantLayout is the stored form of every instant: UTC in whole seconds, always 20 characters, so that text order is
// time order (docs/data-model.md).
const instantLayout = "2006-01-02T15:04:05Z"

// Forever sorts after every instant a client can send. It is the stored end of entities without an end.
const Forever = "9999-12-31T23:59:59Z"

// FormatInstant returns t in the stored form; a fraction of a second is cut off.
func FormatInstant(t time.Time) string {
	var room [len(instantLayout)]byte
	return string(AppendInstant(room[:0], t))
}

// AppendInstant is [FormatInstant] for text that is being put together.
func AppendInstant(dst []byte, t time.Time) []byte {
	if t = t.UTC(); !hasFourDigits(t.Year()) {
		return t.AppendFormat(dst, instantLayout)
	}
	dst = append(appendDate(dst, t, "-"), 'T')
	hour, minute, second := t.Clock()
	dst = append(AppendDigits(dst, hour, 2), ':')
	dst = append(AppendDigits(dst, minute, 2), ':')
	return append(AppendDigits(dst, second, 2), 'Z')
}

// ParseInstant reads the stored form and nothing else.
func ParseInstant(s string) (time.Time, error) {
	t, ok := readInstant(s)
	if !ok {
		return time.Time{}, fmt.Errorf("instant %q: want the form %s", s, instantLayout)
	}
	return t, nil
}

// DateLayout is the stored form of a calendar date (RFC 3339 full-date).
const DateLayout = "2006-01-02"

// ParseDate reads a calendar date as midnight UTC.
func ParseDate(s string) (time.Time, error) {
	t, ok := ReadDate(s, false)
	if !ok {
		return time.Time{}, fmt.Errorf("date %q: want the form %s", s, DateLayout)
	}
	return t, nil
}

// FormatDate returns the calendar date of t in t's own location.
func FormatDate(t time.Time) string {
	if !hasFourDigits(t.Year()) {
		return t.Format(DateLayout)
	}
	var room [len(DateLayout)]byte
	return string(appendDate(room[:0], t, "-"))
}

// Resolve turns a wall-clock reading (labelled UTC) into the instant at which a clock in the zone shows it, as package
// wallclock reads RFC 5545 §3.3.5: a skipped reading moves forward by the gap, a repeated one means the first.
func Resolve(wall time.Time, zone *time.Location) time.Time { return wallclock.Resolve(wall, zone) }

// Wall returns the reading of a clock in the zone at the instant, labelled UTC. It is the inverse of [Resolve] for
// readings that are not repeated.
func Wall(instant time.Time, zone *time.Location) time.Time { return wallclock.Wall(instant, zone) }

// LatestWall returns the last reading that a clock in the zone has shown by the instant. A range that ends at the
// instant includes it.
func LatestWall(instant time.Time, zone *time.Location) time.Time {
	return wallclock.Latest(instant, zone)
}

// CompactLayout is the form of a date in an occurrence's key, and in exdate and rdate (RFC 5545 §3.3.4).
const CompactLayout = "20060102"

// CompactDate returns the date of a reading as keys, exdate and rdate have it: YYYYMMDD.
func CompactDate(reading time.Time) string {
	if !hasFourDigits(reading.Year()) {
		return reading.Format(CompactLayout)
	}
	var room [len(CompactLayout)]byte
	return string(appendDate(room[:0], reading, ""))
}

// ParseCompactDate is the inverse of [CompactDate].
func ParseCompactDate(s string) (time.Time, error) {
	t, ok := ReadDate(s, true)
	if !ok {
		return time.Time{}, fmt.Errorf("date %q: want the form %s", s, CompactLayout)
	}
	return t, nil
}
