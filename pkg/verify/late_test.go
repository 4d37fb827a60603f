package verify_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/product"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
	"nexus/pkg/verify"
)

func TestVerifier_deliversAReminderDueWithoutItsSchedule(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]struct {
		since    time.Duration
		lost     bool // its schedule
		want     verify.Kind
		isRaised bool
	}{
		"lost, a minute ago":         {time.Minute, true, verify.Late, true},
		"lost, an hour ago":          {time.Hour, true, verify.Late, true},
		"lost, two days ago":         {48 * time.Hour, true, "", false},
		"not called, a minute ago":   {time.Minute, false, "", false},
		"not called, an hour ago":    {time.Hour, false, verify.Late, true},
		"not called, two days ago":   {48 * time.Hour, false, verify.Schedule, false},
		"lost, and due in a minute":  {-time.Minute, true, verify.Schedule, false},
		"there, and due in a minute": {-time.Minute, false, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			event := w.create(ann, product.TypeEvent, map[string]any{
				"title": "e", "startUtc": "2026-03-03T09:00:00Z", "startTzid": "UTC", "reminderMinutes": numbers(60),
			})
			require.True(t, w.drain())
			if of.lost {
				w.unschedule(event.Str("eventId"), 60)
			}
			w.now = time.Date(2026, time.March, 3, 8, 0, 0, 0, time.UTC).Add(of.since)
			found, sum := w.verify(verify.Options{Repair: true})
			require.Zero(t, sum.Remaining)
			kinds := map[verify.Kind]bool{}
			for _, d := range found {
				kinds[d.Kind] = true
			}
			require.Equal(t, of.want != "", len(found) > 0, "%v", found)
			require.Equal(t, of.want != "", kinds[of.want], "%v", found)
			deliveries := w.rows(ann, entity.ItemPrefix(entity.RowFired))
			if require.Equal(t, of.isRaised, len(deliveries) == 1); of.isRaised {
				require.Equal(t, "sent", deliveries[0].Str("state"))
			}
			found, _ = w.verify(verify.Options{Repair: true})
			require.Empty(t, found)
		})
	}
}

func TestVerifier_reportsADeliveryThatItCouldNotEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	reminder := w.create(ann, product.TypeReminder, map[string]any{
		"title": "r", "triggerUtc": "2026-03-03T09:00:00Z", "tzid": "UTC",
	})
	require.True(t, w.drain())
	w.unschedule(reminder.Str("reminderId"), 0)
	w.now = time.Date(2026, time.March, 3, 9, 1, 0, 0, time.UTC)
	writes := 0
	w.fault = func(c memory.Call) error {
		if c.Op != "Transact" || c.Stage != memory.Before {
			return nil
		}
		if writes++; writes == 2 { // the first begins the delivery
			return table.ErrConflict
		}
		return nil
	}
	_, sum := w.verify(verify.Options{Repair: true})
	w.fault = nil
	require.EqualValues(t, 1, sum.Unsettled)
	deliveries := w.rows(ann, entity.ItemPrefix(entity.RowFired))
	require.Len(t, deliveries, 1)
	require.Equal(t, "pending", deliveries[0].Str("state"))

	w.now = w.now.Add(11 * time.Minute)
	_, sum = w.verify(verify.Options{Repair: true})
	require.Zero(t, sum.Unsettled+sum.Remaining)
	require.Equal(t, "sent", w.rows(ann, entity.ItemPrefix(entity.RowFired))[0].Str("state"))
}
