package replay_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/port"
	"nexus/pkg/product"
	"nexus/pkg/replay"
)

// closed is a stream of closed shards, listed in this order, with one record each.
type closed []change.Shard

func (s closed) Shards(context.Context) ([]change.Shard, error) { return s, nil }

func (s closed) Read(_ context.Context, shard, after string, _ int) (change.Slice, error) {
	if after != "" {
		return change.Slice{End: true}, nil
	}
	return change.Slice{Records: []change.Record{{EventID: shard, Sequence: "1"}}}, nil
}

func TestCapture_readsAShardAfterItsParentHoweverTheyAreListed(t *testing.T) {
	t.Parallel()
	parent, child, grandchild := change.Shard{ID: "a", Parent: "trimmed"}, change.Shard{ID: "b", Parent: "a"},
		change.Shard{ID: "c", Parent: "b"}
	for _, listed := range []closed{
		{parent, child, grandchild}, {grandchild, child, parent}, {child, grandchild, parent}, {grandchild, parent, child},
	} {
		var read []string
		capture := replay.Capture{Registry: product.Registry(), Source: listed, All: true, Wait: port.Sleep}
		require.NoError(t, capture.Run(t.Context(), func(r change.Record) error {
			read = append(read, r.EventID)
			return nil
		}))
		require.Equal(t, []string{"a", "b", "c"}, read, "listed as %v", listed)
	}
}
