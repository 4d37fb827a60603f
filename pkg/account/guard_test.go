package account_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/account"
	"nexus/pkg/bus"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/schedule"
	"nexus/pkg/table"
)

// A process in a shell that stood still since it read cannot write for an account that is gone, and for others it can.
func TestGuard_refusesEachWriteForAnAccountThatIsGone(t *testing.T) {
	t.Parallel()
	w := setup(t)
	guard := account.NewGuard(w.fence(0))
	store, scheduler, objects := guard.Store(w.store), guard.Scheduler(w.calls), guard.Objects(w.archive)
	snapshots := guard.Objects(w.snapshots)
	published := guard.Bus(w.bus)
	writes := func(user string) []error {
		row := entity.GoneKey(user, "note_1").Item()
		_, updated := store.Update(t.Context(), table.Update{Key: row.Key(), Set: item.Item{"a": item.Int(1)}})
		return []error{
			store.Put(t.Context(), table.Put{Item: row}), updated,
			store.Transact(t.Context(), table.Put{Item: row}), store.Load(t.Context(), []item.Item{row}),
			scheduler.Put(t.Context(), schedule.Schedule{
				Name: "reminder-" + part(user) + "-x", At: noon.Add(time.Hour), Payload: []byte(`{"userId":"` + user + `"}`),
			}),
			published.Publish(t.Context(), bus.Event{
				Type: "ReminderDue", Detail: []byte(`{"userId":"` + user + `"}`), Time: noon,
			}),
			objects.Put(t.Context(), "archive/"+user+"/note_1/1.json", []byte("{}")),
			snapshots.Put(t.Context(), "snap/"+user+"/search/1-2", []byte("words of "+marker(user))),
		}
	}
	for _, err := range append(writes("ann"), writes("ben")...) {
		require.NoError(t, err)
	}
	require.NoError(t, w.service().LeaveNow(t.Context(), "ann"))
	w.erased("ann")
	for i, err := range writes("ann") {
		require.ErrorIs(t, err, account.ErrErased, i)
	}
	require.Empty(t, w.dataOf("ann"))
	for _, err := range writes("ben") {
		require.NoError(t, err)
	}
}
