package series

import "time"

// RecurrenceID returns the occurrence's original start (RFC 5545 §3.8.4.4), which names it even after a move. It is an
// instant or, in a floating or all-day series, the reading labelled UTC.
func (s *Series) RecurrenceID(o Occurrence) time.Time { return s.recurrenceID(o.Original) }

// Next returns the first occurrence that starts after the instant and that keep accepts. Exceptions count at their new
// time, cancelled ones do not. Of two that start together it returns the one with the earlier date.
func (s *Series) Next(after time.Time, keep func(Occurrence) bool) (Occurrence, bool) {
	var next Occurrence
	found := false
	take := func(o Occurrence) {
		if keep(o) && (!found || compare(o, next) < 0) {
			next, found = o, true
		}
	}
	for date := range s.exceptions {
		if o, ok := s.On(date); ok && o.Start.After(after) && !o.Cancelled() {
			take(o)
		}
	}
	for original, ok := s.rule.Next(after); ok; original, ok = s.rule.Next(original.Start) {
		if found && original.Start.After(next.Start) {
			break
		}
		if o := s.virtual(original); !s.IsException(o.Date) {
			take(o)
		}
	}
	return next, found
}
