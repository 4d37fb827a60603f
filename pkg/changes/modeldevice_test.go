package changes_test

import (
	"maps"
	"slices"
	"time"

	"nexus/pkg/changes/changelog"
)

// modelToken names a row by number and bits, or for a log without rows an instant.
type modelToken struct {
	n  int64
	x  uint64
	at time.Time
}

// modelDevice holds what it has taken in.
type modelDevice struct {
	token *modelToken // nil before the first snapshot, and after a reset
	view  map[string]modelItem
	// A snapshot that is being read.
	begun *modelToken
	left  []string
}

// read takes the device one step further: a part of a snapshot, or what is new.
func (m *model) read(d *modelDevice) {
	if d.token == nil {
		m.snapshot(d)
		return
	}
	rows, lagging := m.rows(), m.pastRows[m.random.IntN(len(m.pastRows))]
	for _, of := range [][]changelog.Row{lagging, rows} { // before a reset once more, consistently
		behind, next, ok := m.follow(*d.token, of)
		if !ok {
			continue
		}
		for _, row := range behind {
			for _, e := range row.Entries {
				m.take(d, e)
			}
		}
		d.token = &next
		return
	}
	*d = modelDevice{}
}

// isOld reports whether a row must not be relied on. Where it is not, numbers without a gap and the mark of first rows
// are a second guard: their mistakes are looked for without the first.
func (m *model) isOld(row changelog.Row) bool {
	return !slices.Contains([]string{oldRowsTrusted, noGapCheck, noFirst}, m.mistake) && row.Old(m.now)
}

// head returns the token of the log as it is. A log whose newest row is old counts as empty.
func (m *model) head() *modelToken {
	if rows := m.rows(); len(rows) > 0 && !m.isOld(rows[len(rows)-1]) {
		newest := rows[len(rows)-1]
		return &modelToken{n: newest.N, x: newest.X}
	}
	return &modelToken{at: m.now}
}

// snapshot reads two items of a snapshot. Its token is that of the log before the first page.
func (m *model) snapshot(d *modelDevice) {
	if d.begun == nil {
		d.begun, d.view, d.left = m.head(), map[string]modelItem{}, slices.Sorted(maps.Keys(m.highest))
		return
	}
	for range min(2, len(d.left)) {
		if it, isThere := m.items[d.left[0]]; isThere {
			d.view[d.left[0]] = it
		}
		d.left = d.left[1:]
	}
	if len(d.left) > 0 {
		return
	}
	if d.token = d.begun; m.mistake == tokenFromTheEnd {
		d.token = m.head()
	}
	d.begun = nil
}

// follow returns the rows behind the token, and the token behind them; not ok if they may lack something.
func (m *model) follow(t modelToken, rows []changelog.Row) (behind []changelog.Row, next modelToken, ok bool) {
	rows = slices.DeleteFunc(slices.Clone(rows), m.isOld)
	next = t
	if t.n == 0 {
		if !m.now.Before(t.at.Add(changelog.Trusted)) && m.mistake != emptyForEver {
			return nil, next, false
		}
	} else {
		i := slices.IndexFunc(rows, func(r changelog.Row) bool { return r.N == t.n })
		if i < 0 || rows[i].X != t.x && m.mistake != numberAlone {
			return nil, next, false
		}
		rows = rows[i+1:]
	}
	for _, row := range rows {
		isNext := row.N == next.n+1 || m.mistake == noGapCheck
		if begins := t.n == 0 && row.N == 1; !isNext || row.First && !begins {
			return nil, next, false
		}
		behind = append(behind, row)
		next = modelToken{n: row.N, x: row.X}
	}
	return behind, next, true
}

// take serves the device the item of an entry as it is now: at least what the entry says (C4).
func (m *model) take(d *modelDevice, e changelog.Entry) {
	it, isThere := m.pastItems[m.random.IntN(len(m.pastItems))][e.ID]
	if !isThere || it.version < e.Version || e.Lapsing && it.ttl.IsZero() {
		if m.mistake != staleItem {
			it, isThere = m.items[e.ID]
		}
	}
	switch held, holds := d.view[e.ID]; {
	case !isThere:
		delete(d.view, e.ID)
	case !holds || it.version >= held.version:
		d.view[e.ID] = it
	}
}

// visible returns what is not past its ttl.
func visible(items map[string]modelItem, now time.Time) map[string]modelItem {
	out := maps.Clone(items)
	maps.DeleteFunc(out, func(_ string, it modelItem) bool { return it.isOver(now) })
	return out
}
