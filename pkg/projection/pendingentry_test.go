package projection_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

// A worker died between a sum and the ledger row of its pending entry. The next batch keeps that entry, whatever users
// are in it: the record that comes again counts once.
func TestConsumer_keepsAPendingEntryBesideThatOfAnotherUser(t *testing.T) {
	t.Parallel()
	for _, users := range [][2]string{{"ann", "bob"}, {"bob", "ann"}} {
		stands, waits := users[0], users[1]
		r := newRefusing(t)
		require.Equal(t, []change.Verdict{isDone}, r.apply(titled(stands, "note_1", "a")))
		lost := entity.LedgerKey(waits, openings, "note_1")
		r.fault = func(c memory.Call) error {
			if c.Op == "Put" && c.Stage == memory.Before && c.Keys[0] == lost {
				return table.ErrUnavailable
			}
			return nil
		}
		first := titled(waits, "note_1", "a")
		require.Equal(t, []change.Verdict{change.Retry}, r.apply(first))
		require.Nil(t, r.row(lost))
		r.fault = nil
		require.Equal(t, []change.Verdict{isDone, isDone},
			r.apply(titled(stands, "note_2", "a"), titled(waits, "note_2", "a")))
		require.NotNil(t, r.row(lost), "the entry of %s", waits)
		require.Equal(t, []change.Verdict{isDone}, r.apply(first))
		require.EqualValues(t, 2, r.notes(waits))
	}
}

// A lease changes the version of the sum, and nothing else that a user has.
func TestConsumer_leavesTheSettingsOfAUserUnderALease(t *testing.T) {
	t.Parallel()
	h := newHeld(t, 0)
	meta := product.NewUserMeta("ann", morning)
	meta[product.AttrDefaultTzid] = item.String("Europe/Berlin")
	require.NoError(t, h.store.Load(t.Context(), []item.Item{meta}))
	for i, user := range []string{"ann", "bob", "ann"} {
		lease, err := h.consumer.AcquireLease(t.Context(), user, "one")
		require.NoError(t, err)
		row := h.row(entity.MetaKey(user))
		require.Equal(t, entity.TypeUserMeta, row.Str(entity.AttrType), user)
		require.EqualValues(t, []int64{1, 1, 3}[i], row.Int(product.AttrStatsVersion), user)
		if user == "ann" {
			require.Equal(t, "Europe/Berlin", row.Str(product.AttrDefaultTzid))
		}
		require.NoError(t, lease.Release(t.Context()))
	}
}

// The ledger row of one user's pending entry is a later release's, which goes on with it. Another user's entry is kept
// all the same.
func TestConsumer_keepsAPendingEntryBesideALaterReleasesOne(t *testing.T) {
	t.Parallel()
	r := newRefusing(t)
	first := map[string]change.Change{"ann": titled("ann", "note_1", "a"), "bob": titled("bob", "note_1", "a")}
	r.fault = func(c memory.Call) error {
		if c.Op == "Put" && c.Stage == memory.Before {
			return table.ErrUnavailable
		}
		return nil
	}
	for _, c := range first {
		require.Equal(t, []change.Verdict{change.Retry}, r.apply(c))
	}
	r.fault = nil
	later := entity.LedgerKey("ann", openings, "note_1").Item()
	later[entity.AttrForm] = item.Int(2)
	require.NoError(t, r.store.Load(t.Context(), []item.Item{later}))
	verdicts := r.apply(titled("ann", "note_2", "a"), titled("bob", "note_2", "a"))
	require.Equal(t, []change.Verdict{change.Retry, isDone}, verdicts)
	require.NotNil(t, r.ledger("bob", "note_1"))
	require.Equal(t, []change.Verdict{isDone}, r.apply(first["bob"]))
	require.EqualValues(t, 2, r.notes("bob"))
	require.Equal(t, later, r.ledger("ann", "note_1"))
}
