package reminders_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/reminders"
	"nexus/pkg/table"
)

// spent counts the calls and rows that some work read.
type spent struct{ calls, rows int }

// reading counts what the consumer reads of the world's table while it handles the changes again.
func (w *fixture) reading(changes ...change.Change) spent {
	w.Helper()
	var s spent
	w.usage = func(u table.Consumption) {
		s.calls++
		s.rows += u.Rows
	}
	defer func() { w.usage = nil }()
	for _, o := range w.consumer.Apply(w.Context(), changes) {
		require.NoError(w, o.Err)
	}
	return s
}

// latest is the last change of the item that was delivered.
func (w *fixture) latest(id string) change.Change {
	w.Helper()
	for i := len(w.history) - 1; i >= 0; i-- {
		if w.history[i].Ref.ID == id {
			return w.history[i]
		}
	}
	require.Fail(w, "no change of "+id)
	return change.Change{}
}

func TestConsumer_readsAsOftenAsPinned(t *testing.T) {
	t.Parallel()
	skipUncounted(t)
	for name, c := range map[string]struct {
		id, doc string
		want    spent
	}{
		"an event": {"evt_1",
			`{"title":"x","startUtc":"2025-12-02T14:00:00Z","startTzid":"UTC","reminderMinutes":[5,10,60]}`, spent{4, 2}},
		"an event that floats": {"evt_1", `{"title":"x","startUtc":"2025-12-02T14:00:00","reminderMinutes":[5]}`,
			spent{6, 2}},
		"without reminders": {"evt_1", `{"title":"x","startUtc":"2025-12-02T14:00:00Z","startTzid":"UTC"}`, spent{0, 0}},
		"a reminder":        {"rem_1", `{"title":"x","triggerUtc":"2025-12-02T14:00:00Z","tzid":"UTC"}`, spent{4, 2}},
		"a recurring reminder": {"rem_1",
			`{"title":"x","triggerUtc":"2025-12-02T14:00:00Z","tzid":"UTC","rrule":"FREQ=DAILY"}`, spent{4, 2}},
		"a series":               {"mst_1", fmt.Sprintf(dailyAt, "5,10,60"), spent{4, 2}},
		"a note, which has none": {"note_1", `{"title":"x"}`, spent{0, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			w.create(c.id, c.doc)
			w.runUntilIdle()
			require.Equal(t, c.want, w.reading(w.latest(c.id)))
		})
	}
}

func TestConsumer_readsASeriesExceptionsOncePerRecord(t *testing.T) {
	t.Parallel()
	skipUncounted(t)
	w := setup(t)
	w.create("mst_1", fmt.Sprintf(dailyAt, "5"))
	const exceptions = 150
	for i := range exceptions {
		w.except("mst_1", time.Date(2025, 12, 2+i, 0, 0, 0, 0, time.UTC).Format("20060102"), `{"title":"moved"}`)
	}
	w.runUntilIdle()
	require.Equal(t, spent{5, exceptions + 2}, w.reading(w.latest("mst_1")))
	require.Equal(t, spent{0, 0}, w.reading(w.latest("inst_20251202_1")),
		"it has no reminders of its own, and its series' record looks at the series")
}

func TestConsumer_readsNoMoreForAnyNumberOfDeliveries(t *testing.T) {
	t.Parallel()
	skipUncounted(t)
	for _, deliveries := range []int{150, 1000} {
		w := setup(t)
		w.create("mst_1", fmt.Sprintf(dailyAt, "5"))
		w.runUntilIdle()
		for i := range deliveries {
			at := noon.Add(-time.Duration(i) * time.Minute)
			row := entity.DeliveryKey(user, "mst_1", 5, at, at).Item()
			row["state"], row["offsetMinutes"] = item.String("sent"), item.Int(5)
			require.NoError(t, w.store.Put(t.Context(), table.Put{Item: row}))
		}
		s := w.reading(w.latest("mst_1"))
		require.LessOrEqual(t, s.calls, 6, "%d deliveries", deliveries)
		require.LessOrEqual(t, s.rows, 2*(1+200), "%d deliveries", deliveries)
	}
}

func TestRun_readsTheClockTwicePerRound(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("mst_1", fmt.Sprintf(dailyAt, "5,10"))
	w.except("mst_1", "20251202", `{"title":"moved","reminderMinutes":[5,60]}`)
	w.create("evt_1", fmt.Sprintf(eventAt, at(noon.Add(time.Hour)), "15,120"))
	for _, c := range w.records() {
		readings := 0
		config := w.config()
		config.Now = func() time.Time { readings++; return noon.Add(50 * time.Minute) }
		require.NoError(t, reminders.NewRepairer(config).Reconcile(t.Context(), user, c.Type, c.Ref.ID, 5, 10, 15, 60, 120))
		require.Equal(t, 2, readings, "%s: for the decision, and for the schedules at the end", c.Ref.ID)
	}
	require.Len(t, w.bus.Events(), 1, "a round that delivers reads it no more often")
}
