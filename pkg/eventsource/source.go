package eventsource

import (
	"context"

	"nexus/pkg/change"
)

// Source is a change stream as a reader sees it.
type Source interface {
	// Shards returns the shards that still exist, closed ones included, in no particular order.
	Shards(ctx context.Context) ([]change.Shard, error)
	// Read returns up to limit records of the shard, in order, from behind the sequence number after; an empty after
	// means the oldest record that is kept. An empty slice without End says that there is nothing now. Where records
	// behind after have been trimmed, it goes on with the oldest one kept, and the source itself reports the gap; a shard
	// that is gone whole is at its End. An error is retried for as long as it lasts.
	Read(ctx context.Context, shard, after string, limit int) (change.Slice, error)
}

// parentsFirst orders shards so that each comes behind its parent. A shard whose parents form a circle is left out;
// no stream has one.
func parentsFirst(shards []change.Shard) []change.Shard {
	listed := map[string]bool{}
	for _, s := range shards {
		listed[s.ID] = true
	}
	ordered, placed := make([]change.Shard, 0, len(shards)), map[string]bool{}
	for range shards {
		before := len(ordered)
		for _, s := range shards {
			if !placed[s.ID] && (!listed[s.Parent] || placed[s.Parent]) {
				ordered, placed[s.ID] = append(ordered, s), true
			}
		}
		if len(ordered) == before {
			break
		}
	}
	return ordered
}
