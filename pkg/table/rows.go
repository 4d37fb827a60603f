package table

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"nexus/pkg/item"
)

// ErrTooMany says that a query has more pages than the caller allowed.
var ErrTooMany = errors.New("more pages than there can be")

// Find returns the row, or nil if there is none.
func Find(ctx context.Context, r Reader, key item.Key) (item.Item, error) {
	row, err := r.Get(ctx, key)
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", key, err)
	}
	return row, nil
}

// Rows reads a query page by page, at most so many pages; 0 reads all. The error comes last: [ErrTooMany], or the
// store's.
func Rows(ctx context.Context, r Reader, q Query, pages int) iter.Seq2[item.Item, error] {
	return func(yield func(item.Item, error) bool) {
		for read := 0; pages == 0 || read < pages; read++ {
			page, err := r.Query(ctx, q)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, it := range page.Items {
				if !yield(it, nil) {
					return
				}
			}
			if len(page.Next) == 0 {
				return
			}
			q.Start = page.Next
		}
		yield(nil, ErrTooMany)
	}
}

// All returns the rows of [Rows].
func All(ctx context.Context, r Reader, q Query, pages int) ([]item.Item, error) {
	var all []item.Item
	for it, err := range Rows(ctx, r, q, pages) {
		if err != nil {
			return nil, err
		}
		all = append(all, it)
	}
	return all, nil
}
