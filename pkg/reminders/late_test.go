package reminders_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/item"
	"nexus/pkg/reminders"
	schedulememory "nexus/pkg/schedule/memory"
)

func TestReminders_distinguishLateFromMissedAndIrrelevant(t *testing.T) {
	t.Parallel()
	const late, missed, ignored = "late", "missed", "ignored"
	for _, c := range []struct {
		name  string
		due   time.Duration // after noon, when the item is created
		seen  time.Duration // after noon, when the record comes
		other func(w *fixture)
		want  string
	}{
		{"a second ago", time.Hour, time.Hour + time.Second, nil, late},
		{"this very second", time.Hour, time.Hour, nil, late},
		{"asked for at the last second", 0, 2 * time.Hour, nil, late},
		{"two hours ago", time.Hour, 3 * time.Hour, nil, late},
		{"24 h ago to the second", time.Hour, 25 * time.Hour, nil, late},
		{"a second more than 24 h ago", time.Hour, 25*time.Hour + time.Second, nil, missed},
		{"30 h ago", time.Hour, 31 * time.Hour, nil, missed},
		{"30 days ago", time.Hour, 30*24*time.Hour + time.Hour, nil, missed},
		{"so long ago that its delivery would be gone", time.Hour, 31 * 24 * time.Hour, nil, ignored},
		{"past when it was asked for", -time.Second, time.Hour, nil, ignored},
		{"long past when it was asked for", -30 * time.Hour, time.Hour, nil, ignored},
		{"edited since", time.Hour, 3 * time.Hour, func(w *fixture) {
			w.now = noon.Add(2 * time.Hour)
			w.set("task_1", "title", item.String("t"))
		}, late},
		{"moved to the past since", 5 * time.Hour, 3 * time.Hour, func(w *fixture) {
			w.now = noon.Add(2 * time.Hour)
			w.set("task_1", "dueUtc", item.String(at(noon.Add(time.Hour))))
		}, ignored},
		{"revived since", time.Hour, 3 * time.Hour, func(w *fixture) {
			w.set("task_1", "status", item.String("COMPLETED"))
			w.now = noon.Add(2 * time.Hour)
			w.set("task_1", "status", item.String("BACKLOG"))
		}, ignored},
		{"completed since", time.Hour, 3 * time.Hour,
			func(w *fixture) { w.set("task_1", "status", item.String("COMPLETED")) }, ignored},
		{"zone moved since, but it has its own", time.Hour, 3 * time.Hour, func(w *fixture) {
			w.now = noon.Add(2 * time.Hour)
			w.moveTo("America/New_York")
		}, late},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			w.create("task_1", fmt.Sprintf(taskAt, at(noon.Add(c.due)), "0"))
			if c.other != nil {
				c.other(w)
			}
			w.now = noon.Add(c.seen)
			records := w.records()
			w.deliver(records[:1]...)
			require.Equal(t, c.want == late, len(w.published()) == 1)
			require.Equal(t, c.want == missed, w.counts[reminders.Missed] == 1)
			w.deliver(records...)
			w.runUntilIdle()
			w.requireExact()
		})
	}
}

func TestReminders_takeAMovedFloatingInstantForNotLate(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.moveTo("America/New_York")
	w.create("task_1", `{"title":"t","dueUtc":"2025-12-01T14:00:00","reminderMinutes":[0]}`) // 19:00Z
	w.runUntilIdle()
	require.Equal(t, []string{"task_1 -0 01T19:00"}, w.schedules())
	w.now = noon.Add(3 * time.Hour)
	w.moveTo("Europe/London") // 14:00Z, an hour ago
	w.advance(24 * time.Hour)
	require.Empty(t, w.published())
	require.Empty(t, w.schedules())
	require.Zero(t, w.counts[reminders.Missed])
}

func TestReminders_keepASnoozeAbsoluteInAnyZone(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.moveTo("Europe/London")
	w.create("rem_1", `{"title":"r","triggerUtc":"2025-12-01T13:00:00"}`)
	w.advance(65 * time.Minute)
	w.snooze("rem_1", noon.Add(2*time.Hour))
	w.runUntilIdle()
	w.now = noon.Add(2*time.Hour + time.Second)
	w.moveTo("Pacific/Kiritimati") // the trigger is long past there
	w.runUntilIdle()
	require.Equal(t, []string{"rem_1 -0 01T13:00", "rem_1 -0 01T14:00"}, w.published())
	require.Empty(t, w.schedules())
	w.requireExact()
}

// The snooze of a floating reminder that recurs is an instant, which a move to another zone does not ask for again.
func TestReminders_keepASnoozeBesideAFloatingTriggerAbsolute(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.moveTo("Europe/London")
	w.create("rem_1", `{"title":"r","triggerUtc":"2025-12-01T13:00:00","rrule":"FREQ=DAILY"}`)
	w.advance(65 * time.Minute)
	w.act(snoozeFor("rem_1", 30))
	w.runUntilIdle()
	w.to(noon.Add(96 * time.Minute)) // a minute after the end of the snooze, of which no call has come
	w.moveTo("Pacific/Kiritimati")
	w.deliver(w.records()...)
	require.Contains(t, w.published(), "rem_1 -0 01T13:35")
}

// The user has moved long before: what a command asks for in the past was not asked for by the move.
func TestReminders_takeAFloatingInstantSetInThePastForNotLate(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.moveTo("Europe/London")
	w.to(noon.Add(2 * time.Hour))
	w.create("task_1", fmt.Sprintf(floatingTask, "2025-12-01T13:00:00", "0"))
	w.runUntilIdle()
	require.Empty(t, w.published())
	require.Zero(t, w.counts[reminders.Missed])
}

// A delivery counts as late from more than two minutes on.
func TestObservation_isLateAfterTwoMinutes(t *testing.T) {
	t.Parallel()
	for late, count := range map[time.Duration]int{2 * time.Minute: 0, 2*time.Minute + time.Second: 1} {
		w := setup(t)
		w.create("task_1", fmt.Sprintf(taskAt, at(noon.Add(time.Hour)), "0"))
		w.runUntilIdle()
		w.to(noon.Add(time.Hour + late))
		w.runUntilIdle()
		require.Len(t, w.published(), 1)
		require.Equal(t, count, w.counts[reminders.Late], late)
	}
}

func TestReminders_announceNothingPastWithoutDueSetAt(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("task_1", fmt.Sprintf(taskAt, at(noon.Add(time.Hour)), "0"))
	w.set("task_1", "dueSetAt", nil)
	w.now = noon.Add(2 * time.Hour)
	w.set("task_1", "title", item.String("t"))
	w.runUntilIdle()
	require.Empty(t, w.published())
}

func TestNotifier_missesACallMoreThanADayLate(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("rem_1", fmt.Sprintf(remAt, at(noon.Add(time.Hour))))
	w.runUntilIdle()
	w.now = noon.Add(31 * time.Hour)
	w.runUntilIdle()
	require.Empty(t, w.published())
	require.Equal(t, 1, w.counts[reminders.Missed])
	require.Empty(t, w.schedules())
}

// The scheduler answers later than the instant of the schedule, and does not promise to call a past one.
func TestConsumer_deliversAReminderThatComesDueWhileItsScheduleIsPut(t *testing.T) {
	t.Parallel()
	w := setup(t)
	slow := 90 * time.Second
	scheduler := schedulememory.New(func(_, _ string, after bool) error {
		if !after {
			w.now, slow = w.now.Add(slow), 0
		}
		return nil
	})
	config := w.config()
	config.Scheduler = scheduler
	consumer := reminders.New(config)
	w.create("evt_1", fmt.Sprintf(eventAt, at(noon.Add(45*time.Second)), "0"))
	require.Equal(t, change.Done, consumer.Apply(t.Context(), w.records())[0].Verdict)
	require.Equal(t, []string{"evt_1 -0 01T12:00"}, w.published())
	require.Empty(t, scheduler.Entries())
}
