package memory_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

// clock is a virtual clock; one goroutine moves it.
type clock struct{ at time.Time }

func (c *clock) now() time.Time          { return c.at }
func (c *clock) advance(d time.Duration) { c.at = c.at.Add(d) }

// fixture is a store with its clock.
type fixture struct {
	*require.Assertions
	ctx   context.Context
	clock *clock
	store *memory.Store
	feed  *memory.Feed
}

func setup(t *testing.T, o memory.Options) *fixture {
	t.Helper()
	c := &clock{start()}
	store := memory.New(c.now, o)
	return &fixture{Assertions: require.New(t), ctx: t.Context(), clock: c, store: store, feed: store.Feed()}
}

func noteKey(name string) item.Key {
	return entity.ItemKey("u", entity.Ref{Type: product.TypeNote, ID: name})
}

// note is a row of user u.
func note(name string, attributes item.Item) item.Item {
	it := noteKey(name).Item()
	for attribute, v := range attributes {
		it[attribute] = v
	}
	return it
}

func (b *fixture) put(name string, attributes item.Item) item.Item {
	it := note(name, attributes)
	b.NoError(b.store.Put(b.ctx, table.Put{Item: it}))
	return it
}

func (b *fixture) remove(name string) {
	b.NoError(b.store.Delete(b.ctx, table.Delete{Key: noteKey(name)}))
}

// drain reads every shard from its beginning, parents first, in reads of two records.
func (b *fixture) drain() map[string][]change.Record {
	shards, err := b.feed.Shards(b.ctx)
	b.NoError(err)
	out := map[string][]change.Record{}
	for _, s := range shards {
		out[s.ID] = b.drainShard(s.ID)
	}
	return out
}

func (b *fixture) drainShard(id string) []change.Record {
	var out []change.Record
	for after := ""; ; {
		slice, err := b.feed.Read(b.ctx, id, after, 2)
		b.NoError(err)
		out = append(out, slice.Records...)
		if len(slice.Records) == 0 || slice.End {
			return out
		}
		after = slice.Records[len(slice.Records)-1].Sequence
	}
}

// only returns the id of the feed's one shard.
func (b *fixture) only() string {
	shards, err := b.feed.Shards(b.ctx)
	b.NoError(err)
	b.Len(shards, 1)
	return shards[0].ID
}

func count(n int64) item.Item { return item.Item{"count": item.Int(n)} }

func numbered(i int) string { return fmt.Sprintf("%04d", i) }
