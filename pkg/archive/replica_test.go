package archive_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/archive"
	"nexus/pkg/entity"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

func TestConsumer_takesWhatAReplicaRemovesForAnExpiry(t *testing.T) {
	t.Parallel()
	w, typ := newWorld(t, 1), product.Task()
	w.replicated = true
	task := w.patch(typ, w.create(typ, map[string]any{"title": "report"}), map[string]any{"status": "COMPLETED"})
	id := task.Str("taskId")
	w.deliverAll()
	w.advance(24 * time.Hour)
	w.deliverAll()
	require.Equal(t, "ARCHIVED", w.get(task.Key()).Str("status"), "the timer was removed by the replica")
	w.advance(7 * 24 * time.Hour)
	w.deliverAll()
	require.Nil(t, w.get(task.Key()))
	w.checkCopies()
	require.Len(t, w.published(archive.ItemExpired), 1)
	back, err := w.archive.Restore(t.Context(), typ, ann, id)
	require.NoError(t, err, "the only copy is there")
	require.Equal(t, "report", back.Str("title"))
}

func TestConsumer_takesADeletionForOneHoweverLateItComes(t *testing.T) {
	t.Parallel()
	for name, late := range map[string]time.Duration{"before its ttl": 0, "after its ttl": 8 * 24 * time.Hour} {
		w, typ := newWorld(t, 1), product.Task()
		w.replicated = true
		task := w.create(typ, map[string]any{"title": "x", "status": "ARCHIVED"})
		w.deliverAll()
		w.now = w.now.Add(late)
		require.NoError(t, w.store.Transact(t.Context(),
			table.Delete{Key: task.Key()}, table.Put{Item: entity.GoneKey(ann, task.Str("taskId")).Item()}), name)
		w.deliverAll()
		w.checkCopies()
		require.Empty(t, w.published(archive.ItemExpired), name)
		names, err := w.copies.List(t.Context(), "archive/", 10, "")
		require.NoError(t, err)
		require.Empty(t, names, "%s: who deletes an item deletes its copy", name)
	}
}

func TestConsumer_takesAnExpiryForOneAlthoughTheItemWasRestoredAndDeletedSince(t *testing.T) {
	t.Parallel()
	w, typ := newWorld(t, 1), product.Task()
	w.replicated = true
	task := w.create(typ, map[string]any{"title": "x", "status": "ARCHIVED"})
	w.deliverAll()
	w.advance(8 * 24 * time.Hour) // the record of the removal is late
	back, err := w.archive.Restore(t.Context(), typ, ann, task.Str("taskId"))
	require.NoError(t, err)
	w.delete(typ, back)
	w.deliverAll()
	w.checkCopies()
	expiries := w.published(archive.ItemExpired)
	require.Len(t, expiries, 1)
	require.Equal(t, task.Str("taskId"), expiries[0].ItemID)
	require.Equal(t, back.Int(entity.AttrVersion)-1, expiries[0].Version)
}

func TestConsumer_leavesARecordForLaterIfItCannotRead(t *testing.T) {
	t.Parallel()
	w, typ := newWorld(t, 1), product.Task()
	w.replicated = true
	w.create(typ, map[string]any{"title": "x", "status": "ARCHIVED"})
	w.deliverAll()
	w.advance(8 * 24 * time.Hour)
	w.drain()
	w.faulty = true
	for len(w.open) > 0 {
		w.deliver(len(w.open))
	}
	w.faulty = false
	w.deliverAll()
	w.checkCopies()
	ids := map[string]bool{}
	for _, event := range w.published(archive.ItemExpired) {
		ids[event.DeliveryID] = true
	}
	require.Len(t, ids, 1)
}
