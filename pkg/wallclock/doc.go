// Package wallclock turns what a clock on the wall shows into the instant it shows it at, and back, for any zone of the
// zone database.
//
// It promises one reading of RFC 5545 §3.3.5 for the whole product: a time that a spring-forward gap skips is read with
// the offset before the gap and so moves forward by the gap; a time that a fall-back repeats means the first. Half-hour
// shifts and skipped or repeated days are no special cases. It knows no clock, no calendar and no rule, and imports
// nothing but the standard library.
package wallclock
