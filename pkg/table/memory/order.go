package memory

import (
	"slices"
	"sort"
	"strings"

	"nexus/pkg/item"
)

// chunkSize bounds the entries that one insertion may move. An order of a million rows has some thousand chunks, and
// both levels are searched by halving.
const chunkSize = 256

// slot is the place of a row. Every index that lists the row points to it, so a write that changes no index key
// changes no index.
type slot struct {
	key item.Key
	row *row
}

// place is a position in an order: the sort key, and the row's own key, because several rows of an index may share a
// sort key.
type place struct {
	sk  string
	key item.Key
}

func (p place) compare(q place) int {
	if c := strings.Compare(p.sk, q.sk); c != 0 {
		return c
	}
	return p.key.Compare(q.key)
}

type entry struct {
	sk string
	*slot
}

func (e entry) place() place { return place{e.sk, e.key} }

// order is the sorted content of one partition: chunks of entries, none empty. The zero order is empty.
type order struct {
	chunks [][]entry
	size   int
}

// cursor names one entry of an order; it is good until the next insertion or removal.
type cursor struct{ chunk, at int }

// search returns the first entry for which is holds; is must hold for every entry after one for which it holds.
// Without such an entry the cursor is after the last.
func (o *order) search(is func(entry) bool) cursor {
	chunk := sort.Search(len(o.chunks), func(i int) bool {
		c := o.chunks[i]
		return is(c[len(c)-1])
	})
	if chunk == len(o.chunks) {
		return cursor{chunk, 0}
	}
	entries := o.chunks[chunk]
	return cursor{chunk, sort.Search(len(entries), func(i int) bool { return is(entries[i]) })}
}

// locate returns the first entry that is not before the place.
func (o *order) locate(at place) cursor {
	return o.search(func(e entry) bool { return e.place().compare(at) >= 0 })
}

func (o *order) find(at place) *slot {
	if e, ok := o.entry(o.locate(at)); ok && e.place() == at {
		return e.slot
	}
	return nil
}

// entry returns the entry at the cursor; ok is false before the first and after the last.
func (o *order) entry(c cursor) (e entry, ok bool) {
	if c.chunk < 0 || c.chunk >= len(o.chunks) {
		return entry{}, false
	}
	return o.chunks[c.chunk][c.at], true
}

func (o *order) next(c cursor) cursor {
	if c.at++; c.at == len(o.chunks[c.chunk]) {
		return cursor{c.chunk + 1, 0}
	}
	return c
}

func (o *order) previous(c cursor) cursor {
	if c.at > 0 {
		return cursor{c.chunk, c.at - 1}
	}
	if c.chunk == 0 {
		return cursor{-1, 0}
	}
	return cursor{c.chunk - 1, len(o.chunks[c.chunk-1]) - 1}
}

// insert adds an entry whose place is free.
func (o *order) insert(e entry) {
	o.size++
	c := o.locate(e.place())
	if c.chunk == len(o.chunks) {
		if c.chunk == 0 || len(o.chunks[c.chunk-1]) == chunkSize {
			// Rows that arrive in order fill each chunk to the end.
			o.chunks = append(o.chunks, []entry{e})
			return
		}
		c = cursor{c.chunk - 1, len(o.chunks[c.chunk-1])}
	}
	if full := o.chunks[c.chunk]; len(full) == chunkSize {
		o.chunks = slices.Insert(o.chunks, c.chunk+1, slices.Clone(full[chunkSize/2:]))
		clear(full[chunkSize/2:])
		o.chunks[c.chunk] = full[:chunkSize/2]
		if c.at > chunkSize/2 {
			c = cursor{c.chunk + 1, c.at - chunkSize/2}
		}
	}
	o.chunks[c.chunk] = slices.Insert(o.chunks[c.chunk], c.at, e)
}

// remove takes the entry at the place out, if there is one.
func (o *order) remove(at place) {
	c := o.locate(at)
	if e, ok := o.entry(c); !ok || e.place() != at {
		return
	}
	o.size--
	o.chunks[c.chunk] = slices.Delete(o.chunks[c.chunk], c.at, c.at+1)
	o.join(c.chunk)
}

// join prevents small chunks after removals: an empty one is dropped, a small one moves into its neighbour.
func (o *order) join(chunk int) {
	if len(o.chunks[chunk]) == 0 {
		o.chunks = slices.Delete(o.chunks, chunk, chunk+1)
		return
	}
	if chunk > 0 && len(o.chunks[chunk-1])+len(o.chunks[chunk]) <= chunkSize/2 {
		o.chunks[chunk-1] = append(o.chunks[chunk-1], o.chunks[chunk]...)
		o.chunks = slices.Delete(o.chunks, chunk, chunk+1)
	}
}
