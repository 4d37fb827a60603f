package reminders_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/item"
	"nexus/pkg/reminders"
)

const (
	eventAt = `{"title":"Standup","startUtc":"%s","startTzid":"Europe/London","reminderMinutes":[%s]}`
	taskAt  = `{"title":"Write","dueUtc":"%s","dueTzid":"Europe/London","reminderMinutes":[%s]}`
	remAt   = `{"title":"Call","triggerUtc":"%s","tzid":"Europe/London"}`
)

func at(t time.Time) string { return item.FormatInstant(t) }

func TestConsumer_schedulesEachOffsetOnceForDelivery(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("evt_1", fmt.Sprintf(eventAt, at(noon.Add(2*time.Hour)), "15,60"))
	w.create("task_1", fmt.Sprintf(taskAt, at(noon.Add(3*time.Hour)), "0"))
	w.create("rem_1", fmt.Sprintf(remAt, at(noon.Add(10*time.Second))))
	w.create("note_1", `{"title":"n"}`)
	w.runUntilIdle()
	require.Equal(t, []string{"evt_1 -15 01T13:45", "evt_1 -60 01T13:00", "rem_1 -0 01T12:01", "task_1 -0 01T15:00"},
		w.schedules())
	require.Empty(t, w.published())
	w.requireExact()

	w.advance(24 * time.Hour)
	require.Equal(t, []string{"rem_1 -0 01T12:00", "evt_1 -60 01T13:00", "evt_1 -15 01T13:45", "task_1 -0 01T15:00"},
		w.published())
	require.Empty(t, w.schedules())
	require.Equal(t, at(noon.Add(10*time.Second)), w.item("rem_1").Str("lastFiredUtc"))
	require.Equal(t, int64(2), w.item("rem_1").Int("version"))
	require.Equal(t, int64(1), w.item("evt_1").Int("version"))
	require.Equal(t, 4, w.counts[reminders.Delivered])
	require.Zero(t, w.counts[reminders.Late])
	w.requireExact()
}

func TestConsumer_schedulesNothingForDoneCancelledOrDeleted(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for name, end := range map[string]func(id string){
		"completed": func(id string) { w.set(id, "status", item.String("COMPLETED")) },
		"archived":  func(id string) { w.set(id, "status", item.String("ARCHIVED")) },
		"deleted":   func(id string) { w.remove(id) },
		"undated":   func(id string) { w.edit(id, func(it item.Item) { it.Set("dueUtc", nil); it.Set("dueTzid", nil) }) },
		"silenced":  func(id string) { w.set(id, "reminderMinutes", nil) },
	} {
		id := "task_" + name
		w.create(id, fmt.Sprintf(taskAt, at(noon.Add(2*time.Hour)), "15,60"))
		w.runUntilIdle()
		require.Len(t, w.schedules(), 2, name)
		end(id)
		w.runUntilIdle()
		require.Empty(t, w.schedules(), name)
	}
	w.create("evt_1", fmt.Sprintf(eventAt, at(noon.Add(2*time.Hour)), "15"))
	w.set("evt_1", "status", item.String("CANCELLED"))
	w.create("rem_1", fmt.Sprintf(remAt, at(noon.Add(time.Hour))))
	w.set("rem_1", "status", item.String("DISMISSED"))
	w.runUntilIdle()
	require.Empty(t, w.schedules())
	w.requireExact()
}

func TestConsumer_leavesNoScheduleOfAChangedOffset(t *testing.T) {
	t.Parallel()
	orders := [][]int{{0, 1, 2}, {2, 1, 0}, {1, 2, 0}, {0, 0, 1, 1, 1, 2, 0, 1}, {2, 0, 1}, {1, 0, 2, 2, 2}}
	for _, order := range orders {
		w := setup(t)
		w.create("evt_1", fmt.Sprintf(eventAt, at(noon.Add(5*time.Hour)), "15,60"))
		first := w.records()
		w.deliver(first...)
		w.set("evt_1", "reminderMinutes", item.Ints(30, 60))
		w.set("evt_1", "reminderMinutes", item.Ints(45))
		records := append(first, w.records()...)
		require.Len(t, records, 3)
		for _, i := range order {
			w.deliver(records[i])
		}
		require.Equal(t, []string{"evt_1 -45 01T16:15"}, w.schedules(), "%v", order)
	}
}

func TestConsumer_restoresNoOldScheduleForALateDuplicate(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("task_1", fmt.Sprintf(taskAt, at(noon.Add(2*time.Hour)), "15"))
	old := w.records()
	w.deliver(old...)
	w.set("task_1", "status", item.String("COMPLETED"))
	completed := w.records()
	w.deliver(completed...)
	w.set("task_1", "status", item.String("IN_PROGRESS"))
	w.runUntilIdle()
	w.set("task_1", "status", item.String("COMPLETED"))
	w.runUntilIdle()
	w.deliver(old...)
	w.deliver(completed...)
	require.Empty(t, w.schedules())
	w.advance(5 * time.Hour)
	w.deliver(old...)
	require.Empty(t, w.published())
	w.requireExact()
}

func TestConsumer_schedulesOnlyWhatIsToComeWhenATaskReopens(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("task_1", fmt.Sprintf(taskAt, at(noon.Add(2*time.Hour)), "60,90"))
	w.runUntilIdle()
	w.set("task_1", "status", item.String("COMPLETED"))
	w.advance(45 * time.Minute)
	w.set("task_1", "status", item.String("BACKLOG"))
	w.advance(time.Hour)
	require.Equal(t, []string{"task_1 -60 01T13:00"}, w.published())
	w.requireExact()
}

func TestConsumer_publishesAndCountsNothingForPastEvents(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for i := range 500 {
		start := noon.Add(-time.Duration(i*i) * time.Hour)
		w.create(fmt.Sprintf("evt_%d", i), fmt.Sprintf(eventAt, at(start), "1,10,60"))
	}
	w.runUntilIdle()
	w.deliver(slices.Repeat(w.records(), 2)...)
	require.Empty(t, w.published())
	require.Empty(t, w.schedules())
	require.Zero(t, w.counts[reminders.Missed]+w.counts[reminders.Late])
}

// A record that finds any number of late reminders is done in one call.
func TestConsumer_deliversManyLateRemindersInOneCall(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("task_1", fmt.Sprintf(taskAt, at(noon.Add(2*time.Hour)), "5,10,15,20,25,30,35,40,45,50"))
	w.to(noon.Add(2 * time.Hour))
	for _, o := range w.consumer.Apply(t.Context(), w.records()) {
		require.Equal(t, change.Outcome{}, o)
	}
	require.Len(t, w.published(), 10)
	w.requireExact()
}

func TestConsumer_takesAnExpiredItemAsGone(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("task_1", fmt.Sprintf(taskAt, at(noon.Add(2*time.Hour)), "15"))
	it := w.item("task_1")
	it["ttl"] = item.Int(noon.Unix())
	require.NoError(t, w.store.Load(t.Context(), []item.Item{it}))
	w.runUntilIdle()
	require.Empty(t, w.schedules())
}

func TestConsumer_parksADamagedRowAndRetriesInAnOutage(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("task_1", `{"title":"t","dueUtc":"2025-12-01T14:00:00","reminderMinutes":[15]}`)
	w.editMeta(func(it item.Item) { it["defaultTzid"] = item.String("Nowhere/Atlantis") })
	records := w.records()
	outcome := w.consumer.Apply(t.Context(), records[:1])[0]
	require.Equal(t, change.Poison, outcome.Verdict)
	require.ErrorContains(t, outcome.Err, "Nowhere/Atlantis")

	w.fault.at, w.fault.die = 1, true
	require.Error(t, w.fault.under(func() error {
		outcome = w.consumer.Apply(t.Context(), records[:1])[0]
		return outcome.Err
	}))
	require.Equal(t, change.Retry, outcome.Verdict)
}
