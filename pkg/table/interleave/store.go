package interleave

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"nexus/pkg/item"
	"nexus/pkg/table"
)

// Store is a worker's view of the store: each call waits for its turn.
type Store struct {
	store table.Store
	lane  *lane
}

// call is a step that a worker is about to take.
type call struct {
	op     string
	keys   []item.Key
	writes bool
	under  item.Key // it reads the rows of a partition whose sort keys begin with this prefix; none if it is empty
	all    bool     // it reads or writes rows that are not named
}

func (c call) String() string {
	names := make([]string, len(c.keys))
	for i, key := range c.keys {
		names[i] = key.SK
	}
	return strings.TrimSpace(c.op + " " + strings.Join(names, " "))
}

// commutes reports whether the order of two calls makes no difference to the store or to either worker.
func (c call) commutes(other call) bool {
	if !c.writes && !other.writes {
		return true
	}
	if c.all || other.all {
		return false
	}
	return !slices.ContainsFunc(c.keys, other.touches) && !slices.ContainsFunc(other.keys, c.touches)
}

func (c call) touches(key item.Key) bool {
	isUnder := c.under.PK == key.PK && strings.HasPrefix(key.SK, c.under.SK)
	return isUnder || slices.Contains(c.keys, key)
}

// queryOf returns a query as a step. A query of the table itself with a prefix reads only the rows under it.
func queryOf(op string, q table.Query) call {
	c := call{op: op + " " + q.Range.Prefix, under: item.Key{PK: q.Partition, SK: q.Range.Prefix}}
	c.all = q.Index != table.Base
	return c
}

// step waits for the call's turn and carries it out.
func (s *Store) step(c call, act func() error) error {
	switch s.lane.wait(c) {
	case Death:
		_ = act() // the worker is dead, so the answer does not matter
		runtime.Goexit()
	case Lost:
		if err := act(); err != nil {
			return err // nothing was carried out, so the answer makes no difference
		}
		return fmt.Errorf("lost: %w", table.ErrUnavailable)
	case Refused:
		return fmt.Errorf("refused: %w", table.ErrUnavailable)
	case None:
	}
	return act()
}

// Do runs a step that is no call of the store. It is ordered before or after every other step. A moving clock is such
// a step.
func (s *Store) Do(name string, act func()) {
	_ = s.Call(name, func() error { act(); return nil })
}

// Call runs a step that writes to something outside the store, with the same faults. It depends on the calls with the
// same keys, which no other part uses; without keys, on all calls.
func (s *Store) Call(name string, act func() error, on ...item.Key) error {
	return s.step(call{op: name, keys: on, writes: true, all: len(on) == 0}, act)
}

// Get implements [table.Reader].
func (s *Store) Get(ctx context.Context, key item.Key) (it item.Item, err error) {
	err = s.step(call{op: "Get", keys: []item.Key{key}},
		func() (err error) { it, err = s.store.Get(ctx, key); return err })
	return it, err
}

// BatchGet implements [table.Reader].
func (s *Store) BatchGet(ctx context.Context, keys []item.Key) (rows []item.Item, err error) {
	err = s.step(call{op: "BatchGet", keys: keys},
		func() (err error) { rows, err = s.store.BatchGet(ctx, keys); return err })
	return rows, err
}

// Peek implements [table.Reader].
func (s *Store) Peek(ctx context.Context, keys []item.Key) (rows []item.Item, err error) {
	err = s.step(call{op: "Peek", keys: keys},
		func() (err error) { rows, err = s.store.Peek(ctx, keys); return err })
	return rows, err
}

// Query implements [table.Reader].
func (s *Store) Query(ctx context.Context, q table.Query) (page table.Page, err error) {
	err = s.step(queryOf("Query", q), func() (err error) { page, err = s.store.Query(ctx, q); return err })
	return page, err
}

// Count implements [table.Reader].
func (s *Store) Count(ctx context.Context, q table.Query) (n int, err error) {
	err = s.step(queryOf("Count", q), func() (err error) { n, err = s.store.Count(ctx, q); return err })
	return n, err
}

// Put implements [table.Writer].
func (s *Store) Put(ctx context.Context, p table.Put) error {
	return s.step(writeOf("Put", p), func() error { return s.store.Put(ctx, p) })
}

// Update implements [table.Writer].
func (s *Store) Update(ctx context.Context, u table.Update) (it item.Item, err error) {
	err = s.step(writeOf("Update", u), func() (err error) { it, err = s.store.Update(ctx, u); return err })
	if err != nil {
		return nil, err
	}
	return it, nil
}

// Delete implements [table.Writer].
func (s *Store) Delete(ctx context.Context, d table.Delete) error {
	return s.step(writeOf("Delete", d), func() error { return s.store.Delete(ctx, d) })
}

// Transact implements [table.Writer].
func (s *Store) Transact(ctx context.Context, actions ...table.Action) error {
	return s.step(writeOf("Transact", actions...), func() error { return s.store.Transact(ctx, actions...) })
}

// Load implements [table.Writer].
func (s *Store) Load(ctx context.Context, rows []item.Item) error {
	c := call{op: "Load", writes: true}
	for _, row := range rows {
		c.keys = append(c.keys, row.Key())
	}
	return s.step(c, func() error { return s.store.Load(ctx, rows) })
}

func writeOf(op string, actions ...table.Action) call {
	c := call{op: op, writes: true}
	for _, a := range actions {
		c.keys = append(c.keys, a.Target())
	}
	return c
}
