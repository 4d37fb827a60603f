package deliver_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"nexus/pkg/deliver"
	"nexus/pkg/entity/device"
	"nexus/pkg/item"
	schedulememory "nexus/pkg/schedule/memory"
	"nexus/pkg/table"
)

func TestDeliverer_resumesWhatNothingCallsForAnyMore(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.register(user, deviceIDs[0], "https://push.example.com/1")
	f.answers(503)
	isOverdue := func() bool {
		is, err := f.deliverer.IsOverdue(f.row(deviceIDs[0]))
		f.NoError(err)
		return is
	}
	f.NoError(f.deliverer.Handle(t.Context(), f.due(nil)))
	name := deliver.ScheduleName(user, strings.Repeat("d", 43), deviceIDs[0])
	f.NoError(f.schedules.Delete(t.Context(), name), "as if the worker had died before it")
	f.now = f.now.Add(10 * time.Minute)
	f.False(isOverdue(), "its attempt is under way")
	f.now = f.now.Add(time.Minute)
	f.True(isOverdue())

	f.NoError(f.deliverer.Resume(t.Context(), f.row(deviceIDs[0])))
	f.False(isOverdue(), "it has an attempt ahead")
	f.Len(f.sent, 1, "a verification tells nothing itself")
	f.answers(201)
	next, any := f.schedules.Next()
	f.True(any)
	f.now = next
	due, ok := f.schedules.Take(f.now)
	f.True(ok)
	f.NoError(f.deliverer.Wake(t.Context(), due.Payload))
	f.Equal("sent", f.row(deviceIDs[0]).Str("state"))
	f.EqualValues(2, f.row(deviceIDs[0]).Int("attempts"))
	f.now = f.now.Add(time.Hour)
	f.False(isOverdue(), "it is done")
}

// The schedule comes first: a crash between the two leaves a row that is named again.
func TestDeliverer_movesAnOverdueAttemptBehindItsSchedule(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.register(user, deviceIDs[0], "https://push.example.com/1")
	f.answers(503)
	f.NoError(f.deliverer.Handle(t.Context(), f.due(nil)))
	f.now = f.now.Add(11 * time.Minute)
	before := f.row(deviceIDs[0])
	failing := *f.deliverer
	failing.Scheduler = schedulememory.New(func(string, string, bool) error { return errors.New("unavailable") })
	f.Error(failing.Resume(t.Context(), before))
	f.Equal(before, f.row(deviceIDs[0]))

	moved := before.Clone()
	moved["attempts"], moved["nextAt"] = item.Int(5), item.String(item.FormatInstant(f.now.Add(time.Hour)))
	f.NoError(f.store.Put(t.Context(), table.Put{Item: moved}))
	f.NoError(f.deliverer.Resume(t.Context(), before))
	f.Equal(moved, f.row(deviceIDs[0]), "another worker has moved it")

	damaged := device.PushKey(user, "d", deviceIDs[0]).Item()
	_, err := f.deliverer.IsOverdue(damaged)
	f.Error(err)
	f.Error(f.deliverer.Resume(t.Context(), damaged))
}
