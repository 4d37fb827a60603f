package projection_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/links"
	"nexus/pkg/product"
	"nexus/pkg/projection"
	"nexus/pkg/stats"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

func TestLedgerRow_dependsNeitherOnBatchesNorOnRepetitions(t *testing.T) {
	t.Parallel()
	for _, p := range []*projection.Projection{stats.Projection(), links.Projection()} {
		now := morning
		store := memory.New(func() time.Time { return now }, memory.Options{})
		consumer := projection.NewConsumer(p, store, func() time.Time { return now })
		first := created("ann", product.Note(), "note_1", noteWithLink())
		second := edited(first)
		require.NoError(t, store.Put(t.Context(), table.Put{Item: second.New}))
		batch := []change.Change{first, second}
		apply := func(changes ...change.Change) item.Item {
			for _, o := range consumer.Apply(t.Context(), changes) {
				require.NoError(t, o.Err)
			}
			row, err := store.Get(t.Context(), entity.LedgerKey("ann", p.Name(), "note_1"))
			require.NoError(t, err)
			return row
		}
		apply(first)
		one := apply(second)
		require.Equal(t, one, apply(batch...), "%s: the same two in one batch", p.Name())
		now = now.Add(25 * time.Hour)
		require.Equal(t, one, apply(batch...), "%s: a day later", p.Name())
		require.Equal(t, one, apply(first), "%s: a day later, the first alone", p.Name())
	}
}

// asking is a store that refuses a read of nothing.
type asking struct {
	table.Store
	t *testing.T
}

func (a asking) BatchGet(ctx context.Context, keys []item.Key) ([]item.Item, error) {
	require.NotEmpty(a.t, keys)
	return a.Store.BatchGet(ctx, keys)
}

func TestConsumer_readsNoSumForALateRecordOfTheLedger(t *testing.T) {
	t.Parallel()
	now := morning
	clock := func() time.Time { return now }
	store := asking{memory.New(clock, memory.Options{}), t}
	consumer := projection.NewConsumer(stats.Projection(), store, clock)
	note := created("ann", product.Note(), "note_1", noteWithLink())
	require.NoError(t, store.Put(t.Context(), table.Put{Item: note.New}))
	for range 2 {
		require.NoError(t, consumer.Apply(t.Context(), []change.Change{note})[0].Err)
		now = now.Add(2 * time.Hour)
	}
}
