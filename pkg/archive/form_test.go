package archive_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/archive"
	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

func TestConsumer_leavesAColdRowOfALaterReleaseAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	task := w.create(product.Task(), map[string]any{"title": "t", "status": "ARCHIVED"})
	w.deliverAll()
	id := task.Str("taskId")
	cold := entity.ColdKey(ann, id)
	mark := func(form item.Value) {
		row := w.get(cold).Clone()
		row.Set(entity.AttrForm, form)
		require.NoError(t, w.store.Put(t.Context(), table.Put{Item: row}))
	}
	mark(item.Int(2))
	before := w.get(cold)
	left := w.patch(product.Task(), w.get(task.Key()), map[string]any{"status": "BACKLOG"})
	w.patch(product.Task(), left, map[string]any{"status": "ARCHIVED"})
	w.drain()
	for _, c := range w.open {
		if c.Key != task.Key() {
			continue
		}
		outcome := w.consumer.Apply(t.Context(), []change.Change{c})[0]
		require.Equal(t, change.Retry, outcome.Verdict)
		require.ErrorIs(t, outcome.Err, entity.ErrNewerForm)
	}
	require.Equal(t, before, w.get(cold))
	require.ErrorIs(t, w.consumer.Repair(t.Context(), ann, product.Task(), id), entity.ErrNewerForm)
	mark(nil)
	w.deliverAll()
	require.EqualValues(t, 3, w.get(cold).Int("version"))
	w.now = w.now.Add(60 * 24 * time.Hour)
	w.store.Sweep(w.now, 0)
	mark(item.Int(2))
	_, err := w.archive.Restore(t.Context(), product.Task(), ann, id)
	require.ErrorIs(t, err, entity.ErrNewerForm)
}

// meddling runs an act of another process once, before a row is deleted.
type meddling struct {
	table.Store
	act func()
}

func (m *meddling) Delete(ctx context.Context, d table.Delete) error {
	if act := m.act; act != nil {
		m.act = nil
		act()
	}
	return m.Store.Delete(ctx, d)
}

func TestConsumer_leavesAColdRowThatALaterReleaseWritesDuringRepair(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	task := w.create(product.Task(), map[string]any{"title": "t", "status": "ARCHIVED"})
	w.deliverAll()
	id, key := task.Str("taskId"), entity.ColdKey(ann, task.Str("taskId"))
	w.patch(product.Task(), w.get(task.Key()), map[string]any{"status": "BACKLOG"})
	var marked item.Item
	cfg := w.consumer.Config
	cfg.Store = &meddling{w.store, func() {
		marked = w.get(key).Clone()
		marked[entity.AttrForm] = item.Int(2)
		require.NoError(t, w.store.Put(t.Context(), table.Put{Item: marked}))
	}}
	require.ErrorIs(t, archive.NewConsumer(cfg).Repair(t.Context(), ann, product.Task(), id), entity.ErrNewerForm)
	require.Equal(t, marked, w.get(key))
}
