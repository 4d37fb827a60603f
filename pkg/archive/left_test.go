package archive_test

import (
	"context"
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

func TestLeft_distinguishesDeletedFromExpiredAndUnknown(t *testing.T) {
	t.Parallel()
	w, typ := newWorld(t, 1), product.Task()
	expired := w.create(typ, map[string]any{"title": "report", "status": "ARCHIVED"}).Str("taskId")
	deleted := w.create(typ, map[string]any{"title": "idea"})
	w.delete(typ, deleted)
	w.deliverAll()
	w.advance(7 * 24 * time.Hour)
	w.deliverAll()
	for _, c := range []struct {
		user string
		ref  entity.Ref
		want archive.Departure
	}{
		{ann, entity.Ref{Type: product.TypeTask, ID: expired}, archive.Expired},
		{ann, entity.Ref{Type: product.TypeTask, ID: deleted.Str("taskId")}, archive.Deleted},
		{ann, entity.Ref{Type: product.TypeTask, ID: "task_none"}, archive.NoDeparture},
		{"bob", entity.Ref{Type: product.TypeTask, ID: expired}, archive.NoDeparture},
	} {
		left, err := w.archive.Left(t.Context(), c.user, c.ref)
		require.NoError(t, err)
		require.Equal(t, c.want, left, c.ref)
	}
	w.put(entity.GoneKey(ann, expired).Item())
	left, err := w.archive.Left(t.Context(), ann, entity.Ref{Type: product.TypeTask, ID: expired})
	require.NoError(t, err)
	require.Equal(t, archive.Deleted, left, "a deletion counts before a cold row")
}

// TestLeft_readsNothingForATypeThatCannotLeave: the store fails each call, so an answer is one without a call.
func TestLeft_readsNothingForATypeThatCannotLeave(t *testing.T) {
	t.Parallel()
	down := errors.New("the store is down")
	store := memory.New(time.Now, memory.Options{Fault: func(memory.Call) error { return down }})
	a := archive.New(archive.Config{Store: store, Registry: registry})
	for _, ref := range []entity.Ref{
		{Type: "HABIT", ID: "habit_1"}, {Type: entity.TypeUserMeta, ID: ann},
		{Type: entity.TypeInstance, ID: "inst_20251202_1"},
		{Type: product.TypeTask, ID: "note_1"}, {Type: product.TypeTask, ID: "task_a#b"},
	} {
		left, err := a.Left(t.Context(), ann, ref)
		require.NoError(t, err, ref)
		require.Equal(t, archive.NoDeparture, left, ref)
	}
	_, err := a.Left(t.Context(), ann, entity.Ref{Type: product.TypeTask, ID: "task_1"})
	require.ErrorIs(t, err, down)
}

func TestAnnounce_publishesAnArchivingByItsOwnRecordAlone(t *testing.T) {
	t.Parallel()
	w, typ := newWorld(t, 1), product.Task()
	task := w.create(typ, map[string]any{"title": "report"})
	w.deliverAll()
	task = w.patch(typ, task, map[string]any{"status": "ARCHIVED"})
	w.deliverAll()
	require.Len(t, w.published(archive.TaskArchived), 1)
	task = w.patch(typ, task, map[string]any{"title": "the report"})
	w.deliverAll()
	require.Len(t, w.published(archive.TaskArchived), 1, "an archived task that is edited is not archived again")
	task = w.patch(typ, task, map[string]any{"status": "BACKLOG"})
	w.patch(typ, task, map[string]any{"status": "ARCHIVED"})
	w.deliverAll()
	require.Len(t, w.published(archive.TaskArchived), 2)
}

// TestFailuresFrom_namesTheActionThatFailedWithARestore: the sender of the action learns which one failed, and nothing
// comes back.
func TestFailuresFrom_namesTheActionThatFailedWithARestore(t *testing.T) {
	t.Parallel()
	for name, away := range map[string]time.Duration{"swept": 7 * 24 * time.Hour, "past its ttl": 0} {
		w, typ := newWorld(t, 1), product.Task()
		task := w.create(typ, map[string]any{"title": "report", "status": "ARCHIVED"})
		id := task.Str("taskId")
		w.deliverAll()
		if away > 0 {
			w.advance(away)
			w.deliverAll()
		} else {
			w.now = w.now.Add(8 * 24 * time.Hour)
		}
		taken, free := entity.ReceiptKey(ann, "taken").Item(), entity.ReceiptKey(ann, "free").Item()
		w.put(taken)
		before := w.everything()
		put := func(row item.Item) func(item.Item) table.Action {
			return func(restored item.Item) table.Action {
				require.True(t, restored.Has(entity.AttrRestoredAt), "it is told of the item to come")
				return table.Put{Item: row, If: table.NotExists()}
			}
		}
		for position, more := range [][]func(item.Item) table.Action{{put(taken), put(free)}, {put(free), put(taken)}} {
			_, err := w.archive.Restore(t.Context(), typ, ann, id, more...)
			var failed *table.ConditionError
			require.ErrorAs(t, err, &failed, name)
			require.Len(t, failed.Failures, 1, name)
			require.Equal(t, position, failed.Failures[0].Index, name)
			require.Equal(t, taken, failed.Failures[0].Old, name)
			require.Equal(t, before, w.everything(), name)
		}
		back, err := w.archive.Restore(t.Context(), typ, ann, id, put(free))
		require.NoError(t, err, name)
		require.Equal(t, back, w.get(task.Key()), name)
		require.NotNil(t, w.get(entity.ReceiptKey(ann, "free")), name)
	}
}

func TestRestore_readsAgainWhenAnotherOvertakesIt(t *testing.T) {
	t.Parallel()
	w, typ := newWorld(t, 1), product.Task()
	id := w.create(typ, map[string]any{"title": "report", "status": "ARCHIVED"}).Str("taskId")
	w.deliverAll()
	w.advance(7 * 24 * time.Hour)
	w.deliverAll()
	overtaken := false
	cfg := w.consumer.Config
	cfg.Store = overtakenStore{w.store, func() {
		if !overtaken {
			overtaken = true
			_, err := w.archive.Restore(t.Context(), typ, ann, id)
			require.NoError(t, err)
		}
	}}
	_, err := archive.New(cfg).Restore(t.Context(), typ, ann, id, func(item.Item) table.Action {
		return table.Put{Item: entity.ReceiptKey(ann, "r").Item()}
	})
	require.ErrorIs(t, err, archive.ErrAlive)
	require.Nil(t, w.get(entity.ReceiptKey(ann, "r")), "and what went with it did not happen")
}

// overtakenStore lets another act before each transaction.
type overtakenStore struct {
	table.Store
	before func()
}

func (s overtakenStore) Transact(ctx context.Context, actions ...table.Action) error {
	s.before()
	return s.Store.Transact(ctx, actions...)
}

// TestAnnounce_publishesAnArchivingOnlyWithItsTime: an image may be of a release that says less.
func TestAnnounce_publishesAnArchivingOnlyWithItsTime(t *testing.T) {
	t.Parallel()
	w, typ := newWorld(t, 1), product.Task()
	task := w.create(typ, map[string]any{"title": "report"})
	tell := func(alter func(item.Item)) int {
		after := task.Clone()
		after[entity.AttrVersion] = item.Int(2)
		alter(after)
		w.put(after)
		outcome := w.consumer.Apply(t.Context(), []change.Change{{
			Kind: change.Modified, Type: typ, User: ann, Ref: entity.Ref{Type: typ.Name, ID: task.Str("taskId")},
			Key: task.Key(), Old: task, New: after, Version: 2,
		}})
		require.Equal(t, []change.Outcome{{}}, outcome)
		return len(w.published(archive.TaskArchived))
	}
	archived := func(it item.Item) { it[entity.AttrStatus] = item.String(product.StatusArchived) }
	dated := func(it item.Item) { it.SetTime(product.AttrArchivedAt, w.now) }
	require.Zero(t, tell(archived))
	require.Zero(t, tell(dated))
	require.Equal(t, 1, tell(func(it item.Item) { archived(it); dated(it) }))
}
