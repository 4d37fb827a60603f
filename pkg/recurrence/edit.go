package recurrence

import (
	"time"

	"nexus/pkg/wallclock"
)

// WithCount returns the rule with its end replaced by a count of n occurrences; endless if n is 0. A split of a series
// uses it: the second part gets the rest of the first's COUNT.
func (r Rule) WithCount(n int) Rule {
	r.given &^= partCount | partUntil
	r.count, r.until = n, until{}
	if n != 0 {
		r.given |= partCount
	}
	return r
}

// UntilReading returns the last reading that UNTIL includes, as the clocks in the zone show it; false for a rule
// without one. Without a zone it reads an UNTIL in UTC as a wall-clock reading.
func (r Rule) UntilReading(zone *time.Location) (time.Time, bool) {
	if !r.has(partUntil) {
		return time.Time{}, false
	}
	last := time.Unix(r.until.lastReading(false), 0).UTC()
	if r.until.kind == untilUTC && zone != nil {
		last = wallclock.Latest(last, zone)
	}
	return last, true
}

// WithUntil returns the rule with its end replaced by a reading, in the form of RFC 5545 §3.3.10: a date for whole
// days, an instant in UTC if there is a zone, else a local time. Readings end with the year 9999.
func (r Rule) WithUntil(last time.Time, allDay bool, zone *time.Location) Rule {
	at := max(firstWall, min(last.Unix(), finalWall))
	switch {
	case allDay:
		return r.endedBy(until{untilDate, alignDown(at, 0, daySeconds)})
	case zone == nil:
		return r.endedBy(until{untilLocal, at})
	}
	return r.WithUntilInstant(wallclock.Resolve(time.Unix(at, 0), zone))
}

// WithUntilInstant returns the rule of a series with a zone, with its end replaced by an instant.
func (r Rule) WithUntilInstant(last time.Time) Rule {
	return r.endedBy(until{untilUTC, max(firstWall, min(last.Unix(), finalWall))})
}

func (r Rule) endedBy(end until) Rule {
	r = r.WithCount(0)
	r.given |= partUntil
	r.until = end
	return r
}

// WithKind returns the rule with its UNTIL in the form that RFC 5545 §3.3.10 requires: see [Rule.WithUntil]. An UNTIL
// in this form stays unchanged to the second.
func (r Rule) WithKind(allDay bool, zone *time.Location) Rule {
	last, ends := r.UntilReading(zone)
	switch {
	case !ends, allDay && r.until.kind == untilDate, !allDay && zone != nil && r.until.kind == untilUTC:
		return r
	}
	return r.WithUntil(last, allDay, zone)
}

// Gives reports whether the rule gives the start of a series that starts at the reading. It ignores COUNT and UNTIL,
// and takes parts that the rule leaves out from that start.
func (r Rule) Gives(start time.Time) bool {
	s, problem := begin(Spec{Start: start}, &r)
	if problem != nil {
		return false
	}
	first, end := s.nth(1)
	return end == found && first == s.origin()
}

// Counted returns how many occurrences with a reading before the one given COUNT has counted: including excluded ones,
// and without those of RDATE. For a rule without COUNT it returns [MaxCount] at most.
func (s *Series) Counted(before time.Time) int {
	reading, n := seconds(before), s.unfit
	if s.clock.start >= reading {
		return 0
	}
	steps := budget(maxSteps)
	count := func(int64) bool { n++; return n < MaxCount }
	if s.elapsed {
		s.eachElapsed(s.instant, min(s.zone.Instant(reading)-1, s.lastInstant), nil, &steps, func(m moment) bool {
			return count(m.reading)
		})
	} else {
		s.clock.between(s.clock.start, min(reading-1, s.lastReading), nil, &steps, count)
	}
	return n
}
