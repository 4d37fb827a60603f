package recurrence

import (
	"sort"
	"time"

	"nexus/pkg/wallclock"
)

// First returns the first occurrence; none if EXDATE or the series' end leaves none.
func (s *Series) First() (Occurrence, bool) {
	return s.next(firstWall - 2*wallclock.Reach)
}

// Next returns the first occurrence that starts after the instant.
func (s *Series) Next(after time.Time) (Occurrence, bool) {
	return s.next(seconds(after.Add(1)))
}

func (s *Series) next(first int64) (Occurrence, bool) {
	var found moment
	ok := false
	steps := budget(maxSteps)
	s.each(first, wallclock.Ever, &steps, func(m moment) bool {
		found, ok = m, true
		return false
	})
	return found.occurrence(), ok
}

// Previous returns the last occurrence that starts before the instant.
func (s *Series) Previous(before time.Time) (Occurrence, bool) {
	return s.previous(seconds(before) - 1)
}

// Last returns the last occurrence of a series that ends; false if it is endless, or has none.
func (s *Series) Last() (Occurrence, bool) {
	if s.endless {
		return Occurrence{}, false
	}
	return s.previous(finalWall + wallclock.Reach)
}

func (s *Series) previous(last int64) (Occurrence, bool) {
	steps := budget(maxSteps)
	found, ok := s.latestOfRule(last, &steps)
	if i := sort.Search(len(s.extra), func(i int) bool { return s.extra[i].instant > last }); i > 0 &&
		(!ok || s.extra[i-1].instant > found.instant) {
		return s.extra[i-1].occurrence(), true
	}
	return found.occurrence(), ok
}

// On returns the first occurrence whose date is that of the day: the occurrence that RECURRENCE-ID and EXDATE name by
// that date.
func (s *Series) On(day time.Time) (Occurrence, bool) {
	midnight := alignDown(day.Unix(), 0, daySeconds)
	first, last := midnight, midnight+daySeconds-1
	if s.zone != nil {
		first, last = first-wallclock.Reach, last+wallclock.Reach
	}
	var found moment
	ok := false
	steps := budget(maxSteps)
	s.each(first, last, &steps, func(m moment) bool {
		found, ok = m, int64(dayOfReading(m.reading))*daySeconds == midnight
		return !ok
	})
	return found.occurrence(), ok
}

// Count returns how many occurrences start before the instant, up to the limit: a series may have very many.
func (s *Series) Count(before time.Time, limit int) int {
	n := 0
	steps := budget(maxSteps)
	if limit > 0 {
		s.each(firstWall-2*wallclock.Reach, seconds(before)-1, &steps, func(moment) bool {
			n++
			return n < limit
		})
	}
	return n
}
