package archive_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/archive"
	"nexus/pkg/blob"
	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// refusingCopies refuses each copy for good while it is set.
type refusingCopies struct {
	blob.Store
	refuses bool
}

// Put implements [blob.Store].
func (r *refusingCopies) Put(ctx context.Context, name string, body []byte) error {
	if r.refuses {
		return blob.ErrInvalid
	}
	return r.Store.Put(ctx, name, body)
}

// refuseCopies makes the object store of the consumer refuse copies, from now on.
func (w *fixture) refuseCopies() *refusingCopies {
	refusing := &refusingCopies{w.copies, true}
	cfg := w.consumer.Config
	cfg.Copies = refusing
	w.consumer = archive.NewConsumer(cfg)
	return refusing
}

// applyLast applies the last record again and again; each repetition must be parked.
func (w *fixture) applyLast() (last change.Change) {
	w.drain()
	last = w.open[len(w.open)-1]
	w.open = nil
	for range 2 {
		outcome := w.consumer.Apply(w.ctx, []change.Change{last})[0]
		require.Equal(w.t, change.Poison, outcome.Verdict)
		require.ErrorIs(w.t, outcome.Err, blob.ErrInvalid)
	}
	return last
}

// The object store refuses the copy of an item for good. The item's older copy is removed all the same.
func TestConsumer_removesTheOlderCopyOfAnItemWhoseCopyIsRefused(t *testing.T) {
	t.Parallel()
	w, typ := newWorld(t, 1), product.Event()
	event := w.create(typ, map[string]any{"title": "fair", "startUtc": "2025-07-01T09:00:00"})
	event = w.patch(typ, event, map[string]any{"status": "CANCELLED"})
	w.deliverAll()
	refusing := w.refuseCopies()
	event = w.patch(typ, event, map[string]any{"title": "book fair"})
	last := w.applyLast()
	require.False(t, w.get(event.Key()).Has(entity.AttrTTL))
	require.Nil(t, w.get(entity.ColdKey(ann, event.Str("eventId"))))
	names, err := w.copies.List(t.Context(), "archive/", 10, "")
	require.NoError(t, err)
	require.Empty(t, names)

	refusing.refuses = false
	w.open = append(w.open, last)
	w.deliverAll()
	require.True(t, w.get(event.Key()).Has(entity.AttrTTL))
	w.checkCopies()
}

// The object store refuses the copy of an archived task for good. The event of its archival is published all the same,
// under one delivery id.
func TestConsumer_announcesATaskWhoseCopyIsRefused(t *testing.T) {
	t.Parallel()
	w, typ := newWorld(t, 1), product.Task()
	w.patch(typ, w.create(typ, map[string]any{"title": "report"}), map[string]any{"status": "COMPLETED"})
	w.deliverAll()
	w.refuseCopies()
	w.advance(24 * time.Hour)
	w.drain()
	w.deliver(len(w.open)) // the timer
	w.applyLast()
	events := w.published(archive.TaskArchived)
	require.Len(t, events, 2)
	require.Equal(t, events[0], events[1])
}

// A copy that fails for the moment holds the later steps of its record back, and the repetition takes them.
func TestConsumer_repeatsTheWholeRecordAfterAFailureThatPasses(t *testing.T) {
	t.Parallel()
	w, typ := newWorld(t, 1), product.Event()
	event := w.create(typ, map[string]any{"title": "fair", "startUtc": "2025-07-01T09:00:00"})
	event = w.patch(typ, event, map[string]any{"status": "CANCELLED"})
	w.deliverAll()
	w.patch(typ, event, map[string]any{"title": "book fair"})
	w.drain()
	down := true
	cfg := w.consumer.Config
	cfg.Store = failingTransactions{w.store, &down}
	w.consumer = archive.NewConsumer(cfg)
	w.deliver(len(w.open))
	require.Len(t, w.open, 1)
	down = false
	w.deliverAll()
	w.checkCopies()
}

// failingTransactions is a store whose transactions fail for the moment.
type failingTransactions struct {
	table.Store
	down *bool
}

// Transact implements [table.Store].
func (f failingTransactions) Transact(ctx context.Context, actions ...table.Action) error {
	if *f.down {
		return table.ErrThrottled
	}
	return f.Store.Transact(ctx, actions...)
}

// The store refuses for good to let an item expire, which its user has deleted. The record is parked and leaves its
// copy. Delivered again, it removes the copy.
func TestConsumer_removesTheCopyOfAParkedRecordWithItsRedelivery(t *testing.T) {
	t.Parallel()
	w, typ := newWorld(t, 1), product.Event()
	event := w.create(typ, map[string]any{"title": "fair", "startUtc": "2025-07-01T09:00:00"})
	event = w.patch(typ, event, map[string]any{"status": "CANCELLED"})
	w.drain()
	cancelled := w.open[len(w.open)-1]
	w.open = nil
	w.beforePut = func() {
		w.delete(typ, event)
		w.deliverAll()
	}
	cfg := w.consumer.Config
	cfg.Store = refusingTransactions{w.store}
	outcome := archive.NewConsumer(cfg).Apply(w.ctx, []change.Change{cancelled})[0]
	require.Equal(t, change.Poison, outcome.Verdict)
	require.ErrorIs(t, outcome.Err, table.ErrInvalid)
	names, err := w.copies.List(w.ctx, archive.CopiesPrefix(ann), 10, "")
	require.NoError(t, err)
	require.Len(t, names, 1, "no row names it, and the record of the deletion was applied before")

	w.open = append(w.open, cancelled)
	w.deliverAll()
	w.checkCopies()
}

// refusingTransactions is a store that refuses each transaction for good.
type refusingTransactions struct{ table.Store }

// Transact implements [table.Store].
func (refusingTransactions) Transact(context.Context, ...table.Action) error { return table.ErrInvalid }
