package memory_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

func TestWalk_coversTheTableInSegments(t *testing.T) {
	t.Parallel()
	b := setup(t, memory.Options{})
	const users, rowsEach = 60, 5
	for u := range users {
		for i := range rowsEach {
			key := entity.ItemKey(fmt.Sprint("user", u), entity.Ref{Type: product.TypeNote, ID: numbered(i)})
			b.NoError(b.store.Put(b.ctx, table.Put{Item: key.Item()}))
		}
	}
	for _, total := range []int{1, 2, 7} {
		seen := map[item.Key]int{}
		for segment := range total {
			before := len(seen)
			b.NoError(b.store.Walk(b.ctx, segment, total, func(row item.Item) error {
				seen[row.Key()]++
				return nil
			}))
			b.Greater(len(seen), before, "segment %d of %d", segment, total)
		}
		b.Len(seen, users*rowsEach)
		for key, n := range seen {
			b.Equal(1, n, key)
		}
	}
}

func TestWalk_stopsAtItsVisitorsError(t *testing.T) {
	t.Parallel()
	b := setup(t, memory.Options{})
	b.put("a", nil)
	b.put("b", nil)
	enough := errors.New("enough")
	visits := 0
	err := b.store.Walk(b.ctx, 0, 1, func(item.Item) error { visits++; return enough })
	b.ErrorIs(err, enough)
	b.Equal(1, visits)
	for _, segment := range [][2]int{{0, 0}, {-1, 1}, {1, 1}, {0, 1_000_001}} {
		b.ErrorIs(b.store.Walk(b.ctx, segment[0], segment[1], nil), table.ErrInvalid)
	}
	ctx, cancel := context.WithCancel(b.ctx)
	cancel()
	b.ErrorIs(b.store.Walk(ctx, 0, 1, nil), context.Canceled)
}

func TestWalk_letsItsVisitorChangeTheTable(t *testing.T) {
	t.Parallel()
	b := setup(t, memory.Options{})
	for i := range 20 {
		b.put(numbered(i), nil)
	}
	b.NoError(b.store.Walk(b.ctx, 0, 1, func(row item.Item) error {
		return b.store.Delete(b.ctx, table.Delete{Key: row.Key()})
	}))
	b.Zero(b.store.Len())
}
