package reminders_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/item"
)

// A repair takes up deliveries as they stand in the table. One that lacks a field of its event is reported,
// and nothing is published.
func TestNotifier_reportsAnIncompleteDeliveryAndPublishesNothing(t *testing.T) {
	t.Parallel()
	const missing, different = "an instant is missing", "its attributes and its key say different things"
	without := func(attr string) func(row item.Item) {
		return func(row item.Item) { delete(row, attr) }
	}
	for name, c := range map[string]struct {
		damage func(row item.Item)
		says   string
	}{
		"no occurrence":           {without("occurrenceUtc"), missing},
		"no instant":              {without("dueUtc"), missing},
		"no time of delivery":     {without("firedAt"), missing},
		"no start":                {without("startUtc"), missing},
		"no start, no occurrence": {func(row item.Item) { delete(row, "startUtc"); delete(row, "occurrenceUtc") }, missing},
		"no delivery id":          {without("deliveryId"), different},
		"another offset":          {func(row item.Item) { row["offsetMinutes"] = item.Int(5) }, different},
		"another instant":         {func(row item.Item) { row.SetTime("dueUtc", noon) }, different},
		"a type without reminders": {func(row item.Item) { row["itemType"] = item.String("NOTE") },
			`itemType "NOTE" has no reminders`},
		"no user": {func(row item.Item) { row["PK"] = item.String("FEED#ann") }, "partition key"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			w.create("mst_1", fmt.Sprintf(dailyAt, "0"))
			w.advance(3 * time.Hour)
			w.to(w.now.Add(time.Hour))
			row := w.rows(entity.DeliveryPrefix("mst_1"))[0].Clone()
			row["state"] = item.String("pending")
			c.damage(row)
			began, err := w.notifier.Redrive(t.Context(), row)
			require.False(t, began)
			require.ErrorContains(t, err, "damaged row: delivery")
			require.ErrorContains(t, err, c.says)
			require.Len(t, w.bus.Events(), 1)
		})
	}
}

// An exception whose series is gone has no schedule, whatever the zone: neither floats any more.
func TestConsumer_schedulesNothingForAnExceptionWithoutASeries(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("mst_1", `{"title":"e","startUtc":"2025-12-02T09:00:00","rrule":"FREQ=DAILY"}`)
	w.except("mst_1", "20251203", `{"reminderMinutes":[5]}`)
	w.runUntilIdle()
	require.Equal(t, []string{"inst_20251203_1 -5 03T08:55"}, w.schedules())
	w.editMeta(func(it item.Item) { it["defaultTzid"] = item.String("Nowhere/Atlantis") })
	w.records()
	w.remove("mst_1")
	w.records()
	exception := w.latest("inst_20251203_1")
	w.deliver(exception)
	require.Empty(t, w.schedules())
}

// What is gone has no schedule, also if its user's zone does not exist: nothing of it can float.
func TestConsumer_schedulesNothingForWhatIsGoneInAnyZone(t *testing.T) {
	t.Parallel()
	for id, doc := range map[string]string{
		"task_1": fmt.Sprintf(floatingTask, "2025-12-02T09:00:00", "0"),
		"mst_1":  `{"title":"e","startUtc":"2025-12-02T09:00:00","rrule":"FREQ=DAILY","reminderMinutes":[5]}`,
		"evt_1":  `{"title":"e","startUtc":"2025-12-02T09:00:00","reminderMinutes":[5]}`,
	} {
		w := setup(t)
		w.create(id, doc)
		w.runUntilIdle()
		require.Len(t, w.schedules(), 1)
		w.editMeta(func(it item.Item) { it["defaultTzid"] = item.String("Nowhere/Atlantis") })
		w.records()
		w.remove(id)
		w.deliver(w.records()...)
		require.Empty(t, w.schedules())
	}
}
