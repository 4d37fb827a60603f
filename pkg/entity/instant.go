package entity

import (
	"fmt"
	"time"
)

// instantLayout is the stored form of every instant: UTC in whole seconds, always 20 characters, so that text order is
// time order (docs/data-model.md).
const instantLayout = "2006-01-02T15:04:05Z"

// Forever sorts after every instant a client can send; it ends what has no end.
const Forever = "9999-12-31T23:59:59Z"

// FormatInstant returns t in the stored form; a fraction of a second is cut off.
func FormatInstant(t time.Time) string { return t.UTC().Format(instantLayout) }

// ParseInstant reads the stored form and nothing else.
func ParseInstant(s string) (time.Time, error) {
	if len(s) != len(instantLayout) {
		return time.Time{}, fmt.Errorf("instant %q: want the form %s", s, instantLayout)
	}
	return time.Parse(instantLayout, s)
}

// dateLayout is the stored form of a calendar date (RFC 3339 full-date).
const dateLayout = "2006-01-02"

// ParseDate reads a calendar date as midnight UTC.
func ParseDate(s string) (time.Time, error) { return time.Parse(dateLayout, s) }

// FormatDate returns the calendar date of t as it stands in t's own location.
func FormatDate(t time.Time) string { return t.Format(dateLayout) }

// Resolve turns a wall-clock reading (labelled UTC) into the instant at which a clock in the zone shows it. A reading
// that a spring-forward gap skips is read with the offset before the gap, so it moves forward by the gap; one that a
// fall-back repeats means the first (RFC 5545 §3.3.5).
func Resolve(wall time.Time, zone *time.Location) time.Time {
	wall = wall.UTC()
	var before time.Duration
	// Walk the zone's spans of constant offset in time order, from one that surely begins before the answer. The first
	// whose end the reading does not pass holds the earliest answer, or begins after the reading: then it lies in the gap.
	for span := wall.Add(-36 * time.Hour).In(zone); ; {
		start, end := span.ZoneBounds()
		offset := offsetAt(span, zone)
		instant := wall.Add(-offset)
		if end.IsZero() || instant.Before(end) {
			if instant.Before(start) {
				instant = wall.Add(-before)
			}
			return instant
		}
		before, span = offset, end
	}
}

func offsetAt(t time.Time, zone *time.Location) time.Duration {
	_, seconds := t.In(zone).Zone()
	return time.Duration(seconds) * time.Second
}

// Wall returns what a clock in the zone shows at the instant, labelled UTC: the inverse of [Resolve] wherever the
// reading is not repeated.
func Wall(instant time.Time, zone *time.Location) time.Time {
	return instant.UTC().Add(offsetAt(instant, zone))
}
