package archive_test

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/archive"
	blobmemory "nexus/pkg/blob/memory"
	busmemory "nexus/pkg/bus/memory"
	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

// TestConsumer_callsTheTableAsOftenAsPinned counts the calls of the table for each kind of record, the first time and
// when it comes again.
func TestConsumer_callsTheTableAsOftenAsPinned(t *testing.T) {
	t.Parallel()
	if os.Getenv("NEXUS_UNCOUNTED") != "" {
		t.Skip("it counts calls, and a mutant is to be noticed without that")
	}
	now := time.Date(2025, 12, 1, 12, 0, 0, 0, time.UTC)
	status := func(s string) func(item.Item) {
		return func(it item.Item) { it[entity.AttrStatus] = item.String(s) }
	}
	for name, c := range map[string]struct {
		id            string
		before, after func(item.Item) // nil: there is none
		first, again  int
	}{
		"a note is written":             {"note_1", nil, func(item.Item) {}, 0, 0},
		"a task goes on":                {"task_1", status("BACKLOG"), status("IN_PROGRESS"), 0, 0},
		"an occurrence is cancelled":    {"inst_20251202_1", status("CONFIRMED"), status("CANCELLED"), 0, 0},
		"a series is cancelled":         {"mst_1", status("CONFIRMED"), status("CANCELLED"), 0, 0},
		"a task is completed, no timer": {"task_1", status("IN_PROGRESS"), status("COMPLETED"), 0, 0},
		"a task is completed": {"task_1", status("IN_PROGRESS"), func(it item.Item) {
			status("COMPLETED")(it)
			it.SetTime(product.AttrCompletedAt, now)
			it.SetTime(product.AttrArchiveAt, now.Add(time.Hour))
		}, 1, 1},
		"a task is archived":    {"task_1", status("COMPLETED"), status("ARCHIVED"), 2, 1},
		"an event is cancelled": {"evt_1", status("CONFIRMED"), status("CANCELLED"), 2, 1},
		"an archived task is edited": {"task_1", status("ARCHIVED"),
			func(it item.Item) { status("ARCHIVED")(it); it[entity.AttrTitle] = item.String("y") }, 3, 2},
		"an archived task is taken up":   {"task_1", status("ARCHIVED"), status("BACKLOG"), 1, 1},
		"an archived task is removed":    {"task_1", status("ARCHIVED"), nil, 1, 1},
		"a task that goes on is removed": {"task_1", status("BACKLOG"), nil, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := 0
			clock := func() time.Time { return now }
			store := memory.New(clock, memory.Options{Observer: func(table.Consumption) { calls++ }})
			registry := product.Registry()
			consumer := archive.NewConsumer(archive.Config{
				Store: store, Registry: registry, Copies: blobmemory.New(nil), Bus: busmemory.New(nil),
				Announces: archive.Events(), Now: clock,
			})

			typ := registry.ByID(c.id)
			image := func(version int64, change func(item.Item)) item.Item {
				if change == nil {
					return nil
				}
				it := entity.ItemKey(ann, entity.Ref{Type: typ.Name, ID: c.id}).Item()
				it[entity.AttrType], it[entity.AttrVersion] = item.String(typ.Name), item.Int(version)
				it[entity.AttrTitle] = item.String("x")
				it.SetTime(entity.AttrUpdatedAt, now)
				change(it)
				return it
			}
			ch := change.Change{
				Kind: change.Modified, Type: typ, User: ann, Ref: entity.Ref{Type: typ.Name, ID: c.id}, Version: 2, Created: now,
				Old: image(1, c.before), New: image(2, c.after),
			}
			switch {
			case ch.Old == nil:
				ch.Kind, ch.Key = change.Inserted, ch.New.Key()
			case ch.New == nil:
				ch.Kind, ch.Key = change.Removed, ch.Old.Key()
			default:
				ch.Key = ch.New.Key()
			}
			if ch.New != nil {
				require.NoError(t, store.Put(t.Context(), table.Put{Item: ch.New}))
			}
			for _, want := range []int{c.first, c.again} {
				calls = 0
				require.NoError(t, consumer.Apply(t.Context(), []change.Change{ch})[0].Err)
				require.Equal(t, want, calls)
			}
		})
	}
}
