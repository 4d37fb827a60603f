package tagcounts_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/docs/examples/tagcounts"
	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/projection"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

var now = time.Date(2025, 6, 1, 8, 0, 0, 0, time.UTC)

func TestTagcounts_countsEachTagOnceInEveryOrderOfRecords(t *testing.T) {
	t.Parallel()
	ctx, typ := t.Context(), product.Note()
	clock := func() time.Time { return now }
	store := memory.New(clock, memory.Options{})
	write := func(id string, before item.Item, tags ...string) item.Item {
		fields := item.Item{entity.AttrTitle: item.String("n")}
		fields.Set(entity.AttrTags, item.Strings(tags...))
		if before == nil {
			it := typ.NewItem("ann", id, fields, now, nil)
			require.NoError(t, store.Put(ctx, table.Put{Item: it, If: table.NotExists()}))
			return it
		}
		after := before.Clone()
		after.Set(entity.AttrTags, item.Strings(tags...))
		it, err := store.Update(ctx, table.Diff(before, typ.NextVersion(entity.ByUser, "ann", before, after, now, nil),
			table.AtVersion(before.Int(entity.AttrVersion))))
		require.NoError(t, err)
		return it
	}
	first := write("note_1", nil, "home", "work")
	write("note_1", first, "work")
	write("note_2", nil, "work", "idea")
	gone := write("note_3", nil, "idea", "old")
	require.NoError(t, store.Delete(ctx, table.Delete{Key: gone.Key()}))

	shards, err := store.Feed().Shards(ctx)
	require.NoError(t, err)
	slice, err := store.Feed().Read(ctx, shards[0].ID, "", 100)
	require.NoError(t, err)
	var changes []change.Change
	for _, rec := range slice.Records {
		c, err := change.Interpret(product.Registry(), rec)
		require.NoError(t, err)
		changes = append(changes, c)
	}
	consumer := projection.NewConsumer(tagcounts.Projection(), store, clock)
	slices.Reverse(changes)
	for range 2 {
		for _, c := range changes { // each alone, in the wrong order, and all of them again
			for _, outcome := range consumer.Apply(ctx, []change.Change{c}) {
				require.NoError(t, outcome.Err)
			}
		}
	}
	row, err := store.Get(ctx, entity.SumKey("ann", tagcounts.Name))
	require.NoError(t, err)
	require.Equal(t, item.Map{"work": item.Int(2), "idea": item.Int(1)}, row["sum"])
}
