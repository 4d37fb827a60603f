package reminders_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/item"
)

// meddleAtEachStep plays a call of the scheduler once for each step of it. At that step the meddler acts, and then the
// call goes on. The verdict comes after each play.
func meddleAtEachStep(t *testing.T, begin, meddle func(w *fixture), verdict func(w *fixture, step int, err error)) {
	t.Helper()
	for step, isWithin := 1, true; isWithin; step++ {
		require.Less(t, step, 200)
		w := setup(t)
		begin(w)
		calls := w.scheduler.due(w.now)
		require.Len(t, calls, 1)
		isWithin = false
		w.fault.steps, w.fault.at, w.fault.die = 0, step, false
		w.fault.meddle = func() {
			isWithin = true
			w.fault.at = 0
			meddle(w)
		}
		err := w.fault.under(func() error { return w.notifier.Handle(t.Context(), calls[0]) })
		w.fault.at = 0
		if isWithin {
			verdict(w, step, err)
		}
	}
}

// ringsAtOne is a reminder that is due at one o'clock, and it is one o'clock.
func ringsAtOne(doc string) func(w *fixture) {
	return func(w *fixture) {
		w.create("rem_1", doc)
		w.runUntilIdle()
		w.to(noon.Add(time.Hour))
	}
}

// A delivery ends the trigger that it announced. A trigger that was set since rings.
func TestNotifier_ringsForATriggerSetDuringADelivery(t *testing.T) {
	t.Parallel()
	setAnew := func(w *fixture) { w.patchReminder("rem_1", `{"triggerUtc":"2025-12-01T15:00:00Z"}`) }
	begin := ringsAtOne(fmt.Sprintf(remAt, at(noon.Add(time.Hour))))
	meddleAtEachStep(t, begin, setAnew, func(w *fixture, step int, err error) {
		require.NoError(w, err)
		w.runUntilIdle()
		require.NotEmpty(w, w.item("rem_1").Str("GSI1SK"))
		w.advance(4 * time.Hour)
		require.Contains(w, w.published(), "rem_1 -0 01T15:00", "set again at step %d", step)
		w.requireExact()
		w.requireNothingLost()
	})
}

// The rule no longer has what was delivered: nothing that it has is over for that.
func TestNotifier_ringsForATriggerOfARuleSetDuringADelivery(t *testing.T) {
	t.Parallel()
	setAnew := func(w *fixture) { w.patchReminder("rem_1", `{"triggerUtc":"2025-12-01T15:00:00Z"}`) }
	meddleAtEachStep(t, ringsAtOne(fmt.Sprintf(dailyRem, "")), setAnew, func(w *fixture, step int, err error) {
		require.NoError(w, err)
		w.advance(4 * time.Hour)
		require.Contains(w, w.published(), "rem_1 -0 01T15:00", "set again at step %d", step)
		require.Equal(w, []string{"rem_1 -0 02T15:00"}, w.schedules())
		w.requireExact()
	})
}

// The zone of a floating reminder becomes one that does not exist, while the call is at work. The call says so, or it
// is done.
func TestNotifier_reportsAZoneThatIsDamagedDuringACall(t *testing.T) {
	t.Parallel()
	const floating = `{"title":"Call","triggerUtc":"2025-12-01T13:00:00"}`
	told := 0
	damage := func(w *fixture) {
		w.editMeta(func(it item.Item) { it["defaultTzid"] = item.String("Nowhere/Atlantis") })
	}
	meddleAtEachStep(t, ringsAtOne(floating), damage, func(w *fixture, step int, err error) {
		if err != nil {
			told++
			require.ErrorContains(w, err, "damaged row: zone of", "damaged at step %d", step)
		}
	})
	require.Greater(t, told, 5)
}

// The snooze of one occurrence ends after the next. Both are late together, and both are over once they have rung.
func TestNotifier_endsALateSnoozeBesideTheNextOccurrence(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("rem_1", fmt.Sprintf(dailyRem, ""))
	w.advance(65 * time.Minute)
	w.act(snoozeFor("rem_1", 25*60))
	w.runUntilIdle()
	w.to(noon.Add(27 * time.Hour))
	w.runUntilIdle()
	require.ElementsMatch(t, []string{"rem_1 -0 01T13:00", "rem_1 -0 02T13:00", "rem_1 -0 02T14:05"}, w.published())
	require.Equal(t, "PENDING", w.item("rem_1").Str("status"))
	require.False(t, w.item("rem_1").Has("snoozeState"))
	w.requireExact()
}

// The call of a snooze comes while the delivery of its trigger is still open, and dies after it has written its own
// delivery. Its repetition ends the newer delivery first and then the older one, which does not take the newer one
// back.
func TestNotifier_keepsTheLatestDeliveryWhenAnOlderOneEndsLast(t *testing.T) {
	t.Parallel()
	w := setup(t)
	ringsAtOne(fmt.Sprintf(remAt, at(noon.Add(time.Hour))))(w)
	dieBehind := func(payload []byte, delivery string) {
		for step := 1; !slices.Contains(w.published(), delivery); step++ {
			require.Less(t, step, 200)
			w.fault.at, w.fault.die, w.fault.steps = step, true, 0
			require.Error(t, w.fault.under(func() error { return w.notifier.Handle(t.Context(), payload) }))
		}
		w.fault.at = 0
	}
	calls := w.scheduler.due(w.now)
	dieBehind(calls[0], "rem_1 -0 01T13:00")
	w.snooze("rem_1", noon.Add(90*time.Minute))
	w.to(noon.Add(90 * time.Minute))
	const due = `"dueUtc":"2025-12-01T13:%s:00Z"`
	snoozed := []byte(strings.Replace(string(calls[0]), fmt.Sprintf(due, "00"), fmt.Sprintf(due, "30"), 1))
	dieBehind(snoozed, "rem_1 -0 01T13:30")
	for _, delivery := range w.rows(entity.DeliveryPrefix("rem_1")) {
		require.Equal(t, "pending", delivery.Str("state"))
	}
	require.NoError(t, w.notifier.Handle(t.Context(), snoozed))
	require.Equal(t, "2025-12-01T13:30:00Z", w.item("rem_1").Str("lastFiredUtc"))
	require.Equal(t, "PENDING", w.item("rem_1").Str("status"))
	w.advance(time.Hour)
	require.Len(t, w.published(), 2)
	w.requireExact()
}
