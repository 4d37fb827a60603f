package local_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/archive"
	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/reminders"
)

// Each of these histories was once a bug.

func TestPlatform_movesTheLedgerForABatchWhoseSumIsZero(t *testing.T) {
	onBothStores(t, func(t *testing.T, b *fixture) {
		note := product.Note()
		target := b.notes(1)[0]
		it := b.do(command.Create{Type: note, Fields: map[string]any{"title": "n"}})
		b.deliverAll()
		b.do(command.AddLink{Type: note, ID: it.Str("noteId"), Target: note.Ref(target)})
		b.do(command.RemoveLink{Type: note, ID: it.Str("noteId"), Target: note.Ref(target)})
		pair := b.drain()
		require.Len(t, pair, 2)
		b.deliver(b.links, pair...)
		b.deliver(b.links, pair[0]) // the middle one comes back later
		require.Empty(t, b.rows(entity.LinkPrefix(note.Ref(it))))
	})
}

func TestPlatform_neverReusesADeletedID(t *testing.T) {
	onBothStores(t, func(t *testing.T, b *fixture) {
		task, id := product.Task(), "task_6b0a8f5e-1f5e-4f3a-9e0e-0a1b2c3d4e5f"
		it := b.do(command.Create{Type: task, ID: id, Fields: map[string]any{"title": "first"}})
		b.do(command.Delete{Type: task, ID: id}, it)
		b.deliverAll()
		_, err := b.try(command.Create{Type: task, ID: id, Fields: map[string]any{"title": "second"}})
		var state *command.StateError
		require.ErrorAs(t, err, &state)
		b.deliverAll()
		b.deliver(b.stats, b.records[0]) // the creation, late
		require.Zero(t, b.total(product.StatTotalTasks))
	})
}

func TestPlatform_takesALateDuplicateOfACompletion(t *testing.T) {
	onBothStores(t, func(t *testing.T, b *fixture) {
		task := product.Task()
		it := b.do(command.Create{Type: task, Fields: map[string]any{"title": "x"}})
		set := func(status string) {
			it = b.do(command.Update{Type: task, ID: it.Str("taskId"), Patch: map[string]any{"status": status}}, it)
		}
		set("COMPLETED")
		b.deliverAll()
		first := b.records[len(b.records)-1]
		b.advance(time.Hour)
		set("BACKLOG")
		b.advance(time.Hour)
		set("COMPLETED")
		b.deliverAll()
		b.deliver(b.keeper, first)
		b.deliver(b.stats, first)
		b.advance(22 * time.Hour) // the first timer
		require.Equal(t, "COMPLETED", b.rows(entity.ItemPrefix("TASK"))[0].Str("status"))
		b.advance(2 * time.Hour) // the second
		require.Equal(t, "ARCHIVED", b.rows(entity.ItemPrefix("TASK"))[0].Str("status"))
		require.Len(t, b.events(archive.TaskArchived), 1)
		require.Equal(t, int64(1), b.total(product.StatTotalTasks))
		me, err := b.queries.Me(t.Context(), ann)
		require.NoError(t, err)
		require.Equal(t, it.Str("completedAt"), me.Map("stats").Str(product.StatLastTaskCompleted))
	})
}

func TestPlatform_copiesAndRestoresAnItemEditedAfterItsTTL(t *testing.T) {
	onBothStores(t, func(t *testing.T, b *fixture) {
		task := product.Task()
		it := b.do(command.Create{Type: task, Fields: map[string]any{"title": "old", "status": "ARCHIVED"}})
		b.deliverAll()
		require.True(t, b.rows(entity.ItemPrefix("TASK"))[0].Has("ttl"))
		it = b.do(command.Update{Type: task, ID: it.Str("taskId"), Patch: map[string]any{"title": "new"}}, it)
		require.False(t, b.rows(entity.ItemPrefix("TASK"))[0].Has("ttl"))
		b.deliverAll()
		b.advance(8 * 24 * time.Hour)
		require.Empty(t, b.rows(entity.ItemPrefix("TASK")))
		require.Zero(t, b.total(product.StatTotalTasks))
		back, err := b.archive.Restore(t.Context(), task, ann, it.Str("taskId"))
		require.NoError(t, err)
		require.Equal(t, "new", back.Str("title"))
		require.Equal(t, it.Int("version")+2, back.Int("version"))
		b.deliverAll()
		require.Equal(t, int64(1), b.total(product.StatTotalTasks))
	})
}

func TestPlatform_replacesFortyNineLinksByFortyNineOthers(t *testing.T) {
	onBothStores(t, func(t *testing.T, b *fixture) {
		note := product.Note()
		targets := b.notes(98)
		links := func(targets []item.Item) []any {
			var list []any
			for _, n := range targets {
				list = append(list, map[string]any{"targetType": "NOTE", "targetId": n.Str("noteId")})
			}
			return list
		}
		it := b.do(command.Create{Type: note, Fields: map[string]any{"title": "hub", "links": links(targets[:49])}})
		b.deliverAll()
		require.Len(t, b.rows(entity.LinkPrefix(note.Ref(it))), 49)
		b.do(command.Update{Type: note, ID: it.Str("noteId"), Patch: map[string]any{"links": links(targets[49:])}}, it)
		b.deliverAll()
		var got, want []string
		for _, row := range b.rows(entity.LinkPrefix(note.Ref(it))) {
			_, target, err := entity.ParseLink(row.Str("SK"))
			require.NoError(t, err)
			got = append(got, target.ID)
		}
		for _, n := range targets[49:] {
			want = append(want, n.Str("noteId"))
		}
		require.ElementsMatch(t, want, got)
	})
}

func TestPlatform_letsAUserCreateMetaThatStatisticsWroteFirst(t *testing.T) {
	onBothStores(t, func(t *testing.T, b *fixture) {
		b.notes(1)
		b.deliverAll()
		row := b.rows(entity.ItemPrefix(entity.TypeUserMeta))[0]
		require.Equal(t, int64(0), row.Int("version"))
		require.Empty(t, product.UserMeta().Validate(row), "a complete row")
		me := b.do(command.UpdateMe{Patch: map[string]any{"defaultTzid": "Asia/Tokyo"}}, row)
		require.Equal(t, int64(1), me.Int("version"))
		require.Equal(t, int64(1), me.Map("stats").Int(product.StatTotalNotes), "the statistics survive")
		b.notes(1)
		b.deliverAll()
		me, err := b.queries.Me(t.Context(), ann)
		require.NoError(t, err)
		require.Equal(t, int64(1), me.Int("version"), "and do not count as a change")
		require.Equal(t, int64(2), me.Map("stats").Int(product.StatTotalNotes))
		require.Equal(t, "Asia/Tokyo", me.Str("defaultTzid"))
	})
}

func TestPlatform_firesAReminderOnceMoreThatWasSnoozedAfterwards(t *testing.T) {
	onBothStores(t, func(t *testing.T, b *fixture) {
		reminder := product.Reminder()
		at := item.FormatInstant(b.now.Add(time.Hour))
		it := b.do(command.Create{Type: reminder, Fields: map[string]any{"title": "call", "triggerUtc": at, "tzid": "UTC"}})
		b.deliverAll()
		b.advance(time.Hour)
		require.Len(t, b.events(reminders.DetailType), 1)
		minutes := int64(10)
		b.do(command.SnoozeReminder{ID: it.Str("reminderId"), Minutes: &minutes})
		b.deliverAll()
		for _, c := range b.records { // everything once more
			b.deliver(b.reminders, c)
		}
		b.advance(9 * time.Minute)
		require.Len(t, b.events(reminders.DetailType), 1)
		b.advance(time.Minute)
		require.Len(t, b.events(reminders.DetailType), 2)
		b.advance(48 * time.Hour)
		require.Len(t, b.events(reminders.DetailType), 2)
		deliveries := b.rows(entity.DeliveryPrefix(it.Str("reminderId")))
		require.Len(t, deliveries, 2)
		require.Equal(t, "PENDING", b.rows(entity.ItemPrefix("REMINDER"))[0].Str("status"))
	})
}

func TestPlatform_repeatsADeliveryAfterACrashBeforeSent(t *testing.T) {
	onBothStores(t, func(t *testing.T, b *fixture) {
		reminder := product.Reminder()
		at := item.FormatInstant(b.now.Add(time.Hour))
		it := b.do(command.Create{Type: reminder, Fields: map[string]any{"title": "call", "triggerUtc": at, "tzid": "UTC"}})
		b.deliverAll()
		b.failBus = func(after bool) error {
			if after {
				b.failBus = nil
				return errors.New("the process died here")
			}
			return nil
		}
		b.now = b.now.Add(time.Hour)
		_, err := b.schedules.Fire(t.Context(), b.now)
		require.Error(t, err)
		b.advance(time.Minute)
		published := b.events(reminders.DetailType)
		require.Len(t, published, 2)
		var first, second struct{ DeliveryID string }
		require.NoError(t, json.Unmarshal([]byte(published[0]), &first))
		require.NoError(t, json.Unmarshal([]byte(published[1]), &second))
		require.NotEmpty(t, first.DeliveryID)
		require.Equal(t, first, second)
		require.Len(t, b.rows(entity.DeliveryPrefix(it.Str("reminderId"))), 1)
		require.Equal(t, at, b.rows(entity.ItemPrefix("REMINDER"))[0].Str("lastFiredUtc"))
	})
}
