package memory_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"nexus/pkg/change"
	"nexus/pkg/item"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

// follower reads a feed as a consumer does: parents to their end, then their children, and waits when it has all.
type follower struct {
	feed  *memory.Feed
	after map[string]string
	ended map[string]bool
	seen  []change.Record
}

// round reads every shard that may be read once.
func (f *follower) round(ctx context.Context) error {
	shards, err := f.feed.Shards(ctx)
	if err != nil {
		return err
	}
	for _, s := range shards {
		if f.ended[s.ID] || (s.Parent != "" && !f.ended[s.Parent]) {
			continue
		}
		slice, err := f.feed.Read(ctx, s.ID, f.after[s.ID], 50)
		if err != nil {
			return err
		}
		if n := len(slice.Records); n > 0 {
			f.after[s.ID] = slice.Records[n-1].Sequence
		}
		f.ended[s.ID] = slice.End
		f.seen = append(f.seen, slice.Records...)
	}
	return nil
}

func TestFeed_showsAFollowerEveryRecordInOrderDuringSplits(t *testing.T) {
	t.Parallel()
	const writers, rounds, rows = 4, 60, 5
	b := setup(t, memory.Options{Shards: 2})
	ctx, stop := context.WithTimeout(b.ctx, 30*time.Second)
	defer stop()

	failures := make(chan error, writers+1)
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() { failures <- writeRounds(ctx, b.store, fmt.Sprint("writer", w), rounds, rows) })
	}
	all.Go(func() { failures <- splitSome(ctx, b.feed) })

	f := &follower{feed: b.feed, after: map[string]string{}, ended: map[string]bool{}}
	for len(f.seen) < writers*rounds*rows {
		changed, before := b.feed.Changed(), len(f.seen)
		b.NoError(f.round(ctx))
		if len(f.seen) > before {
			continue
		}
		if shards, err := b.feed.Shards(ctx); err == nil && f.behind(shards) {
			continue
		}
		select {
		case <-changed:
		case <-ctx.Done():
			b.FailNow("records are missing", "%d seen", len(f.seen))
		}
	}
	all.Wait()
	for range writers + 1 {
		b.NoError(<-failures)
	}
	next := map[item.Key]int64{}
	for _, r := range f.seen {
		b.Equal(next[r.Key], r.New.Int("count"), r.Key)
		next[r.Key]++
	}
	b.Len(next, writers*rows)
}

// behind reports whether a round opened shards that the next one can read at once.
func (f *follower) behind(shards []change.Shard) bool {
	for _, s := range shards {
		head, err := f.feed.Head(s.ID)
		if err == nil && !f.ended[s.ID] && head != f.after[s.ID] {
			return true
		}
	}
	return false
}

func writeRounds(ctx context.Context, store *memory.Store, writer string, rounds, rows int) error {
	for round := range rounds {
		for i := range rows {
			_, err := store.Update(ctx, table.Update{Key: noteKey(writer + numbered(i)), Set: count(int64(round))})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func splitSome(ctx context.Context, feed *memory.Feed) error {
	for range 5 {
		shards, err := feed.Shards(ctx)
		if err != nil {
			return err
		}
		if _, err := feed.Split(shards[len(shards)-1].ID); err != nil {
			return err
		}
	}
	return nil
}
