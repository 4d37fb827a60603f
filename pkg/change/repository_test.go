package change_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

func TestInterpret_takesARepositorysRowForNoEntityAndNoFailure(t *testing.T) {
	t.Parallel()
	const revID = "rev_20260302T080000Z_0123456789abcdef0123456789abcdef"
	tree, plan := repository.Address{User: "ann"}, repository.Address{User: "ann", Date: "2026-03-02"}
	for _, key := range []item.Key{
		tree.HeadKey(), tree.LogKey(revID), tree.DraftKey(revID), tree.NodeKey(revID, "drv_1"),
		tree.EdgeKey(revID, "drv_1", 1, "act_1"),
		plan.HeadKey(), plan.LogKey(revID), plan.DraftKey(revID), plan.TodoKey(revID, 1, "act_1"),
		plan.BlockKey(revID, time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC), "blk_1"),
	} {
		c, err := change.Interpret(product.Registry(), change.Record{
			Name: change.Insert, Sequence: "1", Key: key, New: key.Item(),
		})
		require.NoError(t, err, key)
		require.Nil(t, c.Type)
		require.Equal(t, "ann", c.User)
		require.Empty(t, c.TraceID())
	}
	_, err := change.Interpret(product.Registry(), change.Record{
		Name: change.Insert, Sequence: "1", Key: item.Key{PK: "U#ann", SK: "TASK#task_1"}, New: item.Item{},
	})
	require.ErrorIs(t, err, change.ErrUndecodable)
}
