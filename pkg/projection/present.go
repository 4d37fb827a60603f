package projection

import (
	"context"
	"errors"
	"fmt"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// readPresent plans the moves that must not believe their records from their ledger rows and items, all in few reads: a
// replay of a day consists of such records. The rows are read before the items: of an item that is gone and comes back,
// a row read later has what came back, and would lose it again.
func (c *Consumer) readPresent(ctx context.Context, moves []*move) {
	var unsure []*move
	for _, m := range moves {
		if m.state == needsItem {
			unsure = append(unsure, m)
		}
	}
	rows, err := c.readEach(ctx, unsure, func(m *move) item.Key {
		return entity.LedgerKey(m.user, c.projection.name, m.ref.ID)
	})
	if err != nil {
		postpone(unsure, err)
		return
	}
	var open, past []*move
	for _, m := range unsure {
		err := c.readable(ctx, m.user, rows[m])
		switch {
		case err != nil:
			m.leave(err)
		case m.isPast(rows[m]):
			past = append(past, m)
		default:
			open = append(open, m)
		}
	}
	items, err := c.readEach(ctx, open, func(m *move) item.Key { return entity.ItemKey(m.user, m.ref) })
	if err != nil {
		postpone(open, err)
	} else {
		for _, m := range open {
			m.resolvePresent(c.projection, rows[m], items[m])
		}
	}
	c.resolveLate(ctx, past)
}

// resolveLate ends moves whose records the ledger has, once the sums know their facts.
func (c *Consumer) resolveLate(ctx context.Context, moves []*move) {
	var knowing []*move
	for _, m := range moves {
		if m.state, m.already = done, true; len(m.facts) > 0 {
			knowing = append(knowing, m)
		}
	}
	if len(knowing) == 0 {
		return
	}
	targets, err := c.readTargets(ctx, knowing)
	if err != nil {
		postpone(knowing, err)
		return
	}
	for _, m := range knowing {
		if err := c.joinFacts(ctx, m, targets[m.user]); err != nil {
			m.state, m.err = retry, err
		}
	}
}

// readEach reads one row for each move; one that is not there is left out.
func (c *Consumer) readEach(
	ctx context.Context, moves []*move, keyOf func(*move) item.Key,
) (map[*move]item.Item, error) {
	if len(moves) == 0 {
		return nil, nil
	}
	keys := make([]item.Key, len(moves))
	owner := make(map[item.Key]*move, len(moves)) // a fold has one move per item, so no two share a key
	for i, m := range moves {
		keys[i] = keyOf(m)
		owner[keys[i]] = m
	}
	found, err := c.store.BatchGet(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read %d rows from %s: %w", len(keys), keys[0], err)
	}
	rows := make(map[*move]item.Item, len(found))
	for _, row := range found {
		rows[owner[row.Key()]] = row
	}
	return rows, nil
}

// get returns nil for a row that is not there.
func (c *Consumer) get(ctx context.Context, key item.Key) (item.Item, error) {
	row, err := c.store.Get(ctx, key)
	if errors.Is(err, table.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", key, err)
	}
	return row, nil
}
