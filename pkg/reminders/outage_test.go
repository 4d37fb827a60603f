package reminders_test

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/item"
)

// One call fails, and the process goes on: what it could not read is not taken for what is not there.
func TestReminders_areExactAfterAnOutageOfOneCall(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("plays a thousand histories")
	}
	all := maps.Clone(scenarios)
	maps.Copy(all, seriesScenarios)
	for name, scenario := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			quiet := setup(t)
			scenario(quiet)
			quiet.advance(72 * time.Hour)
			const stride = 3 // a step before a call and one after it, in turns
			for step := 1 + len(name)%stride; step <= quiet.fault.steps; step += stride {
				w := setup(t)
				w.step, w.fault.at, w.fault.die, w.fault.once = step, step, true, true
				scenario(w)
				w.requireExact()
				w.advance(72 * time.Hour)
				w.requireExact()
				w.requireNothingLost()
				require.ElementsMatch(t, quiet.published(), w.published(), "step %d", step)
				require.Equal(t, quiet.schedules(), w.schedules(), "step %d", step)
			}
		})
	}
}

// The preferences are read when a delivery is decided. That they cannot be read does not mean that there are none.
func TestNotifier_doesNotTurnTheSoundOnInAnOutage(t *testing.T) {
	t.Parallel()
	for step, isWithin := 1, true; isWithin; step++ {
		require.Less(t, step, 200)
		w := setup(t)
		w.editMeta(func(it item.Item) { it.Map("preferences")["enableSoundNotifications"] = item.Bool(false) })
		w.create("evt_1", fmt.Sprintf(eventAt, at(noon.Add(2*time.Hour)), "15"))
		w.runUntilIdle()
		w.to(noon.Add(105 * time.Minute))
		w.fault.steps, w.fault.at, w.fault.die, w.fault.once = 0, step, true, true
		w.runUntilIdle()
		isWithin = w.fault.steps >= step
		require.Len(t, w.published(), 1)
		for _, e := range w.bus.details(t) {
			require.Equal(t, []bool{true, false}, []bool{e.Notify.Browser, e.Notify.Sound}, "an outage at step %d", step)
		}
	}
}
