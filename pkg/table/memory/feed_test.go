package memory_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/item"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

func TestFeed_hasOneRecordForEveryChangeOfARow(t *testing.T) {
	t.Parallel()
	b := setup(t, memory.Options{SourceARN: "arn:aws:dynamodb:eu-central-1:111122223333:table/T/stream/S"})
	first := b.put("a", count(1))
	b.clock.advance(1500 * time.Millisecond)
	second, err := b.store.Update(b.ctx, table.Update{Key: noteKey("a"), Set: count(2)})
	b.NoError(err)
	b.NoError(b.store.Transact(b.ctx, table.Put{Item: note("b", nil)}, table.Delete{Key: noteKey("a")}))

	records := b.drainShard(b.only())
	b.Len(records, 4)
	insert, modify, other, remove := records[0], records[1], records[2], records[3]

	b.Equal(change.Insert, insert.Name)
	b.Nil(insert.Old)
	b.Equal(first, insert.New)
	b.Equal(start(), insert.Created)

	b.Equal(change.Modify, modify.Name)
	b.Equal(first, modify.Old)
	b.Equal(second, modify.New)
	b.Equal(start().Add(time.Second), modify.Created, "whole seconds")

	b.Equal(change.Insert, other.Name)
	b.Equal(noteKey("b"), other.Key)

	b.Equal(change.Remove, remove.Name)
	b.Equal(second, remove.Old)
	b.Nil(remove.New)
	b.False(remove.Expired)

	seen := map[string]bool{}
	for i, r := range records {
		b.Len(r.Sequence, 21)
		b.Len(r.EventID, 32)
		b.False(seen[r.EventID])
		seen[r.EventID] = true
		b.True(strings.HasPrefix(r.SourceARN, "arn:aws:dynamodb:eu-central-1:"))
		if i > 0 {
			b.Negative(change.CompareSequence(records[i-1].Sequence, r.Sequence))
		}
	}
}

func TestFeed_hasNoRecordOfAWriteThatChangesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t, memory.Options{})
	b.put("a", item.Item{"n": item.Number("1.5"), "set": item.StringSet{"x", "y"}, "map": item.Map{"k": item.Int(1)}})
	last := b.feed.Last()

	b.put("a", item.Item{"n": item.Number("1.50"), "set": item.StringSet{"y", "x"}, "map": item.Map{"k": item.Int(1)}})
	_, err := b.store.Update(b.ctx, table.Update{
		Key: noteKey("a"), Set: item.Item{"n": item.Number("15e-1")}, Remove: []string{"absent"},
	})
	b.NoError(err)
	b.remove("missing")
	b.Error(b.store.Put(b.ctx, table.Put{Item: note("a", nil), If: table.NotExists()}))
	b.Error(b.store.Transact(b.ctx, table.Put{Item: note("b", nil)}, table.Check{
		Key: noteKey("a"), If: table.NotExists(),
	}))
	b.NoError(b.store.Transact(b.ctx,
		table.Check{Key: noteKey("b"), If: table.NotExists()},
		table.Update{Key: noteKey("a"), Set: item.Item{"n": item.Number("1.5")}},
	))
	b.Equal(last, b.feed.Last())
	b.Len(b.drainShard(b.only()), 1)
}

func TestTampered_findsACallerThatChangesWhatItRead(t *testing.T) {
	t.Parallel()
	reads := map[string]func(*fixture, item.Key) item.Item{
		"a row": func(b *fixture, key item.Key) item.Item {
			row, err := b.store.Get(b.ctx, key)
			b.NoError(err)
			return row
		},
		"a row among others": func(b *fixture, key item.Key) item.Item {
			page, err := b.store.Query(b.ctx, table.Query{Partition: key.PK})
			b.NoError(err)
			return page.Items[0]
		},
		"a record": func(b *fixture, _ item.Key) item.Item { return b.drainShard(b.only())[0].New },
	}
	for name, read := range reads {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, memory.Options{Witnessed: true})
			row := b.put("a", item.Item{"map": item.Map{"k": item.Int(1)}})
			b.put("b", item.Item{"map": item.Map{"k": item.Int(1)}})
			got := read(b, row.Key())
			b.Empty(b.store.Tampered())
			got["map"].(item.Map)["k"] = item.Int(2)
			b.Equal([]item.Key{row.Key()}, b.store.Tampered())
		})
	}
}

func TestRead_goesOnAfterItsPosition(t *testing.T) {
	t.Parallel()
	b := setup(t, memory.Options{})
	for i := range 1500 {
		b.put(numbered(i), nil)
	}
	shard := b.only()
	all, err := b.feed.Read(b.ctx, shard, "", 0)
	b.NoError(err)
	b.Len(all.Records, 1000, "one read returns no more")
	b.False(all.End)
	next, err := b.feed.Read(b.ctx, shard, all.Records[999].Sequence, 2000)
	b.NoError(err)
	b.Len(next.Records, 500)
	head, err := b.feed.Head(shard)
	b.NoError(err)
	b.Equal(head, next.Records[499].Sequence)
	b.Equal(head, b.feed.Last())
	none, err := b.feed.Read(b.ctx, shard, head, 10)
	b.NoError(err)
	b.Empty(none.Records)
	b.False(none.End, "an open shard has no end")
}

func TestRead_refusesWhatTheFeedDoesNotHave(t *testing.T) {
	t.Parallel()
	b := setup(t, memory.Options{})
	_, err := b.feed.Read(b.ctx, "no-such-shard", "", 1)
	b.ErrorIs(err, memory.ErrUnknownShard)
	_, err = b.feed.Head("")
	b.ErrorIs(err, memory.ErrUnknownShard)
	_, err = b.feed.Split("no-such-shard")
	b.ErrorIs(err, memory.ErrUnknownShard)
	for _, after := range []string{"1", "200000000000000000001", "1x0000000000000000001", "10000000000000000000001"} {
		_, err = b.feed.Read(b.ctx, b.only(), after, 1)
		b.ErrorIs(err, table.ErrInvalid, after)
	}
}

func TestChanged_wakesAtTheNextRecordAndAtASplit(t *testing.T) {
	t.Parallel()
	b := setup(t, memory.Options{})
	isClosed := func(c <-chan struct{}) bool {
		select {
		case <-c:
			return true
		default:
			return false
		}
	}
	changed := b.feed.Changed()
	b.Equal(changed, b.feed.Changed(), "all who wait share a channel")
	b.False(isClosed(changed))
	b.put("a", nil)
	b.True(isClosed(changed))

	changed = b.feed.Changed()
	b.put("a", nil)
	b.False(isClosed(changed), "nothing changed")
	_, err := b.feed.Split(b.only())
	b.NoError(err)
	b.True(isClosed(changed))
}

func TestFeed_isTheSameForTheSameCalls(t *testing.T) {
	t.Parallel()
	run := func() map[string][]change.Record {
		b := setup(t, memory.Options{Shards: 3})
		for i := range 50 {
			b.put(numbered(i%20), count(int64(i)))
		}
		return b.drain()
	}
	require.Equal(t, run(), run())
}
