package archive_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/archive"
	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

func TestConsumer_archivesACompletedTaskThatComesBackByRestore(t *testing.T) {
	t.Parallel()
	w, typ := newWorld(t, 1), product.Task()
	task := w.patch(typ, w.create(typ, map[string]any{"title": "report", "tags": []any{"work"}}),
		map[string]any{"status": "COMPLETED"})
	id, key := task.Str("taskId"), task.Key()
	w.deliverAll()
	w.advance(24*time.Hour - time.Second)
	w.deliverAll()
	require.Equal(t, "COMPLETED", w.get(key).Str("status"))

	w.advance(time.Second)
	w.deliverAll()
	archived := w.get(key)
	require.Equal(t, "ARCHIVED", archived.Str("status"))
	require.Equal(t, int64(3), archived.Int("version"))
	require.Equal(t, w.now.Add(7*24*time.Hour).Unix(), archived.Int("ttl"),
		"the ttl changes neither version nor updatedAt")
	require.Len(t, w.published(archive.TaskArchived), 1)

	w.advance(7 * 24 * time.Hour)
	w.deliverAll()
	require.Nil(t, w.get(key))
	require.Equal(t, int64(4), w.published(archive.ItemExpired)[0].Version)
	copies, _, err := w.archive.List(t.Context(), ann, 10, nil)
	require.NoError(t, err)
	require.Equal(t,
		[]archive.Copy{{Ref: entity.Ref{Type: "TASK", ID: id}, Version: 3, Title: "report", ExpiresAt: w.now}}, copies)

	back, err := w.archive.Restore(t.Context(), typ, ann, id)
	require.NoError(t, err)
	requireSame(t, archived, back)
	require.Equal(t, int64(5), back.Int("version"))
	w.deliverAll()
	w.checkCopies()
	require.Equal(t, int64(5), w.published(archive.ItemRestored)[0].Version)
	require.False(t, w.get(key).Has("ttl"), "a restored task stays until its status changes")
	w.patch(typ, back, map[string]any{"title": "report again"})
	w.deliverAll()
	require.False(t, w.get(key).Has("ttl"))
	_, err = w.archive.Restore(t.Context(), typ, ann, id)
	require.ErrorIs(t, err, archive.ErrAlive)
	_, err = w.archive.Restore(t.Context(), typ, "bob", id)
	require.ErrorIs(t, err, archive.ErrNoCopy)
}

func TestRestore_bringsBackAnEditMadeAfterTheTTLWasSet(t *testing.T) {
	t.Parallel()
	w, typ := newWorld(t, 1), product.Event()
	event := w.create(typ, map[string]any{"title": "fair", "startUtc": "2025-07-01T09:00:00"})
	event = w.patch(typ, event, map[string]any{"status": "CANCELLED"})
	w.deliverAll()
	require.True(t, w.get(event.Key()).Has("ttl"))

	w.advance(time.Hour)
	event = w.patch(typ, event, map[string]any{"title": "book fair"})
	require.False(t, w.get(event.Key()).Has("ttl"), "every change takes the ttl off")
	w.deliverAll()
	w.checkCopies()
	require.Equal(t, w.now.Add(2*365*24*time.Hour).Unix(), w.get(event.Key()).Int("ttl"),
		"and it is counted from the change")

	w.advance(2 * 365 * 24 * time.Hour)
	w.deliverAll()
	back, err := w.archive.Restore(t.Context(), typ, ann, event.Str("eventId"))
	require.NoError(t, err)
	require.Equal(t, "book fair", back.Str("title"))
	require.Equal(t, event.Int("sequence"), back.Int("sequence"))
}

func TestConsumer_archivesByTheTimerOfTheLastCompletionOnly(t *testing.T) {
	t.Parallel()
	w, typ := newWorld(t, 1), product.Task()
	task := w.patch(typ, w.create(typ, map[string]any{"title": "x"}), map[string]any{"status": "COMPLETED"})
	w.deliverAll()
	first := w.records[len(w.records)-1]
	w.advance(time.Hour)
	task = w.patch(typ, task, map[string]any{"status": "IN_PROGRESS"})
	w.advance(time.Hour)
	task = w.patch(typ, task, map[string]any{"status": "COMPLETED"})
	w.deliverAll()
	w.advance(23 * time.Hour) // the first timer fires
	w.open = append(w.open, first)
	w.deliverAll()
	require.Equal(t, "COMPLETED", w.get(task.Key()).Str("status"))
	w.advance(time.Hour)
	w.deliverAll()
	require.Equal(t, "ARCHIVED", w.get(task.Key()).Str("status"))
	w.open = append(w.open, first) // and a late duplicate starts a timer for nothing
	w.deliverAll()
	w.advance(time.Second)
	w.deliverAll()
	require.Equal(t, int64(5), w.get(task.Key()).Int("version"))
}

func TestKeepCopy_makesTheSameCopyAgain(t *testing.T) {
	t.Parallel()
	w, typ := newWorld(t, 1), product.Event()
	event := w.create(typ, map[string]any{"title": "x", "startUtc": "2025-07-01T09:00:00"})
	event = w.patch(typ, event, map[string]any{"status": "CANCELLED"})
	w.deliverAll()
	cold, err := w.store.Get(t.Context(), entity.ColdKey(ann, event.Str("eventId")))
	require.NoError(t, err)
	first, err := w.copies.Get(t.Context(), cold.Str("object"))
	require.NoError(t, err)
	require.NoError(t, w.consumer.Repair(t.Context(), ann, typ, event.Str("eventId")), "now that it has a ttl")
	again, err := w.copies.Get(t.Context(), cold.Str("object"))
	require.NoError(t, err)
	require.Equal(t, string(first), string(again))
}

func TestConsumer_removesACopyThatTheItemHasPassed(t *testing.T) {
	t.Parallel()
	w, typ := newWorld(t, 1), product.Event()
	event := w.create(typ, map[string]any{"title": "x", "startUtc": "2025-07-01T09:00:00"})
	event = w.patch(typ, event, map[string]any{"status": "CANCELLED"})
	w.drain()
	cancelled := w.open[len(w.open)-1]
	w.open = nil
	w.beforePut = func() { // between reading the item and writing its copy
		w.delete(typ, event)
		w.deliverAll()
	}
	w.open = append(w.open, cancelled)
	w.deliverAll()
	w.checkCopies()
	require.Nil(t, w.get(event.Key()))
}

func TestConsumer_leavesNoCopyOfADeletedItem(t *testing.T) {
	t.Parallel()
	w, typ := newWorld(t, 1), product.Task()
	task := w.create(typ, map[string]any{"title": "x", "status": "ARCHIVED"})
	w.deliverAll()
	w.delete(typ, task)
	w.deliverAll()
	w.checkCopies()
	_, err := w.archive.Restore(t.Context(), typ, ann, task.Str("taskId"))
	require.ErrorIs(t, err, archive.ErrNoCopy)
}

func TestRestore_revivesInPlaceAnItemThatWasNotSwept(t *testing.T) {
	t.Parallel()
	w, typ := newWorld(t, 1), product.Task()
	task := w.create(typ, map[string]any{"title": "x", "status": "ARCHIVED"})
	w.deliverAll()
	w.now = w.now.Add(8 * 24 * time.Hour)
	back, err := w.archive.Restore(t.Context(), typ, ann, task.Str("taskId"))
	require.NoError(t, err)
	require.Equal(t, int64(2), back.Int("version"))
	w.deliverAll()
	w.checkCopies()
	w.advance(time.Hour)
	require.NotNil(t, w.get(task.Key()))
}

func TestConsumer_takesTheExpiryOfAnotherRowForNoTimer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	for name, key := range map[string]item.Key{
		"receipt": entity.ReceiptKey(ann, "ab"), "tombstone": entity.LedgerKey(ann, "stats", "evt_1"),
		"cursor": entity.ZoneKey(ann, 3),
	} {
		rec := change.Record{Name: change.Remove, Sequence: "1", Key: key, Old: key.Item(), Expired: true}
		c, err := change.Interpret(registry, rec)
		require.NoError(t, err)
		require.Equal(t, []change.Outcome{{}}, w.consumer.Apply(t.Context(), []change.Change{c}), name)
	}
}

func TestConsumer_archivingIsNoEditOfTheUserAndARestoreIs(t *testing.T) {
	t.Parallel()
	w, typ := newWorld(t, 1), product.Task()
	task := w.patch(typ, w.create(typ, map[string]any{"title": "report"}), map[string]any{"status": "COMPLETED"})
	id, key := task.Str("taskId"), task.Key()
	w.deliverAll()
	w.advance(24 * time.Hour)
	w.deliverAll()
	archived := w.get(key)
	require.Equal(t, int64(3), archived.Int("version"))
	require.Equal(t, int64(2), entity.EditVersion(archived))
	require.True(t, entity.HoldsAt(archived, 2), "an edit made before the timer is no conflict")

	w.advance(7 * 24 * time.Hour)
	w.deliverAll()
	_, err := w.archive.Restore(t.Context(), typ, ann, id)
	require.NoError(t, err)
	require.Equal(t, int64(5), entity.EditVersion(w.get(key)))
	require.NotContains(t, w.get(key), "editVersion")
}

// A task that leaves, comes back and leaves again has two lives. The second is announced under delivery ids of its own,
// and a repetition under those that it had.
func TestDeliveryID_differsBetweenTwoLivesOfOneItem(t *testing.T) {
	t.Parallel()
	w, typ := newWorld(t, 1), product.Task()
	task := w.create(typ, map[string]any{"title": "report"})
	id, key := task.Str("taskId"), task.Key()
	for range 2 {
		w.patch(typ, w.get(key), map[string]any{"status": "COMPLETED"})
		w.deliverAll()
		w.advance(24 * time.Hour)
		w.deliverAll()
		w.advance(7 * 24 * time.Hour)
		w.deliverAll()
		require.Nil(t, w.get(key))
		_, err := w.archive.Restore(t.Context(), typ, ann, id)
		require.NoError(t, err)
		w.patch(typ, w.get(key), map[string]any{"status": "IN_PROGRESS"})
		w.deliverAll()
	}
	told := map[string]int{}
	for round := range 2 {
		for _, what := range []string{archive.TaskArchived, archive.ItemExpired, archive.ItemRestored} {
			details := w.published(what)
			require.Len(t, details, 2+2*round, what)
			for _, d := range details {
				told[d.DeliveryID]++
			}
		}
		require.Len(t, told, 6, "an id for each, the same on a repetition")
		if round == 0 {
			w.open = append(w.open, w.records...)
			w.deliverAll()
		}
	}
}
