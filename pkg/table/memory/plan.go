package memory

import (
	"fmt"
	"slices"
	"strings"

	"nexus/pkg/item"
	"nexus/pkg/table"
)

// maxTags bounds the filter: an item has no more tags than this.
const maxTags = 50

// queryPlan is a checked query.
type queryPlan struct {
	index      table.IndexSchema // for the table itself, its own keys
	which      int               // position of the index in the schema, -1 for the table
	partition  string
	prefix     string
	from, to   string
	tags       string // the attribute that anyTag filters by
	anyTag     []string
	anyTagOr   string
	limit      int
	descending bool
	consistent bool
	start      place
	started    bool
}

func (s *Store) planQuery(q table.Query) (queryPlan, error) {
	refused := func(format string, args ...any) (queryPlan, error) {
		return queryPlan{}, fmt.Errorf("%w: "+format, append([]any{table.ErrInvalid}, args...)...)
	}
	index, known := s.schema.Index(q.Index)
	switch {
	case !known:
		return refused("no index %q", clip(string(q.Index)))
	case q.Partition == "":
		return refused("no partition")
	case q.Limit < 0:
		return refused("limit %d", q.Limit)
	case len(q.AnyTag) > maxTags:
		return refused("%d tags asked for, at most %d", len(q.AnyTag), maxTags)
	case index.KeysOnly && len(q.AnyTag) > 0:
		return refused("a filter by tags, which index %s does not have", q.Index)
	case q.Range.Prefix != "" && (q.Range.From != "" || q.Range.To != ""):
		return refused("a range of both prefix and bounds")
	case q.Range.To != "" && q.Range.From > q.Range.To:
		return refused("a range that ends before it begins")
	}
	p := queryPlan{
		index: index, which: -1, partition: q.Partition,
		prefix: q.Range.Prefix, from: q.Range.From, to: q.Range.To,
		tags: s.schema.Tags, anyTag: slices.Clone(q.AnyTag), anyTagOr: q.AnyTagOr, limit: q.Limit, descending: q.Descending,
		consistent: q.Index == table.Base && !q.Eventual,
	}
	if q.Index != table.Base {
		p.which = slices.IndexFunc(s.schema.Indexes, func(i table.IndexSchema) bool { return i.Name == q.Index })
	}
	if len(q.Start) == 0 {
		return p, nil
	}
	var err error
	p.start, err = p.placeAt(item.Item(q.Start))
	p.started = true
	return p, err
}

// keyAttributes returns the names of the table's keys and the index's.
func keyAttributes(index table.IndexSchema) []string {
	if index.PK == item.AttrPK {
		return []string{item.AttrPK, item.AttrSK}
	}
	return []string{item.AttrPK, item.AttrSK, index.PK, index.SK}
}

// placeAt reads a position: exactly the key attributes, of this partition and range.
func (p queryPlan) placeAt(position item.Item) (place, error) {
	names := keyAttributes(p.index)
	for _, name := range names {
		if position.Str(name) == "" {
			return place{}, fmt.Errorf("%w: position without %s", table.ErrInvalid, name)
		}
	}
	if len(position) != len(names) {
		return place{}, fmt.Errorf("%w: position with %d attributes, want %d", table.ErrInvalid, len(position), len(names))
	}
	if position.Str(p.index.PK) != p.partition {
		return place{}, fmt.Errorf("%w: position in another partition", table.ErrInvalid)
	}
	sk := position.Str(p.index.SK)
	if !strings.HasPrefix(sk, p.prefix) || sk < p.from || (p.to != "" && sk > p.to) {
		return place{}, fmt.Errorf("%w: position outside the range", table.ErrInvalid)
	}
	return place{sk, position.Key()}, nil
}

// positionOf is the inverse of placeAt.
func (p queryPlan) positionOf(at place) item.Item {
	position := at.key.Item()
	position[p.index.PK] = item.String(p.partition)
	position[p.index.SK] = item.String(at.sk)
	return position
}

// first returns the cursor at which the page begins.
func (p queryPlan) first(rows *order) cursor {
	switch {
	case p.descending && p.started:
		return rows.previous(rows.locate(p.start))
	case p.descending:
		return rows.previous(rows.search(func(e entry) bool { return p.above(e.sk) }))
	case p.started:
		return rows.search(func(e entry) bool { return e.place().compare(p.start) > 0 })
	}
	lower := max(p.prefix, p.from)
	return rows.search(func(e entry) bool { return e.sk >= lower })
}

// above reports whether the sort key is after the range.
func (p queryPlan) above(sk string) bool {
	if p.prefix != "" {
		return sk > p.prefix && !strings.HasPrefix(sk, p.prefix)
	}
	return p.to != "" && sk > p.to
}

// beyond reports whether the entry ends the range in the query's direction.
func (p queryPlan) beyond(e entry) bool {
	if p.descending {
		return e.sk < max(p.prefix, p.from)
	}
	return p.above(e.sk)
}
