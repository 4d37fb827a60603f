package reminders_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/item"
	"nexus/pkg/reminders"
	"nexus/pkg/schedule"
)

func TestScheduleName_beginsWithThePartOfItsUser(t *testing.T) {
	t.Parallel()
	part := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return base64.RawURLEncoding.EncodeToString(sum[:])
	}
	name := reminders.ScheduleName("ann", "task_1", 60)
	require.Equal(t, "reminder-"+part("ann")[:11]+"-"+part("ann#task_1#60"), name)
	require.Len(t, name, schedule.MaxName)
	require.NoError(t, schedule.CheckName(name))
	require.Equal(t, name[:21], reminders.UserPrefix("ann"))
	require.Equal(t, "reminder-"+part("ann#task_1#60"), reminders.FormerName("ann", "task_1", 60))
	require.True(t, reminders.IsFormerName(reminders.FormerName("ann", "task_1", 60)))
	require.False(t, reminders.IsFormerName(name))
}

// asFormer moves a schedule to the name of the form before.
func (w *fixture) asFormer(id string, offset int64) schedule.Schedule {
	w.Helper()
	s := w.scheduler.named(reminders.ScheduleName(user, id, offset))
	require.NoError(w, w.scheduler.Delete(w.Context(), s.Name))
	s.Name = reminders.FormerName(user, id, offset)
	require.NoError(w, w.scheduler.Put(w.Context(), s))
	return s
}

func TestConsumer_renamesTheScheduleOfWhatItTouches(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("task_1", fmt.Sprintf(taskAt, at(noon.Add(2*time.Hour)), "0,60"))
	w.runUntilIdle()
	start, before := w.asFormer("task_1", 0), w.asFormer("task_1", 60)

	w.edit("task_1", func(it item.Item) {
		it.SetTime("dueUtc", noon.Add(3*time.Hour))
		it["reminderMinutes"] = item.Ints(60)
	})
	w.runUntilIdle()
	require.Empty(t, w.scheduler.named(start.Name).Name, "deleted with its offset")
	require.Empty(t, w.scheduler.named(before.Name).Name)
	require.Equal(t, "2025-12-01T14:00:00Z", at(w.scheduler.named(reminders.ScheduleName(user, "task_1", 60)).At))

	w.remove("task_1")
	require.NoError(t, w.scheduler.Put(t.Context(), before))
	w.runUntilIdle()
	require.Empty(t, w.scheduler.named(before.Name).Name)
}

func TestNotifier_publishesOnceThoughAFormerScheduleCallsAsWell(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("task_1", fmt.Sprintf(taskAt, at(noon.Add(2*time.Hour)), "60"))
	w.runUntilIdle()
	former := w.asFormer("task_1", 60)
	w.set("task_1", "title", item.String("again"))
	w.runUntilIdle()
	w.advance(time.Hour)
	require.Equal(t, []string{"task_1 -60 01T13:00"}, w.published())
	require.NoError(t, w.notifier.Handle(t.Context(), former.Payload))
	require.Equal(t, []string{"task_1 -60 01T13:00"}, w.published())
}
