package calendar

import (
	"context"
	"fmt"
	"iter"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// rows reads the rows of a user's partition with the prefix, page by page, in the order of their keys. The error comes
// last.
func (s *Service) rows(ctx context.Context, user, prefix string) iter.Seq2[item.Item, error] {
	return func(yield func(item.Item, error) bool) {
		q := table.Query{Partition: entity.UserPK(user), Range: table.Range{Prefix: prefix}}
		for it, err := range table.Rows(ctx, s.Store, q, 0) {
			if err != nil {
				err = fmt.Errorf("read %s/%s: %w", q.Partition, prefix, err)
			}
			if !yield(it, err) {
				return
			}
		}
	}
}

// items reads the entities of a type as their user sees them, without those past their ttl.
func (s *Service) items(ctx context.Context, user, typeName string) iter.Seq2[item.Item, error] {
	t, now := s.Registry.ByName(typeName), s.Now()
	return func(yield func(item.Item, error) bool) {
		for it, err := range s.rows(ctx, user, entity.ItemPrefix(typeName)) {
			if err != nil {
				yield(nil, err)
				return
			}
			if seen, ok := t.VisibleAt(it, now); ok && !yield(seen, nil) {
				return
			}
		}
	}
}

// departed returns when the last item was deleted or archived.
func (s *Service) departed(ctx context.Context, user string, now time.Time) (last time.Time, err error) {
	for _, kind := range []struct{ prefix, attr string }{
		{entity.GonePrefix(), product.AttrDeletedAt}, {entity.ColdPrefix(), product.AttrExpiresAt},
	} {
		for row, err := range s.rows(ctx, user, kind.prefix) {
			if err != nil {
				return last, err
			}
			if at, ok := row.Time(kind.attr); ok && at.After(last) && !at.After(now) {
				last = at
			}
		}
	}
	return last, nil
}
