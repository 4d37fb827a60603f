package reminders_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// mark makes a row one of a later release, or takes that back.
func (w *fixture) mark(row item.Item, form item.Value) {
	marked := row.Clone()
	marked.Set(entity.AttrForm, form)
	require.NoError(w, w.store.Put(w.Context(), table.Put{Item: marked}))
}

func TestNotifier_leavesADeliveryOfALaterReleaseAlone(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("mst_1", fmt.Sprintf(dailyAt, "0"))
	w.runUntilIdle()
	w.to(noon.Add(2 * time.Hour))
	calls := w.scheduler.due(w.now)
	require.Len(t, calls, 1)
	require.NoError(t, w.notifier.Handle(t.Context(), calls[0]))
	deliveries := w.rows(entity.DeliveryPrefix("mst_1"))
	require.Len(t, deliveries, 1)
	pending := deliveries[0].Clone()
	pending["state"] = item.String("pending")
	w.mark(pending, item.Int(2))
	published := len(w.published())
	require.ErrorIs(t, w.notifier.Handle(t.Context(), calls[0]), entity.ErrNewerForm)
	_, err := w.notifier.Redrive(t.Context(), w.rows(entity.DeliveryPrefix("mst_1"))[0])
	require.ErrorIs(t, err, entity.ErrNewerForm)
	w.records()
	w.set("mst_1", "reminderMinutes", item.Ints(0, 5))
	outcomes := w.consumer.Apply(t.Context(), w.records())
	require.Equal(t, change.Retry, outcomes[0].Verdict)
	require.ErrorIs(t, outcomes[0].Err, entity.ErrNewerForm)
	require.Len(t, w.published(), published)
	require.Equal(t, "pending", w.rows(entity.DeliveryPrefix("mst_1"))[0].Str("state"))
}

func TestConsumer_leavesACursorOfALaterReleaseAlone(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("task_1", fmt.Sprintf(floatingTask, "2025-12-02T09:00:00", "0"))
	w.runUntilIdle()
	w.moveTo("Pacific/Apia")
	records := w.records()
	w.deliver(records...)
	cursors := w.rows(entity.ItemPrefix(entity.RowZone))
	require.Len(t, cursors, 1)
	w.mark(cursors[0], item.Int(2))
	outcomes := w.consumer.Apply(t.Context(), records)
	require.Equal(t, change.Retry, outcomes[0].Verdict)
	require.ErrorIs(t, outcomes[0].Err, entity.ErrNewerForm)
	w.mark(cursors[0], nil)
	w.deliver(records...)
}

// While this release closes a delivery the later one, beside it during a deployment, may write the delivery.
func TestNotifier_leavesADeliveryThatALaterReleaseWritesMidway(t *testing.T) {
	t.Parallel()
	met := 0
	for step := 1; ; step++ {
		w := setup(t)
		w.create("mst_1", fmt.Sprintf(dailyAt, "0"))
		w.runUntilIdle()
		w.to(noon.Add(2 * time.Hour))
		calls := w.scheduler.due(w.now)
		require.Len(t, calls, 1)
		var marked item.Item
		w.fault.at, w.fault.meddle = step, func() {
			if rows := w.rows(entity.DeliveryPrefix("mst_1")); len(rows) == 1 && rows[0].Str("state") == "pending" {
				w.mark(rows[0], item.Int(2))
				marked = w.rows(entity.DeliveryPrefix("mst_1"))[0]
			}
		}
		err := w.fault.under(func() error { return w.notifier.Handle(t.Context(), calls[0]) })
		if w.fault.steps < step {
			break
		}
		if marked != nil {
			met++
			require.ErrorIs(t, err, entity.ErrNewerForm, "step %d", step)
			require.Equal(t, marked, w.rows(entity.DeliveryPrefix("mst_1"))[0], "step %d", step)
		}
	}
	require.Positive(t, met)
}

// Deliveries that stand after the page that a look reads are found by their keys, and are a later release's all the
// same.
func TestNotifier_leavesALaterReleasesDeliveryAfterThePage(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("mst_1", fmt.Sprintf(dailyAt, "0,10,20,30,40,50,60,70,80,90"))
	w.advance(25 * 24 * time.Hour)
	deliveries := w.rows(entity.DeliveryPrefix("mst_1"))
	require.Greater(t, len(deliveries), 240)
	behind := deliveries[:40]
	for _, delivery := range behind {
		w.mark(delivery, item.Int(2))
	}
	outcome := w.consumer.Apply(t.Context(), w.history[:1])[0]
	require.Equal(t, change.Retry, outcome.Verdict)
	require.ErrorIs(t, outcome.Err, entity.ErrNewerForm)
	for _, delivery := range w.rows(entity.DeliveryPrefix("mst_1"))[:40] {
		require.EqualValues(t, 2, delivery.Int(entity.AttrForm))
	}
}
