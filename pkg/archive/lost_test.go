package archive_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/archive"
	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

// losing is the archive over a copy of a world's rows, whose store answers as the fault says.
func losing(t *testing.T, w *fixture, fault *func(memory.Call) error) (*archive.Consumer, *memory.Store) {
	t.Helper()
	store := memory.New(func() time.Time { return w.now }, memory.Options{Fault: func(c memory.Call) error {
		if *fault == nil {
			return nil
		}
		return (*fault)(c)
	}})
	var rows []item.Item
	require.NoError(t, w.store.Walk(w.ctx, 0, 1, func(row item.Item) error {
		rows = append(rows, row)
		return nil
	}))
	require.NoError(t, store.Load(w.ctx, rows))
	cfg := archive.Config{
		Store: store, Registry: product.Registry(), Copies: w.copies, Bus: w.bus, Announces: archive.Events(),
		Now: func() time.Time { return w.now },
	}
	return archive.NewConsumer(cfg), store
}

func completedTask(t *testing.T) (*fixture, item.Item, item.Key) {
	t.Helper()
	w, typ := newWorld(t, 1), product.Task()
	task := w.patch(typ, w.create(typ, map[string]any{"title": "report"}), map[string]any{"status": "COMPLETED"})
	w.deliverAll()
	return w, task, entity.TimerKey(ann, task.Str("taskId"), 2)
}

func TestTimerRemoved_retriesForATaskThatNeverRests(t *testing.T) {
	t.Parallel()
	w, task, key := completedTask(t)
	var fault func(memory.Call) error
	consumer, store := losing(t, w, &fault)
	lost := 0
	fault = func(c memory.Call) error {
		if c.Op != "Update" || c.Stage != memory.Before {
			return nil
		}
		lost++
		return &table.ConditionError{Failures: []table.Failure{{Old: task}}}
	}
	fired := change.Change{Kind: change.Expired, User: ann, Key: key, Old: w.get(key)}
	require.Equal(t, change.Retry, consumer.Apply(w.ctx, []change.Change{fired})[0].Verdict)
	require.Greater(t, lost, 1)
	fault = nil
	require.Equal(t, change.Done, consumer.Apply(w.ctx, []change.Change{fired})[0].Verdict)
	archived, err := store.Get(w.ctx, task.Key())
	require.NoError(t, err)
	require.Equal(t, "ARCHIVED", archived.Str(entity.AttrStatus))
}

func TestConsumer_reportsATimerThatTheStoreFails(t *testing.T) {
	t.Parallel()
	down := errors.New("down")
	for _, op := range []string{"Query", "Put"} {
		w, task, key := completedTask(t)
		w.edit(key, func(it item.Item) { it[entity.AttrTTL] = item.Int(7) })
		var fault func(memory.Call) error
		consumer, store := losing(t, w, &fault)
		fault = func(c memory.Call) error {
			if c.Op == op && c.Stage == memory.Before {
				return down
			}
			return nil
		}
		require.ErrorIs(t, consumer.Repair(w.ctx, ann, product.Task(), task.Str("taskId")), down, op)
		fault = nil
		require.NoError(t, consumer.Repair(w.ctx, ann, product.Task(), task.Str("taskId")), op)
		at, _ := w.get(key).Time(product.AttrArchiveAt)
		timer, err := store.Get(w.ctx, key)
		require.NoError(t, err)
		require.Equal(t, at.Unix(), timer.Int(entity.AttrTTL), op)
	}
}
