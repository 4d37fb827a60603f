package memory

import (
	"context"
	"fmt"
	"maps"

	"nexus/pkg/item"
	"nexus/pkg/table"
)

// action is one member of a write, checked and in the table's form: exactly one of put, set or remove, erase, or none
// of them for a check.
type action struct {
	key    item.Key
	when   table.Condition
	put    *row
	set    item.Item
	remove []string
	erase  bool
}

// edit is the effect of an action on its row; old and new are the same if there is none.
type edit struct {
	at       *slot // nil if there is no row
	key      item.Key
	old, new *row
}

// kind describes how the service carries a write: the cost of the table's part, and the largest size of its rows
// together.
type kind struct {
	op       string
	factor   float64
	maxBytes int
}

func oneRow(op string) kind { return kind{op, 1, table.MaxItemBytes} }
func transaction() kind     { return kind{"Transact", 2, 4 << 20} }
func unconditionally() kind { return kind{"Load", 1, 16 << 20} }

// write applies the actions, all or none, and returns the resulting rows. It computes what they cost if anybody hears.
func (s *Store) write(ctx context.Context, w kind, actions []action) (table.Consumption, []edit, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	usage := table.Consumption{Op: w.op}
	edits, err := s.plan(actions, w.maxBytes)
	if s.observe.IsHeard(ctx) {
		for _, e := range edits {
			s.charge(&usage, e, w.factor)
		}
	}
	if err != nil {
		return usage, nil, err
	}
	for _, e := range edits {
		s.commit(e, false)
	}
	usage.Rows = len(actions)
	return usage, edits, nil
}

// plan computes the effect of the actions on the present rows, and changes nothing. If a condition fails, the returned
// edits leave every row unchanged; the attempt is charged for them.
func (s *Store) plan(actions []action, maxBytes int) ([]edit, error) {
	edits := make([]edit, len(actions))
	var failures []table.Failure
	bytes := 0
	for i, a := range actions {
		c := &edits[i]
		c.key = a.key
		if c.at = s.base.find(a.key); c.at != nil {
			c.old, c.new = c.at.row, c.at.row
		}
		if !holds(a.when, c.old) {
			failures = append(failures, table.Failure{Index: i, Old: c.old.image()})
		}
	}
	if failures != nil {
		return edits, &table.ConditionError{Failures: failures}
	}
	for i, a := range actions {
		var err error
		if edits[i].new, err = s.outcome(a, edits[i].old); err != nil {
			return nil, fmt.Errorf("action %d on %s: %w", i, clip(a.key.String()), err)
		}
		bytes += size(edits[i].new)
	}
	if bytes > maxBytes {
		return nil, fmt.Errorf("%w: %d bytes in one write, at most %d", table.ErrInvalid, bytes, maxBytes)
	}
	return edits, nil
}

// outcome returns the row that the action leaves: old itself if nothing changes, because a write that changes nothing
// has no record in the stream and costs the indexes nothing.
func (s *Store) outcome(a action, old *row) (*row, error) {
	switch {
	case a.erase:
		return nil, nil
	case a.put != nil:
		if old != nil && old.size == a.put.size && old.item.Equal(a.put.item) {
			return old, nil
		}
		return a.put, nil
	case a.set == nil && a.remove == nil:
		return old, nil
	case old != nil && !a.alters(old):
		return old, nil
	}
	item := a.key.Item()
	if old != nil {
		item = maps.Clone(old.item)
	}
	maps.Copy(item, a.set)
	for _, name := range a.remove {
		delete(item, name)
	}
	return s.newRow(item)
}

// alters reports whether an update would change anything of the row.
func (a action) alters(old *row) bool {
	for name, v := range a.set {
		if !item.Equal(old.item[name], v) {
			return true
		}
	}
	for _, name := range a.remove {
		if old.item.Has(name) {
			return true
		}
	}
	return false
}

// commit makes the change: table, indexes, expiry and stream, in one piece under the store's lock.
func (s *Store) commit(c edit, expired bool) {
	if c.old == c.new {
		return
	}
	at := c.at
	switch {
	case at == nil:
		at = &slot{key: c.key, row: c.new}
		s.base.insert(c.key.PK, entry{c.key.SK, at})
	case c.new == nil:
		s.base.remove(c.key.PK, place{c.key.SK, c.key})
	}
	for i, index := range s.schema.Indexes {
		was, wasIn := indexed(index, c.old)
		is, isIn := indexed(index, c.new)
		if was == is {
			continue
		}
		if wasIn {
			s.indexes[i].remove(was.PK, place{was.SK, c.key})
		}
		if isIn {
			s.indexes[i].insert(is.PK, entry{is.SK, at})
		}
	}
	s.moveExpiry(c, at)
	at.row = c.new
	s.feed.append(c, expired)
}

// indexed returns the key under which the index lists the row; ok is false for a row that it does not list, because one
// of the index's key attributes is absent.
func indexed(index table.IndexSchema, r *row) (key item.Key, ok bool) {
	if r == nil {
		return item.Key{}, false
	}
	key = item.Key{PK: r.item.Str(index.PK), SK: r.item.Str(index.SK)}
	if key.PK == "" || key.SK == "" {
		return item.Key{}, false
	}
	return key, true
}
