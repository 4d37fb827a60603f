package memory_test

import (
	"testing"
	"time"

	"nexus/pkg/change"
	"nexus/pkg/item"
	"nexus/pkg/table/memory"
)

func TestFeed_putsOneUsersRowsOnSeveralShards(t *testing.T) {
	t.Parallel()
	b := setup(t, memory.Options{Shards: 4})
	for i := range 400 {
		b.put(numbered(i), nil)
	}
	records := b.drain()
	b.Len(records, 4)
	for shard, of := range records {
		b.InDelta(100, len(of), 50, shard)
	}
}

func TestSplit_keepsARowsRecordsInOrder(t *testing.T) {
	t.Parallel()
	b := setup(t, memory.Options{Shards: 2})
	const rows, rounds = 40, 30
	for round := range rounds {
		for i := range rows {
			b.put(numbered(i), count(int64(round)))
		}
		if round%10 == 9 {
			shards, err := b.feed.Shards(b.ctx)
			b.NoError(err)
			_, err = b.feed.Split(shards[len(shards)-1].ID)
			b.NoError(err)
			_, err = b.feed.Split(shards[len(shards)-1].ID)
			b.ErrorIs(err, memory.ErrClosedShard)
		}
	}
	shards, err := b.feed.Shards(b.ctx)
	b.NoError(err)
	b.Len(shards, 2+2*3)

	next := map[item.Key]int64{}
	known := map[string]bool{"": true}
	total := 0
	for _, s := range shards {
		b.True(known[s.Parent], "a parent is listed before its children")
		known[s.ID] = true
		for _, r := range b.drainShard(s.ID) {
			b.Equal(next[r.Key], r.New.Int("count"), "%s in %s", r.Key, s.ID)
			next[r.Key]++
			total++
		}
	}
	b.Equal(rows*rounds, total)
}

func TestSplit_endsAShardAndItsChildrenGoOn(t *testing.T) {
	t.Parallel()
	b := setup(t, memory.Options{})
	for i := range 3 {
		b.put(numbered(i), nil)
	}
	parent := b.only()
	children, err := b.feed.Split(parent)
	b.NoError(err)
	slice, err := b.feed.Read(b.ctx, parent, "", 2)
	b.NoError(err)
	b.False(slice.End, "one record is left")
	slice, err = b.feed.Read(b.ctx, parent, slice.Records[1].Sequence, 2)
	b.NoError(err)
	b.Len(slice.Records, 1)
	b.True(slice.End)

	for i := range 20 {
		b.put(numbered(i), count(1))
	}
	b.Len(b.drainShard(parent), 3)
	b.Equal(20, len(b.drainShard(children[0]))+len(b.drainShard(children[1])))
	for _, child := range children {
		b.NotEmpty(b.drainShard(child))
	}
}

func TestTrim_forgetsOldRecordsAndThenTheirShards(t *testing.T) {
	t.Parallel()
	b := setup(t, memory.Options{})
	b.put("a", count(1))
	b.clock.advance(time.Hour)
	b.put("a", count(2))
	parent := b.only()
	records := b.drainShard(parent)

	b.feed.Trim(b.clock.now())
	b.Equal(records[1:], b.drainShard(parent), "the beginning is left")
	slice, err := b.feed.Read(b.ctx, parent, records[0].Sequence, 10)
	b.NoError(err)
	b.Equal(records[1:], slice.Records, "nothing after the position is lost")

	children, err := b.feed.Split(parent)
	b.NoError(err)
	b.clock.advance(time.Hour)
	b.put("a", count(3))
	b.feed.Trim(b.clock.now())
	shards, err := b.feed.Shards(b.ctx)
	b.NoError(err)
	b.Equal([]change.Shard{{ID: children[0]}, {ID: children[1]}}, shards)
	_, err = b.feed.Read(b.ctx, parent, "", 1)
	b.ErrorIs(err, memory.ErrUnknownShard)
	b.Equal(1, len(b.drainShard(children[0]))+len(b.drainShard(children[1])))
}

func TestTrim_reportsAPositionBeforeIt(t *testing.T) {
	t.Parallel()
	b := setup(t, memory.Options{})
	for i := range 4 {
		b.put("a", count(int64(i)))
		b.clock.advance(time.Hour)
	}
	shard := b.only()
	records := b.drainShard(shard)
	head, err := b.feed.Head(shard)
	b.NoError(err)

	b.feed.Trim(start().Add(3 * time.Hour))
	_, err = b.feed.Read(b.ctx, shard, records[0].Sequence, 10)
	b.ErrorIs(err, memory.ErrTrimmed)
	b.Equal(records[3:], b.drainShard(shard))

	b.feed.Trim(b.clock.now())
	b.Empty(b.drainShard(shard))
	after, err := b.feed.Head(shard)
	b.NoError(err)
	b.Equal(head, after, "the head outlives its record")
	b.Equal(shard, b.only(), "an open shard stays")
}
