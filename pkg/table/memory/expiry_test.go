package memory_test

import (
	"testing"
	"time"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

func ttl(at time.Time) item.Item { return item.Item{entity.AttrTTL: item.Int(at.Unix())} }

func TestSweep_removesWhatIsPastItsTTLOldestFirst(t *testing.T) {
	t.Parallel()
	b := setup(t, memory.Options{})
	now := start()
	b.put("stays", nil)
	b.put("later", ttl(now.Add(time.Hour)))
	b.put("now", ttl(now))
	b.put("second", ttl(now.Add(-time.Hour)))
	b.put("first", ttl(now.Add(-2*time.Hour)))
	last := b.feed.Last()

	b.Empty(b.store.Sweep(now.Add(-3*time.Hour), 0))
	b.Equal(last, b.feed.Last())
	b.Equal([]item.Key{noteKey("first")}, b.store.Sweep(now, 1))
	b.Equal([]item.Key{noteKey("second")}, b.store.Sweep(now, 0))
	b.Equal([]item.Key{noteKey("now")}, b.store.Sweep(now.Add(time.Second), 0))
	b.Empty(b.store.Sweep(now.Add(time.Second), 0))
	b.Equal(2, b.store.Len())

	slice, err := b.feed.Read(b.ctx, b.only(), last, 10)
	b.NoError(err)
	b.Len(slice.Records, 3)
	for i, name := range []string{"first", "second", "now"} {
		r := slice.Records[i]
		b.Equal(change.Remove, r.Name)
		b.True(r.Expired)
		b.Equal(noteKey(name), r.Key)
		b.True(r.Old.Has(entity.AttrTTL))
		b.Nil(r.New)
	}
}

func TestSweep_leavesARowReadableUntilItIsRemoved(t *testing.T) {
	t.Parallel()
	b := setup(t, memory.Options{})
	row := ttl(start().Add(-time.Hour))
	row[item.AttrGSI3PK], row[item.AttrGSI3SK] = item.String(entity.UserPK("u")), item.String("x")
	b.put("a", row)
	inIndex := table.Query{Index: table.StateView, Partition: entity.UserPK("u")}
	for swept, want := range []int{1, 0} {
		if swept == 1 {
			b.store.Sweep(start(), 0)
		}
		n, err := b.store.Count(b.ctx, inIndex)
		b.NoError(err)
		b.Equal(want, n)
		rows, err := b.store.BatchGet(b.ctx, []item.Key{noteKey("a")})
		b.NoError(err)
		b.Len(rows, want)
	}
}

func TestSweep_followsChangesOfTheTTL(t *testing.T) {
	t.Parallel()
	b := setup(t, memory.Options{})
	past := start().Add(-time.Hour)
	update := func(name string, set item.Item, remove ...string) {
		_, err := b.store.Update(b.ctx, table.Update{Key: noteKey(name), Set: set, Remove: remove})
		b.NoError(err)
	}
	b.put("removed", ttl(past))
	update("removed", nil, entity.AttrTTL)
	b.put("put off", ttl(past))
	update("put off", ttl(start().Add(time.Hour)))
	b.put("replaced", ttl(past))
	b.put("replaced", nil)
	b.put("deleted", ttl(past))
	b.remove("deleted")
	b.put("added", nil)
	update("added", ttl(past))
	b.put("untouched", ttl(past))
	update("untouched", count(1))
	b.ElementsMatch([]item.Key{noteKey("added"), noteKey("untouched")}, b.store.Sweep(start(), 0))
}

func TestSweep_ignoresWhatTheServiceIgnores(t *testing.T) {
	t.Parallel()
	b := setup(t, memory.Options{})
	b.put("six years ago", ttl(start().AddDate(-6, 0, 0)))
	b.put("text", item.Item{entity.AttrTTL: item.String("1")})
	b.put("zero", item.Item{entity.AttrTTL: item.Int(0)})
	b.put("negative", item.Item{entity.AttrTTL: item.Int(-1)})
	b.put("milliseconds", item.Item{entity.AttrTTL: item.Int(start().UnixMilli())})
	b.put("huge", item.Item{entity.AttrTTL: item.Number("1e40")})
	b.put("four years ago", ttl(start().AddDate(-4, 0, 0)))
	b.Equal([]item.Key{noteKey("four years ago")}, b.store.Sweep(start(), 0))
}
