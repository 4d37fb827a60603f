package memory

import (
	"context"
	"fmt"
	"slices"

	"nexus/pkg/item"
	"nexus/pkg/table"
)

// maxSegments bounds the segments of a walk, as the service does.
const maxSegments = 1_000_000

// Walk implements [table.Walker]. A segment contains whole partitions. Rows that are written during the walk may be
// visited or not. visit runs outside the store's locks and may use the store.
func (s *Store) Walk(ctx context.Context, segment, total int, visit func(item.Item) error) error {
	const op = "Walk"
	on := fmt.Sprintf("segment %d of %d", segment, total)
	if total < 1 || total > maxSegments || segment < 0 || segment >= total {
		return wrap(op, on, fmt.Errorf("%w: no such segment", table.ErrInvalid))
	}
	for _, partition := range s.segment(segment, total) {
		plan := queryPlan{index: table.IndexSchema{PK: s.schema.PK, SK: s.schema.SK}, which: -1, partition: partition}
		for more := true; more; {
			var page page
			call := func() Call { return Call{Op: op} }
			err := s.do(ctx, call, func() (table.Consumption, error) {
				page = s.readPage(plan)
				return plan.usage(op, page), nil
			})
			if err != nil {
				return wrap(op, on, err)
			}
			for _, r := range page.rows {
				if err := visit(r.image()); err != nil {
					return err
				}
			}
			more, plan.start, plan.started = page.more, page.last, true
		}
	}
	return nil
}

// segment returns the partitions of one segment in an order that is the same every time.
func (s *Store) segment(segment, total int) []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var names []string
	for name := range s.base {
		if hash(item.Key{PK: name})%uint64(total) == uint64(segment) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
