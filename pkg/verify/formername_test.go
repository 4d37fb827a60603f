package verify_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/reminders"
	"nexus/pkg/verify"
)

// renameToFormer gives a schedule the name of the form before.
func (w *fixture) renameToFormer(id string, offset int64) {
	w.t.Helper()
	s, err := w.schedules.Find(w.t.Context(), reminders.ScheduleName(ann, id, offset))
	require.NoError(w.t, err)
	w.unschedule(id, offset)
	s.Name = reminders.FormerName(ann, id, offset)
	require.NoError(w.t, w.schedules.Put(w.t.Context(), s))
}

func TestVerifier_renamesTheSchedulesOfOneUserAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	of := w.populate(ann)
	w.populate("ben")
	event := of["event"].Str("eventId")
	w.renameToFormer(event, 10)
	former, present := reminders.FormerName(ann, event, 10), reminders.ScheduleName(ann, event, 10)

	found, _ := w.verify(verify.Options{User: "ben", Repair: true})
	require.Empty(t, found)
	_, err := w.schedules.Find(t.Context(), former)
	require.NoError(t, err, "it is ann's")

	_, sum := w.verify(verify.Options{User: ann, Repair: true})
	require.Zero(t, sum.Remaining)
	s, err := w.schedules.Find(t.Context(), present)
	require.NoError(t, err)
	require.Contains(t, string(s.Payload), event)
	require.NoError(t, w.schedules.Each(t.Context(), reminders.SchedulePrefix, func(name string) error {
		require.False(t, reminders.IsFormerName(name), name)
		return nil
	}))
}
