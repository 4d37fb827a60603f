package verify_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
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
