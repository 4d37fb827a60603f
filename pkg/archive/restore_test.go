package archive_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/archive"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// A forged object or row must not bring an item into the table of another user, or under another id.
func TestRestore_refusesACopyOfAnotherItem(t *testing.T) {
	t.Parallel()
	w, typ := newWorld(t, 1), product.Task()
	task := w.create(typ, map[string]any{"title": "x", "status": "ARCHIVED"})
	id := task.Str("taskId")
	w.deliverAll()
	w.advance(8 * 24 * time.Hour)
	w.deliverAll()
	copies, _, err := w.archive.List(t.Context(), ann, 10, nil)
	require.NoError(t, err)
	require.Len(t, copies, 1)
	cold, err := w.store.Get(t.Context(), entity.ColdKey(ann, id))
	require.NoError(t, err)
	for user, other := range map[string]string{"bob": id, ann: "task_0f8fad5b-d9cb-469f-a165-70867728950e"} {
		forged := cold.Clone()
		forged["PK"], forged["SK"] = item.String("USER#"+user), item.String("COLD#"+other)
		require.NoError(t, w.store.Put(t.Context(), table.Put{Item: forged}))
		_, err := w.archive.Restore(t.Context(), typ, user, other)
		require.ErrorIs(t, err, archive.ErrForeign)
		require.Nil(t, w.get(entity.ItemKey(user, entity.Ref{Type: "TASK", ID: other})))
		_, err = w.archive.Item(t.Context(), user, archive.Copy{Ref: entity.Ref{Type: "TASK", ID: other}, Version: 2})
		require.ErrorIs(t, err, archive.ErrNoCopy, "a name is built, and never read from a row")
	}
	require.Nil(t, w.get(task.Key()))
}
