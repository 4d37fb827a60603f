package reminders_test

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/internal/long"
	"nexus/pkg/bus"
	busmemory "nexus/pkg/bus/memory"
	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
)

// One call fails, and the process goes on: what it could not read is not taken for what is not there.
func TestReminders_areExactAfterAnOutageOfOneCall(t *testing.T) {
	t.Parallel()
	long.Only(t, "plays a thousand histories")
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

// The bus refuses the event of one occurrence for good. Its delivery stays pending and is reported, and the series
// reminds of the later occurrences.
func TestNotifier_goesOnWithAChainAfterARefusedDelivery(t *testing.T) {
	t.Parallel()
	w := setup(t)
	isRefused := true
	w.bus = recorder{busmemory.New(func(events []bus.Event, _ bool) error {
		if isRefused && strings.Contains(string(events[0].Detail), `"dueUtc":"2025-12-01T`) {
			return fmt.Errorf("%w: not this one", bus.ErrInvalid)
		}
		return nil
	})}
	w.wire(w.config())
	w.create("mst_1", fmt.Sprintf(dailyAt, "0"))
	w.runUntilIdle()
	require.Equal(t, []string{"mst_1 -0 01T14:00"}, w.schedules())
	for day := range 3 {
		w.to(noon.AddDate(0, 0, day).Add(2 * time.Hour))
		for _, payload := range w.scheduler.due(w.now) {
			for range 2 {
				require.ErrorIs(t, w.notifier.Handle(t.Context(), payload), bus.ErrInvalid)
			}
		}
	}
	require.Equal(t, []string{"mst_1 -0 04T14:00"}, w.schedules())
	require.Equal(t, []string{"mst_1 -0 02T14:00", "mst_1 -0 03T14:00"}, w.published())
	require.Len(t, w.bus.Events(), 2, "what was published is closed")

	w.set("mst_1", entity.AttrTitle, item.String("Late shift"))
	records := w.records()
	outcome := w.consumer.Apply(t.Context(), records[len(records)-1:])[0]
	require.Equal(t, change.Poison, outcome.Verdict)
	require.ErrorIs(t, outcome.Err, bus.ErrInvalid)

	for _, row := range w.rows(entity.DeliveryPrefix("mst_1")) {
		_, err := w.notifier.Redrive(t.Context(), row)
		require.Equal(t, row.Str("state") == "pending", errors.Is(err, bus.ErrInvalid), "%s: %v", row.Key(), err)
	}
	isRefused = false
	w.deliver(w.latest("mst_1"))
	for _, row := range w.rows(entity.DeliveryPrefix("mst_1")) {
		require.Equal(t, "sent", row.Str("state"))
	}
}
