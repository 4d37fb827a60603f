package system_test

import (
	"context"
	"crypto/rand"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"nexus/pkg/account"
	"nexus/pkg/blob"
	blobmemory "nexus/pkg/blob/memory"
	busmemory "nexus/pkg/bus/memory"
	"nexus/pkg/change"
	"nexus/pkg/changes"
	"nexus/pkg/command"
	"nexus/pkg/pepper"
	"nexus/pkg/product"
	"nexus/pkg/query"
	schedulememory "nexus/pkg/schedule/memory"
	"nexus/pkg/system"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
	"nexus/pkg/text"
	"nexus/pkg/text/words"
)

// A search that stands still while its account is erased keeps no snapshot, and one of before is erased.
func TestSystem_keepsNoSnapshotOfAnAccountThatIsErased(t *testing.T) {
	t.Parallel()
	var moved atomic.Int64 // while a search runs beside
	now := func() time.Time { return clock().Add(time.Duration(moved.Load())) }
	store := memory.New(now, memory.Options{})
	own, err := pepper.New(rand.Reader)
	require.NoError(t, err)
	snapshots, schedules := blobmemory.New(nil), schedulememory.New(nil)
	var between func()
	var failures []error
	assemble := func() *system.System {
		s, err := system.New(product.Registry(), system.Ports{
			Store: func(string) table.Store { return store }, Now: now, NewID: uuid.NewString,
			Pause: noWait, Random: rand.Reader, Scheduler: schedules, Lister: schedules, Bus: busmemory.New(nil),
			Pepper: own, Memory: account.Memory, Snapshots: snapshots,
			Split: func(s string) []text.Word {
				if do := between; do != nil {
					between = nil
					do()
				}
				return words.Split(s)
			},
			SearchFailed: func(err error) { failures = append(failures, err) },
			Erasing: &system.Erasing{
				Archive: blobmemory.New(nil), Parking: blobmemory.New(nil), Snapshots: snapshots, Bus: busmemory.New(nil),
				Wait: func(_ context.Context, d time.Duration) error {
					moved.Add(int64(d))
					return nil
				},
				Patience: account.Patience, EdgeTime: account.EdgeTime, Rate: account.Rate,
			},
		})
		require.NoError(t, err)
		return s
	}
	s := assemble()
	require.NoError(t, store.Put(t.Context(), table.Put{Item: account.FormRow()}))
	for _, user := range []string{"ann", "anna"} {
		made, err := s.Commands.Do(t.Context(), command.Request{User: user, Command: command.Create{
			Type: product.Task(), Fields: map[string]any{"title": "secret"},
		}})
		require.NoError(t, err)
		for _, c := range s.Consumers {
			if c.Name() != changes.Name {
				continue
			}
			require.NoError(t, c.Apply(t.Context(), []change.Change{{
				Kind: change.Inserted, Type: product.Task(), User: user, Ref: made.Ref, Key: made.Item.Key(), New: made.Item,
				Version: 1, Created: now(),
			}})[0].Err)
		}
		page, err := s.Queries.Search(t.Context(), user, query.SearchQuery{Text: "secret"})
		require.NoError(t, err)
		require.Len(t, page.Hits, 1)
	}
	require.Len(t, namesIn(t, snapshots), 2)
	require.NoError(t, snapshots.Delete(t.Context(), namesIn(t, snapshots)[0])) // so that the next search makes one
	slow := assemble()
	between = func() {
		require.NoError(t, s.Accounts.LeaveNow(t.Context(), "ann"))
		_, err := s.Eraser.Erase(t.Context(), "ann")
		require.NoError(t, err)
	}
	_, err = slow.Queries.Search(t.Context(), "ann", query.SearchQuery{}) // it meets words in the items alone
	require.NoError(t, err)
	require.Nil(t, between)
	require.Len(t, failures, 1)
	require.ErrorIs(t, failures[0], account.ErrErased)
	names := namesIn(t, snapshots)
	require.Len(t, names, 1)
	require.Contains(t, names[0], "snap/anna/")
}

func namesIn(t *testing.T, objects blob.Store) []string {
	t.Helper()
	names, err := objects.List(t.Context(), "", blob.MaxList, "")
	require.NoError(t, err)
	return names
}
