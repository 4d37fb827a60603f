package projection_test

import (
	"context"
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
)

// The row was staged when it was read, and a record has taken it over since.
func TestLease_leavesAStagedRowThatWasWrittenSinceItWasRead(t *testing.T) {
	t.Parallel()
	h := newHeld(t, 100)
	require.NoError(t, h.repair("one"))
	was := h.ledger(h.notes[0])
	require.True(t, was.Has("next"))
	outcomes := h.consumer.Apply(t.Context(), []change.Change{h.records()[0]})
	require.Equal(t, change.Done, outcomes[0].Verdict)
	since := h.ledger(h.notes[0])
	require.False(t, since.Has("next"))
	require.NoError(t, h.lease.Unstage(t.Context(), was))
	require.Equal(t, since, h.ledger(h.notes[0]))
	require.EqualValues(t, 100, h.total())
}

func TestLease_lastsAsLongAsItsRepairGoesOn(t *testing.T) {
	t.Parallel()
	h := newHeld(t, 3)
	lease, err := h.consumer.AcquireLease(t.Context(), "ann", "one")
	require.NoError(t, err)
	note := h.notes[0]
	e := projection.Evidence{User: "ann", Type: product.Note(), Ref: product.Note().Ref(note), Item: note}
	for range 6 {
		h.now = h.now.Add(12 * time.Second)
		_, err := h.consumer.AcquireLease(t.Context(), "ann", "another")
		require.ErrorIs(t, err, projection.ErrLeased)
		require.NoError(t, lease.Repair(t.Context(), e))
	}
	h.now = h.now.Add(31 * time.Second)
	_, err = h.consumer.AcquireLease(t.Context(), "ann", "another")
	require.NoError(t, err, "it lapses")
}

// A stray row that a later release wrote ends the repair with that reason, before anything is written.
func TestLease_dropsNoRowOfALaterRelease(t *testing.T) {
	t.Parallel()
	h := newHeld(t, 3)
	lease, err := h.consumer.AcquireLease(t.Context(), "ann", "one")
	require.NoError(t, err)
	row := entity.LedgerKey("ann", stats.Name, "what").Item()
	row[entity.AttrForm] = item.Int(9)
	require.ErrorIs(t, lease.Drop(t.Context(), row), entity.ErrNewerForm)
	require.NoError(t, lease.Release(t.Context()))
}

// repeating is a store whose client repeats each transaction, since the answer to the first was lost.
type repeating struct{ table.Store }

func (r repeating) Transact(ctx context.Context, actions ...table.Action) error {
	if err := r.Store.Transact(ctx, actions...); err != nil {
		return err
	}
	return r.Store.Transact(ctx, actions...)
}

func TestLease_knowsItsOwnWritesWhoseAnswersWereLost(t *testing.T) {
	t.Parallel()
	h := newHeld(t, 200)
	h.consumer = projection.NewConsumer(stats.Projection(), repeating{h.store}, func() time.Time { return h.now })
	require.NoError(t, h.repair("one"))
	require.EqualValues(t, 200, h.total())
	require.False(t, h.row(entity.MetaKey("ann")).Has(product.AttrStatsHold), "it is given back")
}
