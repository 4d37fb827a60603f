package projection_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/projection"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

// Of a row's 400 KB the contribution takes all but the bytes that the row also needs.
func TestLease_passesOverAnItemWhoseContributionLeavesItsRowNoRoom(t *testing.T) {
	t.Parallel()
	for _, left := range []int{0, 40, 100} {
		r := newRefusing(t)
		sum := projection.NewOwnSum(openings, "o1", crowded)
		r.consumer = projection.NewConsumer(sum, r.store, func() time.Time { return r.now })
		around := len(`o1 {"add":{"":1}}`)
		note := titled("ann", "note_1", strings.Repeat("x", table.MaxItemBytes-around-left)).New
		lease, err := r.consumer.AcquireLease(t.Context(), "ann", "one")
		require.NoError(t, err)
		e := projection.Evidence{User: "ann", Type: product.Note(), Ref: product.Note().Ref(note), Item: note}
		require.NoError(t, lease.Repair(t.Context(), e))
		require.NoError(t, lease.Finish(t.Context()), left)
		require.Nil(t, r.ledger("ann", "note_1"))
		require.Empty(t, r.sumRow("ann").Map("sum"))
	}
}

// The entry is gone by the time this consumer is about to take it back.
func TestConsumer_goesOnWhereAnotherTookTheEntryBack(t *testing.T) {
	t.Parallel()
	r := newRefusing(t)
	r.countBad()
	r.fault = func(c memory.Call) error {
		if c.Op != "Transact" || c.Stage != memory.Before || !r.sumRow("ann").Has("sumLast") {
			return nil
		}
		row := r.sumRow("ann").Clone()
		delete(row, "sumLast")
		row["sum"], row["sumVersion"] = item.Map{"notes": item.Int(1)}, item.Int(3)
		require.NoError(t, r.store.Load(t.Context(), []item.Item{row}))
		return nil
	}
	require.Equal(t, []change.Verdict{isDone}, r.apply(titled("ann", "note_2", "two")))
	require.EqualValues(t, 2, r.notes("ann"))
}
