package query

import (
	"cmp"
	"time"

	"nexus/pkg/item"
)

// place is where an entry stands in the agenda's order. One with an empty id stands before all entries of its start.
type place struct {
	start time.Time
	id    string
}

func (p place) compare(other place) int {
	return cmp.Or(p.start.Compare(other.start), cmp.Compare(p.id, other.id))
}

func (p place) encode(q question) string {
	return cursor{Start: item.FormatInstant(p.start), ID: p.id}.encode(q)
}

// known says how much of the answer is certain: all of it, or all entries up to and with through.
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

// compareEntries is the agenda's order. Of two that have one place, the one that the item itself speaks about counts.
func compareEntries(a, b *Entry) int {
	return cmp.Or(a.place.compare(b.place), compareFlags(a.Virtual, b.Virtual), cmp.Compare(a.Date, b.Date))
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
