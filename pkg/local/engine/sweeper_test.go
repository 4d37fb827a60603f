package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/local/engine"
	"nexus/pkg/product"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

var sweepTime = time.Date(2030, 5, 1, 12, 0, 0, 0, time.UTC)

// sweep is a store with expired rows and a sweeper on it.
type sweep struct {
	t       *testing.T
	dir     string
	store   *memory.Store
	sweeper *engine.Sweeper
	// onDelete is asked before and after each delete.
	onDelete atomic.Pointer[func(memory.Call) error]
	// former are rows as they were, which the search still returns.
	former []item.Item
}

func setupSweep(t *testing.T) *sweep {
	t.Helper()
	s := &sweep{t: t, dir: t.TempDir()}
	s.store = memory.New(func() time.Time { return sweepTime }, memory.Options{Fault: func(call memory.Call) error {
		if hook := s.onDelete.Load(); hook != nil && call.Op == "Delete" {
			return (*hook)(call)
		}
		return nil
	}})
	s.open()
	t.Cleanup(func() { require.NoError(t, s.sweeper.Close()) })
	return s
}

func (s *sweep) open() {
	s.t.Helper()
	sweeper, err := engine.NewSweeper(s.dir, s.store, s.expired)
	require.NoError(s.t, err)
	s.sweeper = sweeper
}

// crash leaves the sweeper as a killed process would and opens another on what it wrote.
func (s *sweep) crash() {
	s.t.Helper()
	require.NoError(s.t, s.sweeper.Close())
	s.open()
}

// expired returns every row: the sweeper has to see for itself which have expired.
func (s *sweep) expired(ctx context.Context, _ time.Time) ([]item.Item, error) {
	page, err := s.store.Query(ctx, table.Query{Partition: entity.UserPK("u1")})
	return append(page.Items, s.former...), err
}

func (s *sweep) faultOnDelete(hook func(memory.Call) error) { s.onDelete.Store(&hook) }

func (s *sweep) put(id string, version int64, ttl time.Time) engine.Removal {
	s.t.Helper()
	it := entity.ItemKey("u1", entity.Ref{Type: product.TypeTask, ID: id}).Item()
	it[entity.AttrVersion] = item.Int(version)
	if !ttl.IsZero() {
		it[entity.AttrTTL] = item.Int(ttl.Unix())
	}
	require.NoError(s.t, s.store.Put(s.t.Context(), table.Put{Item: it}))
	return engine.Removal{Key: it.Key(), TTL: item.Int(ttl.Unix()), Version: item.Int(version)}
}

// userDeletes deletes a row as a command does.
func (s *sweep) userDeletes(id string) error {
	return s.store.Transact(s.t.Context(),
		table.Delete{Key: entity.ItemKey("u1", entity.Ref{Type: product.TypeTask, ID: id})},
		table.Put{Item: entity.GoneKey("u1", id).Item()})
}

func (s *sweep) run() int {
	s.t.Helper()
	count, err := s.sweeper.Sweep(s.t.Context(), sweepTime)
	require.NoError(s.t, err)
	return count
}

func (s *sweep) isSwept(r engine.Removal) bool {
	s.t.Helper()
	swept, err := s.sweeper.Swept(s.t.Context(), r)
	require.NoError(s.t, err)
	return swept
}

func (s *sweep) exists(key item.Key) bool {
	s.t.Helper()
	row, err := table.Find(s.t.Context(), s.store, key)
	require.NoError(s.t, err)
	return row != nil
}

func TestSweep_removesExpiredRowsEarliestFirst(t *testing.T) {
	t.Parallel()
	s := setupSweep(t)
	late := s.put("task_a", 2, sweepTime)
	early := s.put("task_b", 3, sweepTime.Add(-time.Hour))
	future := s.put("task_c", 1, sweepTime.Add(time.Second))
	forever := s.put("task_d", 1, time.Time{})
	var order []item.Key
	s.faultOnDelete(func(call memory.Call) error {
		if call.Stage == memory.Before {
			order = append(order, call.Keys...)
		}
		return nil
	})

	require.Equal(t, 2, s.run())
	require.Equal(t, []item.Key{early.Key, late.Key}, order)
	require.True(t, s.isSwept(early))
	require.True(t, s.isSwept(late))
	require.True(t, s.exists(future.Key))
	require.True(t, s.exists(forever.Key))
	require.Zero(t, s.run(), "a second sweep has nothing to do")
}

func TestSweep_leavesARowThatChangedBeforeItsDelete(t *testing.T) {
	t.Parallel()
	s := setupSweep(t)
	seen := s.put("task_a", 2, sweepTime)
	s.faultOnDelete(func(call memory.Call) error {
		if call.Stage == memory.Before {
			s.put("task_a", 3, time.Time{})
		}
		return nil
	})

	require.Zero(t, s.run())
	require.True(t, s.exists(seen.Key))
	require.False(t, s.isSwept(seen))
}

// A sweep that fails in its middle leaves all rows to the next one, also those that it removed.
func TestSwept_staysForAnItemThatCameBack(t *testing.T) {
	t.Parallel()
	for name, then := range map[string]func(s *sweep){
		"restored": func(*sweep) {},
		"restored and deleted": func(s *sweep) {
			require.NoError(t, s.userDeletes("task_1"))
		},
	} {
		s := setupSweep(t)
		removal := s.put("task_1", 1, sweepTime)
		s.former, _ = s.expired(t.Context(), sweepTime)
		require.Equal(t, 1, s.run(), name)
		s.put("task_1", 3, time.Time{})
		then(s)
		require.Equal(t, 0, s.run(), name)
		require.True(t, s.isSwept(removal), name)
	}
}

func TestSwept_excludesAUsersDelete(t *testing.T) {
	t.Parallel()
	cases := map[string]func(s *sweep, call memory.Call) error{
		"before the sweep's delete": func(s *sweep, call memory.Call) error {
			if call.Stage == memory.Before {
				return s.userDeletes("task_a")
			}
			return nil
		},
		"before an attempt whose answer is lost": func(s *sweep, call memory.Call) error {
			if call.Stage == memory.Before {
				if err := s.userDeletes("task_a"); err != nil {
					return err
				}
				s.faultOnDelete(func(memory.Call) error { return nil })
				return table.ErrUnavailable
			}
			return nil
		},
	}
	for name, hook := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := setupSweep(t)
			seen := s.put("task_a", 2, sweepTime)
			s.faultOnDelete(func(call memory.Call) error { return hook(s, call) })

			if _, err := s.sweeper.Sweep(t.Context(), sweepTime); err != nil {
				require.ErrorIs(t, err, table.ErrUnavailable)
				s.crash()
				require.Zero(t, s.run())
			}
			require.False(t, s.exists(seen.Key))
			require.False(t, s.isSwept(seen))
		})
	}
}

func TestSweep_countsOnceIfItsAnswerIsLost(t *testing.T) {
	t.Parallel()
	for name, crash := range map[string]bool{"by the same process": false, "after a crash": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := setupSweep(t)
			seen := s.put("task_a", 2, sweepTime)
			s.faultOnDelete(func(call memory.Call) error {
				if call.Stage == memory.After {
					s.faultOnDelete(func(memory.Call) error { return nil })
					return table.ErrUnavailable
				}
				return nil
			})
			_, err := s.sweeper.Sweep(t.Context(), sweepTime)
			require.ErrorIs(t, err, table.ErrUnavailable)
			require.False(t, s.exists(seen.Key))

			waiting, cancel := context.WithCancel(t.Context())
			cancel()
			_, err = s.sweeper.Swept(waiting, seen)
			require.ErrorIs(t, err, context.Canceled, "an open intent must be waited for")

			if crash {
				s.crash()
			}
			answer := make(chan bool, 1)
			go func() {
				swept, err := s.sweeper.Swept(t.Context(), seen)
				answer <- err == nil && swept
			}()
			require.Equal(t, 1, s.run())
			require.True(t, <-answer)
		})
	}
}

func TestOpenJournal_survivesALineThatWasCutOff(t *testing.T) {
	t.Parallel()
	s := setupSweep(t)
	first := s.put("task_a", 2, sweepTime)
	require.Equal(t, 1, s.run())
	file := filepath.Join(s.dir, "sweeps.ndjson")
	whole, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, append(whole, []byte(`{"fate":"inten`)...), 0o600))

	s.crash()
	second := s.put("task_b", 1, sweepTime)
	require.Equal(t, 1, s.run())
	s.crash()
	require.True(t, s.isSwept(first))
	require.True(t, s.isSwept(second))
}

func TestOpenJournal_refusesADamagedJournal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "sweeps.ndjson"), []byte("nonsense\n"), 0o600))
	_, err := engine.NewSweeper(dir, nil, nil)
	require.ErrorContains(t, err, "line 1")
}

func TestSweeper_forgetsRows(t *testing.T) {
	t.Parallel()
	s := setupSweep(t)
	gone, kept := s.put("task_gone", 2, sweepTime), s.put("task_kept", 3, sweepTime)
	require.Equal(t, 2, s.run())
	isGone := func(key item.Key) bool { return key == gone.Key }
	for _, want := range []int{1, 0} {
		forgotten, err := s.sweeper.Forget(isGone)
		require.NoError(t, err)
		require.Equal(t, want, forgotten)
	}
	later := s.put("task_later", 1, sweepTime)
	require.Equal(t, 1, s.run(), "the journal goes on")
	for range 2 {
		require.False(t, s.isSwept(gone))
		require.True(t, s.isSwept(kept))
		require.True(t, s.isSwept(later))
		s.crash()
	}
	content, err := os.ReadFile(filepath.Join(s.dir, "sweeps.ndjson"))
	require.NoError(t, err)
	require.NotContains(t, string(content), "task_gone")
	require.Contains(t, string(content), "task_kept")
}
