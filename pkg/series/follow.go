package series

import (
	"slices"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/recurrence"
)

// Follow returns the rule and the end (rruleUntil) that a series must have after its start moves. It derives them from
// the shape before; after has the new start. A field that the change sets itself is named in sent and taken from
// after. The end is zero for a series without one. docs/series.md, "Rule and end follow the start", is the promise.
//
// If the start does not move, or a start or the rule is not valid, Follow returns the rule and end of before.
func Follow(before, after item.Item, sent ...string) (rule string, end time.Time) {
	rule = before.Str(product.AttrRRule)
	end, ends := before.Time(product.AttrRRuleUntil)
	ruleSent := slices.Contains(sent, product.AttrRRule)
	if m, ok := moveOf(before, after, ruleSent); ok {
		rule = m.followingRule().String()
		if ends {
			if end = m.instant(m.end(m.reading(end))); end.After(entity.LastInstant()) {
				end = entity.LastInstant()
			}
		}
	}
	if ruleSent {
		rule = after.Str(product.AttrRRule)
	}
	if slices.Contains(sent, product.AttrRRuleUntil) {
		end, _ = after.Time(product.AttrRRuleUntil)
	}
	return rule, end
}

// followingRule returns the rule of the moved series, with its UNTIL.
func (m *move) followingRule() recurrence.Rule {
	until, ends := m.old.UntilReading(m.from.zone)
	if !ends {
		return m.new
	}
	if m.from.allDay {
		until = dateOf(until)
	}
	return m.new.WithUntil(m.end(until), m.to.allDay, m.to.zone)
}

// end returns the position of an end after the move. Both are readings of the clocks in the zone of their start.
func (m *move) end(at time.Time) time.Time {
	near, far := m.shift(at, 0), m.shift(at, dateOf(m.to.reading).Sub(dateOf(m.from.reading)))
	switch {
	case m.along(at):
		return near
	case m.ruleSent:
		return far
	case !m.new.Gives(m.to.reading) && m.new.NamesDays() && !m.to.reading.After(near):
		return near
	}
	return m.keepNumber(at, far)
}

// shift moves an end by whole days and by the change of the time of day. A later time of day moves no end into the
// next day: an occurrence on the end's own day stays included.
func (m *move) shift(at time.Time, days time.Duration) time.Time {
	at = at.Add(days)
	moved := at.Add(timeOfDay(m.to.reading) - timeOfDay(m.from.reading))
	if lastSecond := dateOf(at).Add(24*time.Hour - time.Second); moved.After(lastSecond) {
		return lastSecond
	}
	return moved
}

// along reports whether the start only moves along the series up to the end: its date is one that the old rule gives.
func (m *move) along(end time.Time) bool {
	if dateOf(m.from.reading).Equal(dateOf(m.to.reading)) {
		return true
	}
	old, err := m.from.upTo(m.old, end)
	if err != nil {
		return false
	}
	_, ok := old.On(m.to.reading)
	return ok
}

// keepNumber returns an end that preserves the number of occurrences up to the old end. It may differ from an end
// moved as far as the start.
func (m *move) keepNumber(at, far time.Time) time.Time {
	old, err := m.from.upTo(m.old, at)
	if err != nil {
		return far
	}
	number := old.Count(forever, recurrence.MaxCount)
	moved, err := m.to.upTo(m.new, far)
	if err != nil || number == 0 || number == recurrence.MaxCount || moved.Count(forever, number+1) == number {
		return far
	}
	counted, err := m.to.compile(m.new.WithCount(number), time.Time{})
	if err != nil {
		return far
	}
	last, ok := counted.Last()
	if !ok {
		return far
	}
	return last.Wall
}
