package series

import (
	"time"

	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/recurrence"
	"nexus/pkg/wallclock"
)

// origin is the start of a series.
type origin struct {
	reading time.Time      // the wall-clock reading; midnight of whole days
	zone    *time.Location // nil for a floating or all-day series
	allDay  bool
}

// originOf reads the start of a series; false if it is not valid.
func originOf(it item.Item) (origin, bool) {
	o := origin{reading: product.EventSpan(it).Start, allDay: it.Bool(product.AttrIsAllDay)}
	if o.reading.IsZero() {
		return origin{}, false
	}
	if name := it.Str(product.AttrStartTzid); name != "" && !o.allDay {
		zone, err := wallclock.LoadLocation(name)
		if err != nil {
			return origin{}, false
		}
		o.reading, o.zone = item.Wall(o.reading, zone), zone
	}
	return o, true
}

// StartDate returns the local date YYYYMMDD that a series gives its start.
func StartDate(master item.Item) string {
	start, _ := originOf(master)
	return item.CompactDate(start.reading)
}

// compile returns the occurrences of a rule from the start on, which is one of them, up to an instant; a zero instant
// means no end.
func (o origin) compile(rule recurrence.Rule, until time.Time) (*recurrence.Series, error) {
	return recurrence.Compile(recurrence.Spec{
		Rule: rule.String(), Start: o.reading, AllDay: o.allDay, Zone: o.zone, Until: until,
		WithStart: true, Level: recurrence.Calendar,
	})
}

// upTo compiles the rule with a reading as its end, which replaces its own.
func (o origin) upTo(rule recurrence.Rule, end time.Time) (*recurrence.Series, error) {
	return o.compile(rule.WithCount(0), o.instant(end))
}

// instant returns the reading in its stored form: an instant, or without a zone the reading itself.
func (o origin) instant(reading time.Time) time.Time {
	if o.zone == nil {
		return reading
	}
	return item.Resolve(reading, o.zone)
}

// move describes a move of a series' start, with the rule before and after it.
type move struct {
	from, to origin
	old, new recurrence.Rule
	ruleSent bool
}

// moveOf compares two shapes of a series. It returns false if the start stays, or one of the shapes is not valid. The
// new rule is that of the shape after only if the change sets it.
func moveOf(before, after item.Item, ruleSent bool) (move, bool) {
	m := move{ruleSent: ruleSent}
	var known, valid bool
	m.from, known = originOf(before)
	m.to, valid = originOf(after)
	old, err := recurrence.Parse(before.Str(product.AttrRRule))
	if !known || !valid || err != nil || m.stays() {
		return move{}, false
	}
	m.old, m.new = old, old.Moved(m.from.reading, m.to.reading)
	if ruleSent {
		m.new, err = recurrence.Parse(after.Str(product.AttrRRule))
	}
	return m, err == nil
}

func (m *move) stays() bool {
	return m.from.reading.Equal(m.to.reading) && m.from.zone == m.to.zone && m.from.allDay == m.to.allDay
}

// reading returns an end of the old series as its clocks show it.
func (m *move) reading(end time.Time) time.Time {
	if m.from.zone == nil {
		return end
	}
	return item.LatestWall(end, m.from.zone)
}

// instant returns an end of the moved series in its stored form.
func (m *move) instant(reading time.Time) time.Time { return m.to.instant(reading) }

func timeOfDay(t time.Time) time.Duration { return t.Sub(dateOf(t)) }

func dateOf(t time.Time) time.Time { return t.Truncate(24 * time.Hour) }

// forever is after every occurrence.
var forever = time.Date(10000, 1, 2, 0, 0, 0, 0, time.UTC)
