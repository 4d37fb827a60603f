package recurrence

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"nexus/pkg/wallclock"
)

// Occurrence is one occurrence of a series.
type Occurrence struct {
	// Wall is the rule's wall-clock reading, labelled UTC, which EXDATE, RDATE and RECURRENCE-ID name. Its date is the
	// occurrence's date.
	Wall time.Time
	// Start is the instant at which it starts. Without a zone it equals Wall.
	Start time.Time
}

func (m moment) occurrence() Occurrence {
	return Occurrence{Wall: time.Unix(m.reading, 0).UTC(), Start: time.Unix(m.instant, 0).UTC()}
}

// appendMoment appends in place, so that the hot loop copies nothing.
func appendMoment(dst []Occurrence, reading, instant int64) []Occurrence {
	dst = append(dst, Occurrence{})
	o := &dst[len(dst)-1]
	o.Wall = time.Unix(reading, 0).UTC()
	o.Start = time.Unix(instant, 0).UTC()
	return dst
}

// Endless reports whether the series has no end.
func (s *Series) Endless() bool { return s.endless }

// Between appends to dst the occurrences that start in [from, to), in order, and returns it. A calendar's series has
// at most one a day; for one that may have more, a caller can stop [Series.Each] early.
func (s *Series) Between(dst []Occurrence, from, to time.Time) []Occurrence {
	first, last := seconds(from), seconds(to)-1
	if offset, ok := s.constant(first, last); ok && s.clock.single() && !s.anyExtra(first, last) {
		return s.single(dst, first, min(last, s.lastInstant), offset)
	}
	steps := budget(maxSteps)
	s.each(first, last, &steps, func(m moment) bool {
		dst = append(dst, m.occurrence())
		return true
	})
	return dst
}

// anyExtra reports whether one of the extra readings falls between the instants.
func (s *Series) anyExtra(first, last int64) bool {
	if len(s.extra) == 0 {
		return false
	}
	i, _ := slices.BinarySearchFunc(s.extra, first, func(m moment, at int64) int { return cmp.Compare(m.instant, at) })
	return i < len(s.extra) && s.extra[i].instant <= last
}

// constant returns the offset that holds throughout the instants and around them, if there is one.
func (s *Series) constant(first, last int64) (offset int64, ok bool) {
	if s.zone == nil {
		return 0, true
	}
	span := s.zone.At(first)
	return span.Offset, first >= span.Start+wallclock.Reach && last < span.End-wallclock.Reach
}

// single does what Between does for a rule with one time of day, the same every day, where one offset holds.
func (s *Series) single(dst []Occurrence, first, last, offset int64) []Occurrence {
	ofDay := s.clock.time
	shift := ofDay - offset // from a day's midnight, as a reading, to the instant
	first = max(first-shift, s.clock.start-ofDay)
	last = min(last-shift, s.lastReading-ofDay)
	var days cursor
	days.seek(&s.clock.days, dayOfReading(first+daySeconds-1), dayOfReading(last))
	for day, ok := days.day(); ok; day, ok = days.day() {
		if len(s.exDays) > 0 && isAmong(s.exDays, day) {
			continue
		}
		midnight := int64(day) * daySeconds
		if len(s.exTimes) == 0 || !s.excludedTime(midnight+ofDay) {
			dst = appendMoment(dst, midnight+ofDay, midnight+shift)
		}
	}
	return dst
}

// Overlapping appends to dst the occurrences of that length that overlap [from, to): they start before to and end
// after from, or start in [from, to).
func (s *Series) Overlapping(dst []Occurrence, from, to time.Time, length time.Duration) []Occurrence {
	if length <= 0 {
		return s.Between(dst, from, to)
	}
	return s.Between(dst, from.Add(-length+1), to)
}

// Each returns the occurrences that start in [from, to), in order. A zero to is no limit. For a rule of less than a
// day whose occurrences are decades apart it may return the first ones only; [Series.List] reports that.
func (s *Series) Each(from, to time.Time) iter.Seq[Occurrence] {
	return func(yield func(Occurrence) bool) {
		steps := budget(maxSteps)
		s.each(seconds(from), lastSecond(to), &steps, func(m moment) bool { return yield(m.occurrence()) })
	}
}

// List returns the first occurrences, up to the limit, that start in [from, to). A zero to is no limit. It returns
// [ErrTooRare] if there may be more of them.
func (s *Series) List(from, to time.Time, limit int) ([]Occurrence, error) {
	var all []Occurrence
	if limit <= 0 {
		return all, nil
	}
	steps := budget(maxSteps)
	s.each(seconds(from), lastSecond(to), &steps, func(m moment) bool {
		all = append(all, m.occurrence())
		return len(all) < limit
	})
	if len(all) < limit && steps <= 0 {
		return nil, ErrTooRare
	}
	return all, nil
}

// lastSecond returns the last second before to, or one after everything if that is zero.
func lastSecond(to time.Time) int64 {
	if to.IsZero() {
		return wallclock.Ever
	}
	return seconds(to) - 1
}

// each yields all occurrences from the first instant to the last.
func (s *Series) each(first, last int64, b *budget, yield func(moment) bool) bool {
	extra := s.extra
	for len(extra) > 0 && extra[0].instant < first {
		extra = extra[1:]
	}
	more := s.eachOfRule(first, last, b, func(m moment) bool {
		for len(extra) > 0 && extra[0].instant <= m.instant {
			if extra[0].instant < m.instant && !yield(extra[0]) {
				return false
			}
			extra = extra[1:]
		}
		return yield(m)
	})
	for more && len(extra) > 0 && extra[0].instant <= last {
		more = yield(extra[0])
		extra = extra[1:]
	}
	return more
}

// seconds returns the first whole second that is not before t, within what a series can reach.
func seconds(t time.Time) int64 {
	at := t.Unix()
	if t.Nanosecond() > 0 {
		at++
	}
	return max(firstWall-2*wallclock.Reach, min(at, finalWall+2*wallclock.Reach))
}
