package reminders_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/command"
	"nexus/pkg/product"
	"nexus/pkg/reminders"
)

// dailyRem recurs at one in the afternoon in London from 1 December on.
const dailyRem = `{"title":"Pills","triggerUtc":"2025-12-01T13:00:00Z","tzid":"Europe/London","rrule":"FREQ=DAILY%s"}`

func TestNotifier_movesARecurringReminderOn(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("rem_1", fmt.Sprintf(dailyRem, ";COUNT=3"))
	w.advance(2 * time.Hour)
	it := w.item("rem_1")
	require.Equal(t, "2025-12-02T13:00:00Z", it.Str("triggerUtc"))
	require.Equal(t, "2025-12-01T13:00:00Z", it.Str("firstTriggerUtc"))
	require.Equal(t, "2025-12-01T13:00:00Z", it.Str("lastFiredUtc"))
	require.Equal(t, at(noon), it.Str("dueSetAt"), "only commands move dueSetAt")
	require.Equal(t, "2025-12-02T13:00:00Z", it.Str("GSI1SK"))
	require.Equal(t, int64(2), it.Int("version"))
	require.Equal(t, []string{"rem_1 -0 02T13:00"}, w.schedules())
	w.requireExact()

	w.advance(72 * time.Hour)
	require.Equal(t, []string{"rem_1 -0 01T13:00", "rem_1 -0 02T13:00", "rem_1 -0 03T13:00"}, w.published())
	it = w.item("rem_1")
	require.Equal(t, "2025-12-03T13:00:00Z", it.Str("triggerUtc"),
		"when none is left it stays, as that of a one-time reminder that fired")
	require.Equal(t, "PENDING", it.Str("status"))
	require.Equal(t, int64(4), it.Int("version"))
	require.Empty(t, w.schedules())
	w.requireExact()
	w.requireNothingLost()
}

func TestNotifier_remindsOfBothOccurrencesOfASnoozedReminder(t *testing.T) {
	t.Parallel()
	complete := func(w *fixture) { w.act(command.CompleteReminder{ID: "rem_1"}) }
	for name, c := range map[string]struct {
		rule      string
		act       func(w *fixture) // at 13:05 on the first day
		published string           // of three days, after the first
	}{
		"for a while": {"", func(w *fixture) { w.act(snoozeFor("rem_1", 60)) }, "01T14:05 02T13:00 03T13:00"},
		"twice": {"", func(w *fixture) { w.act(snoozeFor("rem_1", 60)); w.act(snoozeFor("rem_1", 90)) },
			"01T14:35 02T13:00 03T13:00"},
		"beyond the next":       {"", func(w *fixture) { w.act(snoozeFor("rem_1", 25*60)) }, "02T13:00 02T14:05 03T13:00"},
		"up to the next":        {"", func(w *fixture) { w.act(snoozeFor("rem_1", 24*60-5)) }, "02T13:00 02T13:00 03T13:00"},
		"and done":              {"", func(w *fixture) { w.act(snoozeFor("rem_1", 60)); complete(w) }, "02T13:00 03T13:00"},
		"done at once":          {"", complete, "02T13:00 03T13:00"},
		"all of it":             {"", func(w *fixture) { w.act(command.DismissReminder{ID: "rem_1", Series: true}) }, ""},
		"the last, for a while": {";COUNT=1", func(w *fixture) { w.act(snoozeFor("rem_1", 60)) }, "01T14:05"},
		"the last, done":        {";COUNT=1", complete, ""},
		"the last, later more": {";COUNT=1", func(w *fixture) { w.patchReminder("rem_1", `{"rrule":"FREQ=DAILY"}`) },
			"02T13:00 03T13:00"},
		"snoozed, then another": {"", func(w *fixture) {
			w.act(snoozeFor("rem_1", 60))
			w.patchReminder("rem_1", `{"triggerUtc":"2025-12-01T15:00:00Z"}`)
		}, "01T15:00 02T15:00 03T15:00"},
		"snoozed, no longer one": {"",
			func(w *fixture) { w.act(snoozeFor("rem_1", 60)); w.patchReminder("rem_1", `{"rrule":null}`) }, "02T13:00"},
		"the end comes earlier": {"", func(w *fixture) { w.patchReminder("rem_1", `{"rruleUntil":"2025-12-02T13:00:00Z"}`) },
			"02T13:00"},
		"the end has passed": {"",
			func(w *fixture) { w.patchReminder("rem_1", `{"rruleUntil":"2025-12-01T13:00:00Z"}`) }, ""},
		"ended and taken back": {"", func(w *fixture) {
			w.patchReminder("rem_1", `{"rruleUntil":"2025-12-01T13:00:00Z"}`)
			w.patchReminder("rem_1", `{"rruleUntil":null}`)
		}, "02T13:00 03T13:00"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, settled := range []bool{true, false} {
				w := setup(t)
				w.create("rem_1", fmt.Sprintf(dailyRem, c.rule))
				w.advance(65 * time.Minute)
				w.requireExact()
				c.act(w)
				if settled {
					w.runUntilIdle()
					w.requireExact()
				}
				w.advance(3*24*time.Hour - 90*time.Minute)
				var due []string
				for _, line := range w.published()[1:] {
					due = append(due, strings.TrimPrefix(line, "rem_1 -0 "))
				}
				require.Equal(t, c.published, strings.Join(due, " "))
				w.requireExact()
				w.requireNothingLost()
			}
		})
	}
}

// What was completed before it was due is over: no later look announces it.
func TestReminders_announceNoOccurrenceCompletedBeforeItRang(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("rem_1", fmt.Sprintf(dailyRem, ""))
	w.runUntilIdle()
	w.to(noon.Add(30 * time.Minute))
	w.act(command.CompleteReminder{ID: "rem_1"})
	w.runUntilIdle()
	require.Equal(t, []string{"rem_1 -0 02T13:00"}, w.schedules())
	w.to(noon.Add(65 * time.Minute))
	w.patchReminder("rem_1", `{"title":"Vitamins"}`)
	w.runUntilIdle()
	require.Empty(t, w.published())
	w.requireExact()
}

func TestNotifier_announcesTheOccurrenceThatWasSnoozed(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("rem_1", fmt.Sprintf(dailyRem, ""))
	w.advance(4*24*time.Hour + 65*time.Minute) // the fifth was delivered
	w.act(snoozeFor("rem_1", 60))
	w.advance(90 * time.Minute)
	events := w.bus.details(t)
	last := events[len(events)-1]
	require.Equal(t, "2025-12-05T13:00:00Z", last.OccurrenceUtc, "and not the first of all")
	require.Equal(t, "2025-12-05T14:05:00Z", last.DueUtc)
	require.Equal(t, "2025-12-06T13:00:00Z", w.item("rem_1").Str("triggerUtc"))
	w.requireExact()
}

func TestNotifier_catchesUpARecurringReminderInOneStep(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fields    string
		down      time.Duration
		published []string
		missed    int
		trigger   string
		schedule  string
	}{
		"a day and an hour of a daily one": {fmt.Sprintf(dailyRem, ""), 26 * time.Hour, []string{"rem_1 -0 02T13:00"}, 1,
			"2025-12-03T13:00:00Z", "rem_1 -0 03T13:00"},
		"24 h to the second": {fmt.Sprintf(dailyRem, ""), 25 * time.Hour,
			[]string{"rem_1 -0 01T13:00", "rem_1 -0 02T13:00"}, 0, "2025-12-03T13:00:00Z", "rem_1 -0 03T13:00"},
		"ten days of a daily one": {fmt.Sprintf(dailyRem, ""), 10*24*time.Hour + 2*time.Hour,
			[]string{"rem_1 -0 11T13:00"}, 10, "2025-12-12T13:00:00Z", "rem_1 -0 12T13:00"},
		"three days of a weekly one": {strings.Replace(fmt.Sprintf(dailyRem, ""), "DAILY", "WEEKLY", 1),
			3 * 24 * time.Hour, []string{}, 1, "2025-12-01T13:00:00Z", "rem_1 -0 08T13:00"},
		"created ten years after its first": {
			`{"title":"x","triggerUtc":"2015-12-01T13:00:00Z","tzid":"UTC","rrule":"FREQ=DAILY"}`,
			0, []string{}, 0, "2015-12-01T13:00:00Z", "rem_1 -0 01T13:00"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			w.create("rem_1", c.fields)
			if c.down > 0 {
				w.deliver(w.records()...)
			}
			w.to(noon.Add(c.down))
			w.runUntilIdle()
			require.Equal(t, c.published, w.published())
			require.Equal(t, c.missed, w.counts[reminders.Missed])
			require.Equal(t, c.trigger, w.item("rem_1").Str("triggerUtc"))
			require.Equal(t, []string{c.schedule}, w.schedules())
			w.requireExact()
			w.advance(8 * 24 * time.Hour)
			trigger, _ := w.item("rem_1").Time("triggerUtc")
			require.True(t, trigger.After(w.now), "the next delivery makes up for everything before")
			w.requireExact()
		})
	}
}

func TestReminders_keepNineOClockInEverySeason(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("rem_1",
		`{"title":"x","triggerUtc":"2026-03-07T14:00:00Z","tzid":"America/New_York","rrule":"FREQ=DAILY;COUNT=3"}`)
	// On the 8th there is no half past two in New York.
	w.create("rem_2",
		`{"title":"x","triggerUtc":"2026-03-07T07:30:00Z","tzid":"America/New_York","rrule":"FREQ=DAILY;COUNT=3"}`)
	w.moveTo("America/New_York")
	w.create("rem_3", `{"title":"x","triggerUtc":"2026-03-07T02:30:00","rrule":"FREQ=DAILY;COUNT=3"}`)
	w.advance(100 * 24 * time.Hour)
	require.ElementsMatch(t, []string{
		"rem_1 -0 07T14:00", "rem_1 -0 08T13:00", "rem_1 -0 09T13:00",
		"rem_2 -0 07T07:30", "rem_2 -0 08T07:30", "rem_2 -0 09T06:30",
		"rem_3 -0 07T07:30", "rem_3 -0 08T07:30", "rem_3 -0 09T06:30",
	}, w.published())
	require.Equal(t, "2026-03-07T07:30:00Z", w.item("rem_2").Str("firstTriggerUtc"))
	require.Equal(t, "2026-03-09T02:30:00Z", w.item("rem_3").Str("triggerUtc"), "the reading stays what it was")
	w.requireExact()
}

func TestReminders_moveAFloatingRecurringReminderWithItsUser(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.moveTo("Europe/London")
	w.create("rem_1", `{"title":"x","triggerUtc":"2025-12-01T13:00:00","rrule":"FREQ=DAILY"}`)
	w.advance(65 * time.Minute)
	w.moveTo("America/New_York") // it is 8 in the morning: the first was delivered, and is over there, too
	w.runUntilIdle()
	require.Equal(t, []string{"rem_1 -0 02T18:00"}, w.schedules())
	w.act(snoozeFor("rem_1", 30)) // in New York the last one due was yesterday's; none was, so it is the trigger's
	w.requireNothingLost()
	w.moveTo("Pacific/Auckland")
	w.advance(48 * time.Hour)
	w.requireExact()
	w.requireNothingLost()
	for _, line := range w.published()[2:] {
		require.True(t, strings.HasSuffix(line, "T00:00"), "one o'clock in Auckland: %s", line)
	}
}

func TestReminders_moveAFloatingTriggerLeftInThePast(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("rem_1", `{"title":"x","triggerUtc":"2020-12-07T13:00:00","rrule":"FREQ=WEEKLY"}`) // Mondays, for years
	w.runUntilIdle()
	require.Equal(t, []string{"rem_1 -0 01T13:00"}, w.schedules())
	w.moveTo("America/New_York")
	w.runUntilIdle()
	require.Equal(t, []string{"rem_1 -0 01T18:00"}, w.schedules())
	w.requireExact()
}

func TestReminders_endARecurringReminderAsAOneTimeOne(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("rem_1", `{"title":"x","triggerUtc":"2025-12-01T13:00:00","rrule":"FREQ=DAILY;COUNT=2"}`)
	w.advance(30 * time.Hour)
	require.Len(t, w.published(), 2)
	w.moveTo("Pacific/Honolulu") // where its last is still to come by the clock
	w.runUntilIdle()
	require.Empty(t, w.schedules(), "it is over all the same")
	w.patchReminder("rem_1", `{"triggerUtc":"2025-12-05T13:00:00"}`)
	w.advance(10 * 24 * time.Hour)
	require.Len(t, w.published(), 4)
	it := w.item("rem_1")
	require.Equal(t, "2025-12-05T13:00:00Z", it.Str("firstTriggerUtc"))
	require.True(t, product.TriggerDone(it))
	w.requireExact()
}
