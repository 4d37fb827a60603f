package verify_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
	"nexus/pkg/verify"
)

// A later release wrote the COLD row of one item, and was rolled back. The run names the row, and goes on.
func TestRun_goesOnPastAColdRowOfALaterRelease(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	it := w.create(ann, product.TypeEvent, map[string]any{
		"title": "x", "startUtc": "2026-03-02T14:00:00Z", "startTzid": "UTC", "status": "CANCELLED",
	})
	w.create("bob", product.TypeNote, map[string]any{"title": "y"})
	require.True(t, w.drain())
	cold := entity.ColdKey(ann, it.Str("eventId"))
	require.NotEmpty(t, w.get(cold).Str("object"))
	w.set(cold, entity.AttrForm, item.Int(9))
	w.set(entity.MetaKey(ann), product.AttrStats, product.EmptyStats())
	for _, row := range w.rows("bob", entity.RowLedger) {
		w.remove(row)
	}
	users := map[string]bool{}
	kinds := map[verify.Kind]bool{}
	_, err := w.verifier.Run(t.Context(), verify.Options{Repair: true}, func(d verify.Difference) error {
		users[d.User], kinds[d.Kind] = true, true
		return nil
	})
	require.NoError(t, err)
	require.True(t, kinds[verify.Archive] && kinds[verify.Statistics] && users["bob"], "%v %v", kinds, users)
	require.EqualValues(t, 1, w.get(entity.MetaKey(ann)).Map(product.AttrStats).Int(product.StatTotalEvents))
	require.EqualValues(t, 9, w.get(cold).Int(entity.AttrForm), "it stays")
}

// A later release wrote rows that can be no item's here. A repair names them, leaves them, and deletes the others.
func TestRun_leavesAStrayRowOfALaterRelease(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(ann, product.TypeNote, map[string]any{"title": "x"})
	require.True(t, w.drain())
	link := item.Key{PK: entity.UserPK(ann), SK: "LINK#NOTHING#x#NOTE#note_x"}
	other := item.Key{PK: entity.UserPK(ann), SK: "LINK#NOTHING#y#NOTE#note_x"}
	ledger, sum := entity.LedgerKey(ann, "links", "what"), entity.LedgerKey(ann, "stats", "what")
	for _, key := range []item.Key{link, ledger, sum} {
		w.put(key, item.Item{entity.AttrForm: item.Int(9), "v": item.Int(1), "c": item.String("?")})
	}
	w.put(other, nil)
	differences, summary := w.verify(verify.Options{Repair: true})
	kept := map[string]bool{}
	for _, d := range differences {
		if d.Remains {
			require.Equal(t, []any{verify.Stray, "verified by that release"}, []any{d.Kind, d.ShouldBe})
			kept[d.Key] = true
		}
	}
	require.Equal(t, map[string]bool{link.String(): true, ledger.String(): true, sum.String(): true}, kept)
	require.EqualValues(t, 3, summary.Remaining)
	require.Empty(t, w.rows(ann, other.SK))
	for _, key := range []item.Key{link, ledger, sum} {
		require.EqualValues(t, 9, w.get(key).Int(entity.AttrForm), "it stays")
	}
}

// Another writer has the stray row in a transaction, or writes it as a later release does. The run goes on, and names
// it.
func TestRun_goesOnPastAStrayRowThatAnotherWriterHas(t *testing.T) {
	t.Parallel()
	stray := item.Key{PK: entity.UserPK(ann), SK: "LINK#NOTHING#x#NOTE#note_x"}
	for name, interfere := range map[string]func(w *fixture) error{
		"in a transaction": func(*fixture) error { return table.ErrConflict },
		"a later release": func(w *fixture) error {
			w.fault = nil
			w.set(stray, entity.AttrForm, item.Int(9))
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.create(ann, product.TypeNote, map[string]any{"title": "x"})
			require.True(t, w.drain())
			w.put(stray, nil)
			w.set(entity.MetaKey(ann), product.AttrStats, product.EmptyStats())
			w.fault = func(c memory.Call) error {
				if c.Op == "Delete" && c.Stage == memory.Before && c.Keys[0] == stray {
					return interfere(w)
				}
				return nil
			}
			_, summary := w.verify(verify.Options{Repair: true})
			require.EqualValues(t, 1, summary.Remaining)
			require.EqualValues(t, 1, summary.Unsettled)
			require.Len(t, w.rows(ann, stray.SK), 1)
			require.EqualValues(t, 1, w.notes(ann))
		})
	}
}
