package series

import (
	"time"

	"nexus/pkg/entity"
)

// move is how the start of a series is moved.
type move struct {
	from, to    time.Time // readings
	here, there *time.Location
	by          time.Duration // how far an end goes with it, by the clock
}

// moveOf compares two shapes of a series; false if the start stays, or one of them is not valid.
func moveOf(before, after entity.Item) (move, bool) {
	m := move{}
	var known, valid bool
	m.from, m.here, known = startReading(before)
	m.to, m.there, valid = startReading(after)
	if !known || !valid || m.from.Equal(m.to) && before.Str(entity.AttrStartTzid) == after.Str(entity.AttrStartTzid) {
		return move{}, false
	}
	m.by = m.to.Sub(m.from)
	if rule, err := entity.CompileMaster(before); err == nil {
		if _, along := rule.On(m.to); along {
			m.by = timeOfDay(m.to) - timeOfDay(m.from)
		}
	}
	return m, true
}

func timeOfDay(t time.Time) time.Duration { return t.Sub(t.Truncate(24 * time.Hour)) }

// startReading is the start as the clocks at its place show it, with the place; nil for a series that floats.
func startReading(it entity.Item) (time.Time, *time.Location, bool) {
	start := entity.EventSpan(it).Start
	name := it.Str(entity.AttrStartTzid)
	if name == "" {
		return start, nil, !start.IsZero()
	}
	zone, err := entity.LoadZone(name)
	if err != nil || start.IsZero() {
		return time.Time{}, nil, false
	}
	return entity.Wall(start, zone), zone, true
}

// StartDate returns the local date YYYYMMDD that a series gives its start.
func StartDate(master entity.Item) string {
	start, _, _ := startReading(master)
	return entity.CompactDate(start)
}

// end moves an end: an instant, or of a series that floats a reading. One that comes to a zone, or leaves its, is another
// thing then, which its user has to say anew.
func (m move) end(at time.Time) time.Time {
	switch {
	case (m.here == nil) != (m.there == nil):
		return at
	case m.here == nil:
		return at.Add(m.by)
	}
	return entity.Resolve(entity.Wall(at, m.here).Add(m.by), m.there)
}

// Forms of UNTIL (RFC 5545 §3.3.4, §3.3.5).
const (
	untilInstant = "20060102T150405Z"
	untilReading = "20060102T150405"
)

// until moves an UNTIL.
func (m move) until(text string) string {
	if day, err := entity.ParseCompactDate(text); err == nil {
		days := (m.by - timeOfDay(m.to) + timeOfDay(m.from)).Round(24 * time.Hour)
		return entity.CompactDate(day.Add(days))
	}
	if at, err := time.Parse(untilReading, text); err == nil {
		return at.Add(m.by).Format(untilReading)
	}
	if at, err := time.Parse(untilInstant, text); err == nil {
		return m.end(at).UTC().Format(untilInstant)
	}
	return text
}
