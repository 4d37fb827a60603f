// Package wallclock loads a zone of the zone database by its name. It converts the reading of a wall clock into the
// instant at which the clock shows it, and back.
//
// It promises one reading of RFC 5545 §3.3.5 for the whole product. A time that a spring-forward gap skips is read
// with the offset before the gap, so it moves forward by the gap. A time that a fall-back repeats means the first.
// Half-hour shifts and skipped or repeated days are no special cases. It must never read a clock, know a calendar or a
// rule, or import anything but the standard library.
package wallclock
