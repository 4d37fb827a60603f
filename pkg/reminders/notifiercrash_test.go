package reminders_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
)

// Two occurrences are late at once: the call about the first delivers both. Whether it dies in between or not, its
// repetition leaves no delivery open: no other call and no record will come that would find one.
func TestNotifier_leavesNothingOpenWhenACallIsRepeated(t *testing.T) {
	t.Parallel()
	for step, dies := 1, true; dies; step++ {
		require.Less(t, step, 200)
		w := setup(t)
		w.create("mst_1", fmt.Sprintf(dailyAt, "0"))
		w.runUntilIdle()
		w.to(noon.Add(26 * time.Hour)) // two in the afternoon of the second day
		calls := w.scheduler.due(w.now)
		require.Len(t, calls, 1)
		w.fault.steps, w.fault.at, w.fault.die = 0, step, true
		w.repeat(func(ctx context.Context) error { return w.notifier.Handle(ctx, calls[0]) })
		dies = w.fault.steps >= step
		deliveries := w.rows(entity.DeliveryPrefix("mst_1"))
		require.Len(t, deliveries, 2)
		for _, delivery := range deliveries {
			require.Equal(t, "sent", delivery.Str("state"), "%s, when the call dies at step %d", delivery.Key().SK, step)
		}
	}
}

// Between a call's look and the schedule that it writes its user moves to another zone, the consumer puts everything
// right and closes the delivery, and then the call writes what is out of date and dies: its repetition finds the
// delivery closed, and must look all the same.
func TestNotifier_leavesNoOutdatedScheduleWhenACallIsRepeated(t *testing.T) {
	t.Parallel()
	for meddleAt, isWithin := 1, true; isWithin; meddleAt++ {
		require.Less(t, meddleAt, 200)
		for dieAfter := range 4 {
			w := setup(t)
			w.create("mst_2", `{"title":"Pills","startUtc":"2025-12-01T20:00:00","rrule":"FREQ=DAILY","reminderMinutes":[0]}`)
			w.runUntilIdle()
			w.to(noon.Add(8 * time.Hour))
			calls := w.scheduler.due(w.now)
			require.Len(t, calls, 1)
			meddled := false
			w.fault.steps, w.fault.at, w.fault.die = 0, meddleAt, false
			w.fault.meddle = func() {
				meddled = true
				w.moveTo("Pacific/Apia")
				w.deliver(w.records()...)
				w.fault.steps, w.fault.at = 0, 1+dieAfter
				w.fault.meddle = func() { w.fault.die = true }
			}
			w.repeat(func(ctx context.Context) error { return w.notifier.Handle(ctx, calls[0]) })
			w.fault.at = 0
			if isWithin = meddled; meddled {
				w.deliver(w.records()...)
				w.requireExact()
			}
		}
	}
}

// A snooze rings a day before its occurrence. While that delivery ends, its user sets the reminder again, to one
// o'clock today. The rule still has the occurrence, but the delivery no longer counts for it.
func TestNotifier_leavesTheNextTriggerAloneAfterAnEarlySnooze(t *testing.T) {
	t.Parallel()
	for meddleAt, isWithin := 1, true; isWithin; meddleAt++ {
		require.Less(t, meddleAt, 200)
		w := setup(t)
		w.create("rem_1", `{"title":"Pills","triggerUtc":"2025-12-02T13:00:00Z","tzid":"Europe/London","rrule":"FREQ=DAILY"}`)
		w.act(snoozeFor("rem_1", 10)) // until ten past noon, in place of tomorrow
		w.runUntilIdle()
		w.to(noon.Add(10 * time.Minute))
		calls := w.scheduler.due(w.now)
		require.Len(t, calls, 1)
		isWithin = false
		w.fault.steps, w.fault.at, w.fault.die = 0, meddleAt, false
		w.fault.meddle = func() {
			isWithin = true
			w.fault.at = 0
			w.patchReminder("rem_1", `{"triggerUtc":"2025-12-01T13:00:00Z"}`)
		}
		w.repeat(func(ctx context.Context) error { return w.notifier.Handle(ctx, calls[0]) })
		if isWithin {
			w.advance(2 * time.Hour)
			require.Contains(t, w.published(), "rem_1 -0 01T13:00", "set again at step %d", meddleAt)
			w.requireExact()
			w.requireNothingLost()
		}
	}
}

// An exception decides about an occurrence as long as its delivery is not there. So a call that has looked before the
// exception was made delivers nothing of an occurrence that its user has cancelled.
func TestNotifier_deliversNothingOfAnOccurrenceThatIsCancelledWhileItLooks(t *testing.T) {
	t.Parallel()
	for meddleAt, isWithin, before := 1, true, 0; isWithin; meddleAt++ {
		require.Less(t, meddleAt, 200)
		w := setup(t)
		w.create("mst_1", fmt.Sprintf(dailyAt, "0"))
		w.runUntilIdle()
		w.to(noon.Add(2 * time.Hour)) // two in the afternoon of the first day
		calls := w.scheduler.due(w.now)
		require.Len(t, calls, 1)
		isWithin = false
		isDecided := false
		w.fault.steps, w.fault.at, w.fault.die = 0, meddleAt, false
		w.fault.meddle = func() {
			isWithin = true
			isDecided = len(w.rows(entity.DeliveryPrefix("mst_1"))) > 0
			w.fault.at = 0
			w.cancel("mst_1", "20251201")
		}
		w.repeat(func(ctx context.Context) error { return w.notifier.Handle(ctx, calls[0]) })
		w.fault.at = 0
		if isWithin && !isDecided {
			before++
			require.Empty(t, w.published(), "cancelled before step %d", meddleAt)
		}
		require.True(t, isWithin || before > 1, "the exception came before the delivery at some step")
	}
}

// A process stands still in the middle of a call until the next occurrence is due, too. The trigger passes the
// delivered occurrence and not the clock: the other one is delivered as well.
func TestNotifier_passesTheDeliveredOccurrenceAlone(t *testing.T) {
	t.Parallel()
	for step, stands := 1, true; stands; step++ {
		require.Less(t, step, 200)
		w := setup(t)
		w.create("rem_1", fmt.Sprintf(dailyRem, ""))
		w.runUntilIdle()
		w.to(noon.Add(time.Hour))
		calls := w.scheduler.due(w.now)
		require.Len(t, calls, 1)
		stands = false
		w.fault.steps, w.fault.at, w.fault.die = 0, step, false
		w.fault.meddle = func() {
			stands = true
			w.now = noon.Add(25 * time.Hour)
		}
		w.repeat(func(ctx context.Context) error { return w.notifier.Handle(ctx, calls[0]) })
		w.fault.at = 0
		w.to(noon.Add(25 * time.Hour))
		w.runUntilIdle()
		require.Subset(t, w.published(), []string{"rem_1 -0 01T13:00", "rem_1 -0 02T13:00"}, "it stands at step %d", step)
	}
}
