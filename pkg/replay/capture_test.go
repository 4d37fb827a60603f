package replay_test

import (
	"context"
	"errors"
	"testing"
	"time"

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

// leaving is a stream whose first shard is listed once, and is gone after its first record.
type leaving struct{ lists int }

func (s *leaving) Shards(context.Context) ([]change.Shard, error) {
	if s.lists++; s.lists == 1 {
		return []change.Shard{{ID: "a"}, {ID: "b", Parent: "a"}}, nil
	}
	return []change.Shard{{ID: "b", Parent: "a"}}, nil
}

func (s *leaving) Read(ctx context.Context, shard, after string, limit int) (change.Slice, error) {
	return closed{}.Read(ctx, shard, after, limit)
}

func TestCapture_finishesAShardThatIsNoLongerListed(t *testing.T) {
	t.Parallel()
	var read []string
	waits := 0
	capture := replay.Capture{
		Registry: product.Registry(), Source: &leaving{}, All: true,
		Wait: func(context.Context, time.Duration) error {
			if waits++; waits > 10 {
				return errors.New("it waits for ever")
			}
			return nil
		},
	}
	require.NoError(t, capture.Run(t.Context(), func(r change.Record) error {
		read = append(read, r.EventID)
		return nil
	}))
	require.Equal(t, []string{"a", "b"}, read)
}
