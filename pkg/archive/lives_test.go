package archive_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/archive"
	"nexus/pkg/product"
)

// A listener drops an event whose delivery id it knows. So the second life of an item must not have those of the first.
func TestDeliveryID_differsForEachLifeOfAnItem(t *testing.T) {
	t.Parallel()
	w, typ := newWorld(t, 1), product.Task()
	task := w.patch(typ, w.create(typ, map[string]any{"title": "report"}), map[string]any{"status": "ARCHIVED"})
	id := task.Str("taskId")
	for range 2 {
		w.deliverAll()
		w.advance(7 * 24 * time.Hour)
		w.deliverAll()
		require.Nil(t, w.get(task.Key()), "it has left")
		back, err := w.archive.Restore(t.Context(), typ, ann, id)
		require.NoError(t, err)
		w.deliverAll()
		back = w.patch(typ, back, map[string]any{"status": "BACKLOG"})
		w.patch(typ, back, map[string]any{"status": "ARCHIVED"})
	}
	w.deliverAll()
	for kind, times := range map[string]int{archive.ItemExpired: 2, archive.ItemRestored: 2, archive.TaskArchived: 3} {
		ids := map[string]bool{}
		for _, d := range w.published(kind) {
			require.Equal(t, id, d.ItemID)
			ids[d.DeliveryID] = true
		}
		require.Len(t, ids, times, kind)
	}
}
