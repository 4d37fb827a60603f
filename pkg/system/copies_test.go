package system_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/archive"
	"nexus/pkg/entity"
	"nexus/pkg/insights"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/system"
	"nexus/pkg/table"
)

// An import brings expired tasks as copies, without a record: they are counted from the copies.
func TestSystem_countsWhatTheCopiesHold(t *testing.T) {
	t.Parallel()
	ports, _ := allPorts(t)
	s, err := system.New(product.Registry(), ports)
	require.NoError(t, err)
	store := ports.Store("")
	copies := archive.New(archive.Config{Store: store, Registry: product.Registry(), Copies: ports.Copies, Now: clock})
	day := map[string]string{"task_1": "2025-12-28", "task_2": "2026-01-03", "task_3": ""}
	for id, on := range day {
		it := product.Task().NewItem("zoe", id, item.Item{
			entity.AttrTitle: item.String("t"), entity.AttrStatus: item.String(product.StatusArchived),
			product.AttrPriority: item.Int(2), product.AttrIsAllDay: item.Bool(false),
		}, clock().AddDate(0, -1, 0), nil)
		it.SetTime(product.AttrArchivedAt, clock().AddDate(0, -1, 0))
		if on != "" {
			it.SetTime(product.AttrCompletedAt, clock().AddDate(0, -1, 0))
			it[product.AttrCompletedOn], it[product.AttrCompletedOnAt] = item.String(on), it[product.AttrCompletedAt]
		}
		cold, err := copies.Adopt(t.Context(), "zoe", product.Task(), it)
		require.NoError(t, err)
		delete(cold, "remains") // as a release before writes it
		require.NoError(t, store.Put(t.Context(), table.Put{Item: cold}))
	}
	for range 2 { // it may be repeated
		require.NoError(t, s.Transfer.CountCopies(t.Context(), "zoe"))
		for id, on := range day {
			row, err := table.Find(t.Context(), store, entity.LedgerKey("zoe", insights.Name, id))
			require.NoError(t, err)
			if on == "" {
				require.Nil(t, row)
				continue
			}
			require.Equal(t, "i1 DONE#TASK#"+on+" 2", row.Str("c"))
		}
	}
	in, err := s.Queries.Insights(t.Context(), "zoe", "2025-12-28", "2026-01-03")
	require.NoError(t, err)
	require.Equal(t, 2, in.Completed)
}
