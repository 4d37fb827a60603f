package memory

import (
	"context"
	"fmt"
	"slices"

	"nexus/pkg/item"
	"nexus/pkg/table"
)

// Get implements [table.Reader].
func (s *Store) Get(ctx context.Context, key item.Key) (item.Item, error) {
	const op = "Get"
	if err := checkKey(key); err != nil {
		return nil, wrap(op, clip(key.String()), err)
	}
	var found *row
	call := func() Call { return Call{Op: op, Keys: []item.Key{key}} }
	err := s.do(ctx, call, func() (table.Consumption, error) {
		found = s.row(key)
		usage := table.Consumption{Op: op, ReadUnits: readUnits(size(found), true)}
		if found == nil {
			return usage, table.ErrNotFound
		}
		usage.Rows = 1
		return usage, nil
	})
	if err != nil {
		return nil, wrap(op, key, err)
	}
	return found.image(), nil
}

func (s *Store) row(key item.Key) *row {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if at := s.base.find(key); at != nil {
		return at.row
	}
	return nil
}

// BatchGet implements [table.Reader].
func (s *Store) BatchGet(ctx context.Context, keys []item.Key) ([]item.Item, error) {
	return s.batches(ctx, "BatchGet", true, keys)
}

// Peek implements [table.Reader]. It reads the present rows, as a service without a lag does.
func (s *Store) Peek(ctx context.Context, keys []item.Key) ([]item.Item, error) {
	return s.batches(ctx, "Peek", false, keys)
}

func (s *Store) batches(ctx context.Context, op string, consistent bool, keys []item.Key) ([]item.Item, error) {
	distinct := make([]item.Key, 0, len(keys))
	seen := make(map[item.Key]bool, len(keys))
	for _, key := range keys {
		if err := checkKey(key); err != nil {
			return nil, wrap(op, fmt.Sprintf("%d keys", len(keys)), err)
		}
		if !seen[key] {
			seen[key] = true
			distinct = append(distinct, key)
		}
	}
	items := make([]item.Item, 0, len(distinct))
	for batch := range slices.Chunk(distinct, table.MaxBatchGet) {
		var found []*row
		call := func() Call { return Call{Op: op, Keys: slices.Clone(batch)} }
		err := s.do(ctx, call, func() (table.Consumption, error) {
			usage := table.Consumption{Op: op}
			for _, key := range batch {
				r := s.row(key)
				usage.ReadUnits += readUnits(size(r), consistent)
				if r != nil {
					found = append(found, r)
				}
			}
			usage.Rows = len(found)
			return usage, nil
		})
		if err != nil {
			return nil, wrap(op, batch[0], err)
		}
		for _, r := range found {
			items = append(items, r.image())
		}
	}
	return items, nil
}
