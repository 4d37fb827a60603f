package memory

import (
	"context"
	"fmt"
	"slices"

	"nexus/pkg/item"
	"nexus/pkg/table"
)

// loadBatch is the number of rows DynamoDB takes in one BatchWriteItem.
const loadBatch = 25

// Put implements [table.Writer].
func (s *Store) Put(ctx context.Context, p table.Put) error {
	_, err := s.single(ctx, "Put", p)
	return err
}

// Update implements [table.Writer].
func (s *Store) Update(ctx context.Context, u table.Update) (item.Item, error) {
	r, err := s.single(ctx, "Update", u)
	return r.image(), err
}

// Delete implements [table.Writer].
func (s *Store) Delete(ctx context.Context, d table.Delete) error {
	_, err := s.single(ctx, "Delete", d)
	return err
}

// single makes a write of one row and returns the resulting row.
func (s *Store) single(ctx context.Context, op string, wanted table.Action) (*row, error) {
	key := wanted.Target()
	a, err := s.check(wanted)
	if err != nil {
		return nil, wrap(op, clip(key.String()), err)
	}
	var left *row
	call := func() Call { return Call{Op: op, Keys: []item.Key{key}} }
	err = s.do(ctx, call, func() (table.Consumption, error) {
		usage, edits, err := s.write(ctx, oneRow(op), []action{a})
		if err == nil {
			left = edits[0].new
		}
		return usage, err
	})
	if err != nil {
		return nil, wrap(op, key, err)
	}
	return left, nil
}

// Transact implements [table.Writer]. One action that writes is charged as a single write, because the DynamoDB adapter
// sends it as one.
func (s *Store) Transact(ctx context.Context, actions ...table.Action) error {
	const op = "Transact"
	if len(actions) == 0 || len(actions) > table.MaxActions {
		return wrap(op, fmt.Sprintf("%d actions", len(actions)),
			fmt.Errorf("%w: 1 to %d actions make a transaction", table.ErrInvalid, table.MaxActions))
	}
	checked := make([]action, len(actions))
	keys := make([]item.Key, len(actions))
	seen := make(map[item.Key]bool, len(actions))
	for i, wanted := range actions {
		var err error
		if checked[i], err = s.check(wanted); err != nil {
			return wrap(op, fmt.Sprintf("action %d", i), err)
		}
		keys[i] = checked[i].key
		if seen[keys[i]] {
			return wrap(op, clip(keys[i].String()), fmt.Errorf("%w: two actions on one row", table.ErrInvalid))
		}
		seen[keys[i]] = true
	}
	w := transaction()
	if _, isCheck := actions[0].(table.Check); len(actions) == 1 && !isCheck {
		w = oneRow(op)
	}
	call := func() Call { return Call{Op: op, Keys: slices.Clone(keys)} }
	err := s.do(ctx, call, func() (table.Consumption, error) {
		usage, _, err := s.write(ctx, w, checked)
		return usage, err
	})
	return wrap(op, keys[0], err)
}

// Load implements [table.Writer]. All rows are checked before the first is written.
func (s *Store) Load(ctx context.Context, rows []item.Item) error {
	const op = "Load"
	actions := make([]action, len(rows))
	seen := make(map[item.Key]bool, len(rows))
	for i, it := range rows {
		var err error
		if actions[i], err = s.check(table.Put{Item: it}); err != nil {
			return wrap(op, fmt.Sprintf("row %d", i), err)
		}
		if seen[actions[i].key] {
			return wrap(op, actions[i].key, fmt.Errorf("%w: row given twice", table.ErrInvalid))
		}
		seen[actions[i].key] = true
	}
	for batch := range slices.Chunk(actions, loadBatch) {
		if err := s.loadBatch(ctx, op, batch); err != nil {
			return wrap(op, batch[0].key, err)
		}
	}
	return nil
}

func (s *Store) loadBatch(ctx context.Context, op string, batch []action) error {
	call := func() Call {
		c := Call{Op: op}
		for _, a := range batch {
			c.Keys = append(c.Keys, a.key)
		}
		return c
	}
	return s.do(ctx, call, func() (table.Consumption, error) {
		usage, _, err := s.write(ctx, unconditionally(), batch)
		return usage, err
	})
}

// check refuses what the service would refuse for any content of the table, and copies what the caller may change
// later.
func (s *Store) check(wanted table.Action) (action, error) {
	var a action
	var err error
	switch w := wanted.(type) {
	case table.Put:
		a.when = w.If
		item, err := admit(w.Item)
		if err != nil {
			return a, err
		}
		if a.put, err = s.newRow(item); err != nil {
			return a, err
		}
	case table.Update:
		a.when = w.If
		if a.set, err = admit(w.Set); err != nil {
			return a, err
		}
		a.remove = slices.Clone(w.Remove)
		if err := s.checkUpdate(a); err != nil {
			return a, err
		}
	case table.Delete:
		a.when, a.erase = w.If, true
	case table.Check:
		a.when = w.If
	default:
		return a, fmt.Errorf("%w: action %T", table.ErrInvalid, wanted)
	}
	a.key = wanted.Target()
	if err := checkKey(a.key); err != nil {
		return a, err
	}
	a.when, err = normal(a.when)
	return a, err
}

// checkUpdate refuses an update that names a key attribute of the table, one attribute twice, or none.
func (s *Store) checkUpdate(a action) error {
	named := make(map[string]bool, len(a.set)+len(a.remove))
	for name := range a.set {
		named[name] = true
	}
	for _, name := range a.remove {
		if named[name] || name == "" {
			return fmt.Errorf("%w: attribute %q named twice or empty in an update", table.ErrInvalid, clip(name))
		}
		named[name] = true
	}
	if named[s.schema.PK] || named[s.schema.SK] {
		return fmt.Errorf("%w: an update cannot change the row's key", table.ErrInvalid)
	}
	if len(named) == 0 {
		return fmt.Errorf("%w: an update of no attribute", table.ErrInvalid)
	}
	return nil
}
