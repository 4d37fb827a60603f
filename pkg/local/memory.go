package local

import (
	"context"
	"fmt"
	"time"

	"nexus/pkg/eventsource"
	"nexus/pkg/item"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

// startMemory makes a table in this process. Its stream's records have the machine's time, as a service's have: moving
// the platform's clock must not age them.
func startMemory(rows *expiries) *backend {
	store := memory.New(time.Now, memory.Options{})
	feed := store.Feed()
	return &backend{
		newStore: func(o table.Observer, _ bool) table.Store { return store.Observed(o) },
		walker:   store, tableName: table.ProductSchema().Name,
		newSource: func() eventsource.Source { return feed },
		changed:   feed.Changed,
		heads: func(ctx context.Context) (map[string]string, error) {
			shards, err := feed.Shards(ctx)
			if err != nil {
				return nil, err
			}
			heads := map[string]string{}
			for _, shard := range shards {
				if heads[shard.ID], err = feed.Head(shard.ID); err != nil {
					return nil, fmt.Errorf("head of shard %s: %w", shard.ID, err)
				}
			}
			return heads, nil
		},
		sweep: func(_ context.Context, at time.Time) (int, error) {
			rows.take(at)
			// The store removes rows that expired before the instant; here an item leaves in the second of its ttl.
			return len(store.Sweep(at.Add(time.Second), 0)), nil
		},
		mask: func(_ context.Context, insteadOf func(string) (item.Key, bool)) (int, error) {
			return feed.Mask(func(key item.Key) (item.Key, bool) {
				instead, masks := insteadOf(key.PK)
				return instead, masks && instead != key
			}), nil
		},
		stop: func(context.Context) error { return nil },
	}
}
