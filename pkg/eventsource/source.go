package eventsource

import (
	"context"

	"nexus/pkg/change"
)

// Source is a change stream from a reader's point of view.
type Source interface {
	// Shards returns the shards that still exist, closed ones included, in no particular order.
	Shards(ctx context.Context) ([]change.Shard, error)
	// Read returns up to limit records of the shard, in order, after the sequence number after; an empty after means the
	// oldest available record. An empty slice without End means that there is nothing now. If records after that position
	// have been trimmed, Read continues with the oldest available one, and the source itself reports the gap. A shard
	// that is gone whole is at its End. The reader retries an error for as long as it lasts.
	Read(ctx context.Context, shard, after string, limit int) (change.Slice, error)
}

// parentsFirst orders shards so that each follows its parent. A shard whose parents form a circle is left out; no
// stream has one.
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
