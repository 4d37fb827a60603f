package projection_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/projection"
	"nexus/pkg/stats"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

// A repair has made its last write, and dies before it has unstaged an item's row, which is a tombstone since. The item
// was restored, and has left again. The record of the restoration comes hours late: its image does not count.
func TestConsumer_readsTheItemOfAnAgedRecordThatMeetsAStagedRow(t *testing.T) {
	t.Parallel()
	h := newHeld(t, 1)
	records := h.records()
	require.NoError(t, h.consumer.Apply(t.Context(), records)[0].Err)
	require.EqualValues(t, 1, h.total())
	note := h.notes[0]
	require.NoError(t, h.store.Delete(t.Context(), table.Delete{Key: note.Key()})) // by TTL; the record never came
	// The repair of many rows: this one is staged with its later content, version 1 and nothing, and the sum counts so.
	key := entity.LedgerKey("ann", stats.Name, note.Str("noteId"))
	row := h.row(key).Clone()
	row[entity.AttrForm], row["next"] = item.Int(2), item.String("1 1 ")
	require.NoError(t, h.store.Put(t.Context(), table.Put{Item: row}))
	meta := h.row(entity.MetaKey("ann")).Clone()
	meta[product.AttrStats], meta[product.AttrStatsRepairs] = product.EmptyStats(), item.Int(1)
	require.NoError(t, h.store.Put(t.Context(), table.Put{Item: meta}))

	restored := records[0]
	restored.New = restored.New.Clone()
	restored.New[entity.AttrVersion], restored.Version = item.Int(3), 3
	restored.Created = h.now.Add(-2 * time.Hour)
	require.NoError(t, h.consumer.Apply(t.Context(), []change.Change{restored})[0].Err)
	require.EqualValues(t, 0, h.total(), "the item is not there")
}

// A repair is slow, and its lease expires. A consumer unstages a row that a dead repair has left. The last write of the
// slow repair fails, and the repair does not take the consumer's write for its own.
func TestLease_isLostAfterAConsumerHasUnstagedARow(t *testing.T) {
	t.Parallel()
	const notes = 91
	h := newHeld(t, notes)
	records := h.records()
	for _, o := range h.consumer.Apply(t.Context(), records) {
		require.NoError(t, o.Err)
	}
	// An older function made the contributions: same amounts, another revision. So the sum is right, and no row is.
	for _, it := range h.notes {
		row := h.row(entity.LedgerKey("ann", stats.Name, it.Str("noteId"))).Clone()
		row["c"] = item.String("s0" + strings.TrimPrefix(row.Str("c"), "s1"))
		require.NoError(t, h.store.Put(t.Context(), table.Put{Item: row}))
	}
	// The first repair stages 90 rows and dies before its last write.
	staged := false
	h.fault = func(c memory.Call) error {
		if staged {
			return table.ErrUnavailable
		}
		if c.Op == "Transact" && c.Stage == memory.After && len(c.Keys) > 50 {
			staged = true
		}
		return nil
	}
	require.ErrorIs(t, h.repair("one"), table.ErrUnavailable)
	h.fault = nil
	h.now = h.now.Add(31 * time.Second)
	// Five notes are removed: the consumer corrects their rows, which are staged.
	for _, it := range h.notes[:5] {
		require.NoError(t, h.store.Delete(t.Context(), table.Delete{Key: it.Key()}))
		c := created("ann", product.Note(), it.Str("noteId"), noteWithLink())
		c.Kind, c.Old, c.New, c.Version, c.Created = change.Removed, it, nil, 2, h.now
		require.NoError(t, h.consumer.Apply(t.Context(), []change.Change{c})[0].Err)
	}
	h.notes = h.notes[5:]
	// The second repair has 86 rows to correct, which fit into its last write.
	lease, err := h.consumer.AcquireLease(t.Context(), "ann", "two")
	require.NoError(t, err)
	for _, it := range h.notes {
		ref := product.Note().Ref(it)
		require.NoError(t, lease.Repair(t.Context(), projection.Evidence{
			User: "ann", Type: product.Note(), Ref: ref, Item: it, Ledger: h.row(entity.LedgerKey("ann", stats.Name, ref.ID)),
		}))
	}
	require.False(t, lease.Staged())
	h.now = h.now.Add(31 * time.Second) // it is slow
	// An old record comes again: its row is staged, the consumer writes it back, and ends the lease.
	i := slices.IndexFunc(records, func(c change.Change) bool { return c.Ref.ID == h.notes[0].Str("noteId") })
	require.NoError(t, h.consumer.Apply(t.Context(), records[i:i+1])[0].Err)

	require.ErrorIs(t, lease.Finish(t.Context()), projection.ErrLeaseLost)
}
