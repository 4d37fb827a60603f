package item_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/item"
)

func TestCompare_ordersByPartitionThenBySortKey(t *testing.T) {
	t.Parallel()
	want := []item.Key{{PK: "a", SK: "y"}, {PK: "a", SK: "z"}, {PK: "a-", SK: "x"}, {PK: "b"}} // as texts, "a-/x" is first
	for _, keys := range [][]item.Key{want, {want[3], want[2], want[1], want[0]}, {want[2], want[0], want[3], want[1]}} {
		require.Equal(t, want, slices.SortedFunc(slices.Values(keys), item.Key.Compare))
	}
	require.Zero(t, want[0].Compare(want[0]))
}
