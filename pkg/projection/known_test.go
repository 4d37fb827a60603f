package projection_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/links"
	"nexus/pkg/product"
	"nexus/pkg/projection"
	"nexus/pkg/table/memory"
)

// The lease of another repair has the version that this repair's next write would leave, and differs in its owner
// alone.
func TestConsumer_takesNoExpiredLeaseForItsOwn(t *testing.T) {
	t.Parallel()
	h := newHeld(t, 1)
	first, err := h.consumer.AcquireLease(t.Context(), "ann", "one")
	require.NoError(t, err)
	h.now = h.now.Add(31 * time.Second)
	_, err = h.consumer.AcquireLease(t.Context(), "ann", "two")
	require.NoError(t, err)
	ref := product.Note().Ref(h.notes[0])
	row := entity.LedgerKey("ann", "stats", ref.ID).Item()
	require.ErrorIs(t, first.Repair(t.Context(),
		projection.Evidence{User: "ann", Type: product.Note(), Ref: ref, Ledger: row}), projection.ErrLeaseLost)
}

// The record that completed the task was lost: only the image that its successor starts from shows
// the completion.
func TestConsumer_keepsAFactThatOnlyAnOldImageHas(t *testing.T) {
	t.Parallel()
	h := newHeld(t, 0)
	sum := projection.NewOwnSum("greatest", "c1", func(_ *entity.Type, it item.Item) projection.Amounts {
		return projection.Amounts{Add: map[string]int64{"n": 1}, Max: map[string]string{"title": it.Str(entity.AttrTitle)}}
	})
	consumer := projection.NewConsumer(sum, h.store, func() time.Time { return h.now })
	first := created("ann", product.Note(), "note_1", item.Item{entity.AttrTitle: item.String("z")})
	outcomes := consumer.Apply(t.Context(), []change.Change{edited(first)})
	require.Equal(t, change.Done, outcomes[0].Verdict)
	require.Equal(t, "z", h.row(entity.SumKey("ann", "greatest")).Map("sum").Str("title"))
}

// A record that is applied while a repair reads again must not be undone by it.
func TestConsumer_readsTheItemLastInARepair(t *testing.T) {
	t.Parallel()
	h := newHeld(t, 0)
	consumer := projection.NewConsumer(links.Projection(), h.store, func() time.Time { return h.now })
	first := created("ann", product.Note(), "note_1", noteWithLink())
	next := edited(first)
	entity.SetLinks(next.New, nil)
	require.NoError(t, h.store.Load(t.Context(), []item.Item{first.New}))
	consumer.Apply(t.Context(), []change.Change{first})
	ledger := entity.LedgerKey("ann", links.Name, "note_1")
	h.fault = func(c memory.Call) error {
		if c.Op == "Get" && c.Stage == memory.Before && c.Keys[0] == ledger {
			h.fault = nil
			require.NoError(t, h.store.Load(t.Context(), []item.Item{next.New}))
			consumer.Apply(t.Context(), []change.Change{next})
		}
		return nil
	}
	// The evidence is older than the ledger row, so that everything is read again.
	require.NoError(t, consumer.Repair(t.Context(), projection.Evidence{
		User: "ann", Type: product.Note(), Ref: first.Ref, Item: first.New,
	}))
	require.Nil(t, h.fault, "the item changed while it was read")
	row := h.row(ledger)
	require.EqualValues(t, 2, row.Int("v"))
	require.NotContains(t, row.Str("c"), "task_1", "the ledger says what the item has")
}

// The later record adds nothing to what the ledger said when it was read, and must take out again what the earlier one
// has added since.
func TestConsumer_removesWhatAnotherAddedAfterItsRead(t *testing.T) {
	t.Parallel()
	h := newHeld(t, 0)
	sum := projection.NewOwnSum("letters", "c1", func(_ *entity.Type, it item.Item) projection.Amounts {
		title := it.Str(entity.AttrTitle)
		return projection.Amounts{Add: map[string]int64{"n": int64(len(title))}, Open: title}
	})
	consumer := projection.NewConsumer(sum, h.store, func() time.Time { return h.now })
	first := created("ann", product.Note(), "note_1", item.Item{entity.AttrTitle: item.String("a")})
	longer := edited(first)
	last := edited(longer)
	last.New[entity.AttrTitle] = item.String("b")
	consumer.Apply(t.Context(), []change.Change{first})
	ledger := entity.LedgerKey("ann", "letters", "note_1")
	h.fault = func(c memory.Call) error {
		if c.Op == "BatchGet" && c.Stage == memory.After && slices.Contains(c.Keys, ledger) {
			h.fault = nil
			require.Equal(t, change.Done, consumer.Apply(t.Context(), []change.Change{longer})[0].Verdict)
		}
		return nil
	}
	require.Equal(t, change.Done, consumer.Apply(t.Context(), []change.Change{last})[0].Verdict)
	require.Nil(t, h.fault, "another record was applied after the read")
	require.EqualValues(t, 1, h.row(entity.SumKey("ann", "letters")).Map("sum").Int("n"))
}
