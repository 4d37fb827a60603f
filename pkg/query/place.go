package query

import (
	"cmp"
	"time"

	"nexus/pkg/item"
)

// place is the position of an entry in the agenda's order. A place with an empty id precedes all entries of its start.
type place struct {
	start time.Time
	id    string
}

func (p place) compare(other place) int {
	if order := p.start.Compare(other.start); order != 0 { // nearly always
		return order
	}
	return cmp.Compare(p.id, other.id)
}

func (p place) encode(w window) string {
	return cursor{Start: item.FormatInstant(p.start), ID: p.id, Zone: w.own}.encode(w.question)
}

// known says which part of the answer is certain: all of it, or all entries up to and including through.
type known struct {
	complete bool
	through  place
}

func (k *known) limit(to place) {
	if k.complete || to.compare(k.through) < 0 {
		*k = known{through: to}
	}
}

func (k known) covers(p place) bool { return k.complete || p.compare(k.through) <= 0 }

// compareEntries orders the agenda. Of two entries at one place, the one that the item itself defines counts.
func compareEntries(a, b *Entry) int {
	if order := a.place().compare(b.place()); order != 0 {
		return order
	}
	return cmp.Or(compareFlags(a.Virtual, b.Virtual), cmp.Compare(a.Date, b.Date))
}

func compareFlags(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
