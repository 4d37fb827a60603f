package entity_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

// A command of the release before leaves the attributes that it does not know as they are.
func TestEditVersion_countsAnEditOfTheReleaseBefore(t *testing.T) {
	t.Parallel()
	now := time.Date(2025, time.December, 1, 12, 0, 0, 0, time.UTC)
	task := product.Task()
	first := task.NewItem("ann", "task_1", item.Item{
		entity.AttrTitle: item.String("t"), entity.AttrStatus: item.String(product.StatusBacklog),
	}, now, nil)
	second := task.NextVersion(entity.BySystem, "ann", first, first, now, nil)
	require.True(t, entity.HoldsAt(second, 1), "the system wrote since")
	third := task.NextVersion(entity.BySystem, "ann", second, second, now, nil)
	require.True(t, entity.HoldsAt(third, 1), "and once more")

	edited := third.Clone()
	edited[entity.AttrTitle], edited[entity.AttrVersion] = item.String("other"), item.Int(4)
	for _, seen := range []int64{1, 2, 3} {
		require.False(t, entity.HoldsAt(edited, seen), "version %d is from before the edit", seen)
	}
	require.True(t, entity.HoldsAt(edited, 4))
	fifth := task.NextVersion(entity.BySystem, "ann", edited, edited, now, nil)
	require.False(t, entity.HoldsAt(fifth, 3))
	require.True(t, entity.HoldsAt(fifth, 4))

	sixth := task.NextVersion(entity.ByUser, "ann", fifth, fifth, now, nil)
	require.False(t, sixth.Has(entity.AttrEditVersion) || sixth.Has(entity.AttrSystemVersion))
}
