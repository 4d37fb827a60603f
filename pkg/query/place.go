package query

import (
	"cmp"
	"time"

	"nexus/pkg/entity"
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
	return cursor{Start: entity.FormatInstant(p.start), ID: p.id}.encode(q)
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

// maxPageBytes ends a page of an answer whose items are large.
const maxPageBytes = 1 << 20

// weigh returns about how many bytes an item has.
func weigh(it entity.Item) int {
	total := 0
	for name, v := range it {
		total += len(name) + weighValue(v)
	}
	return total
}

func weighValue(v entity.Value) int {
	const each = 4 // quotes and a separator
	total := each
	switch v := v.(type) {
	case entity.String:
		total += len(v)
	case entity.Number:
		total += len(v)
	case entity.StringSet:
		for _, m := range v {
			total += len(m) + each
		}
	case entity.NumberSet:
		for _, m := range v {
			total += len(m) + each
		}
	case entity.List:
		for _, m := range v {
			total += weighValue(m)
		}
	case entity.Map:
		total += weigh(entity.Item(v))
	}
	return total
}
