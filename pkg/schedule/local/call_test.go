package local_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/schedule"
	"nexus/pkg/schedule/local"
)

var errRefused = errors.New("refused")

// with is a schedule whose payload distinguishes it from others of its name.
func with(name string, at time.Time, payload string) schedule.Schedule {
	return schedule.Schedule{Name: name, At: at, Payload: []byte(fmt.Sprintf("%q", payload))}
}

func (b *fixture) payloads() []string {
	var payloads []string
	for _, s := range b.called {
		payloads = append(payloads, string(s.Payload))
	}
	return payloads
}

// fails fires and wants exactly the refused calls to fail.
func (b *fixture) fails(t *testing.T, now time.Time, fired int) {
	t.Helper()
	got, err := b.Fire(t.Context(), now)
	require.ErrorIs(t, err, errRefused)
	require.Equal(t, fired, got)
}

// nothingLeft wants no call to be made any more, in this process or after a restart.
func (b *fixture) nothingLeft(t *testing.T, dir string) {
	t.Helper()
	_, any := b.Next()
	require.False(t, any)
	if dir != "" {
		again := setup(t, dir, nil)
		require.Equal(t, b.All(), again.All())
		_, any = again.Next()
		require.False(t, any)
	}
}

// everywhere runs the test on a scheduler in memory, on one on disk, and on one on disk that is opened again whenever
// the test asks for that.
func everywhere(t *testing.T, test func(t *testing.T, dir string, reopen func(*fixture) *fixture)) {
	same := func(b *fixture) *fixture { return b }
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		test(t, "", same)
	})
	t.Run("disk", func(t *testing.T) {
		t.Parallel()
		test(t, t.TempDir(), same)
	})
	t.Run("restart", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		test(t, dir, func(b *fixture) *fixture {
			again := setup(t, dir, nil)
			again.called, again.then = b.called, b.then
			return again
		})
	})
}

func TestFire_completesACallWhoseScheduleIsDeleted(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, dir string, reopen func(*fixture) *fixture) {
		b := setup(t, dir, nil)
		b.then = func(ctx context.Context, s schedule.Schedule) error {
			return errors.Join(b.Delete(ctx, s.Name), errRefused)
		}
		b.put(t, with("a", noon, "first"))
		b.fails(t, noon, 0)
		b = reopen(b)
		b.fails(t, noon, 0)
		b = reopen(b)
		listed := b.All()
		require.Len(t, listed, 1)
		require.Equal(t, local.Called, listed[0].State)
		require.True(t, listed[0].Former)
		next, any := b.Next()
		require.True(t, any)
		require.Equal(t, noon, next)
		require.Equal(t, []schedule.Schedule{with("a", noon, "first")}, b.Due(noon))

		b.then = func(context.Context, schedule.Schedule) error { return nil }
		require.Equal(t, 1, b.fire(t, noon))
		require.Equal(t, []string{`"first"`, `"first"`, `"first"`}, b.payloads())
		require.Empty(t, b.All(), "the schedule stays deleted")
		b.nothingLeft(t, dir)
	})
}

func TestFire_completesACallWhoseScheduleIsReplaced(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, dir string, reopen func(*fixture) *fixture) {
		b := setup(t, dir, nil)
		b.then = func(ctx context.Context, s schedule.Schedule) error {
			return errors.Join(b.Put(ctx, with("a", noon.Add(time.Hour), "second")), errRefused)
		}
		b.put(t, with("a", noon, "first"))
		b.fails(t, noon, 0)
		b = reopen(b)
		b.then = func(context.Context, schedule.Schedule) error { return errRefused }
		b.fails(t, noon.Add(time.Minute), 0)
		require.Equal(t, []string{`"first"`, `"first"`}, b.payloads(), "the second is not due yet")
		listed := b.All()
		require.Len(t, listed, 2)
		require.Equal(t, []local.State{local.Called, local.Pending}, []local.State{listed[0].State, listed[1].State})
		require.Equal(t, []bool{true, false}, []bool{listed[0].Former, listed[1].Former})
		require.Equal(t, "refused", listed[0].LastError)

		b = reopen(b)
		b.fails(t, noon.Add(time.Hour), 0)
		require.Equal(t, []string{`"first"`, `"second"`}, b.payloads()[2:], "the first holds up the second in order only")
		b = reopen(b)
		b.then = func(context.Context, schedule.Schedule) error { return nil }
		require.Equal(t, 2, b.fire(t, noon.Add(time.Hour)))
		require.Equal(t, []string{`"first"`, `"second"`}, b.payloads()[4:])
		require.Equal(t, map[string]local.State{"a": local.Completed}, b.states())
		require.Len(t, b.All(), 1)
		b.nothingLeft(t, dir)
	})
}

func TestFire_keepsACallWhenItsScheduleChangesBetweenTries(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, dir string, reopen func(*fixture) *fixture) {
		b := setup(t, dir, nil)
		b.then = func(context.Context, schedule.Schedule) error { return errRefused }
		b.put(t, with("a", noon, "1"), with("b", noon, "2"))
		b.fails(t, noon, 0)
		b = reopen(b)
		b.put(t, with("a", noon.Add(-time.Hour), "3"))
		require.NoError(t, b.Delete(t.Context(), "b"))
		b = reopen(b)
		b.called = nil
		b.fails(t, noon, 0)
		require.Equal(t, []string{`"3"`, `"1"`, `"2"`}, b.payloads())
		b = reopen(b)
		require.NoError(t, b.Delete(t.Context(), "a"))
		require.NoError(t, b.Delete(t.Context(), "a"))
		b = reopen(b)
		b.called, b.then = nil, func(context.Context, schedule.Schedule) error { return nil }
		require.Equal(t, 3, b.fire(t, noon))
		require.Equal(t, []string{`"3"`, `"1"`, `"2"`}, b.payloads())
		require.Empty(t, b.All())
		b.nothingLeft(t, dir)
	})
}

func TestFire_keepsTheOrderOfCallsOfOneNameAndInstant(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, dir string, reopen func(*fixture) *fixture) {
		b := setup(t, dir, nil)
		const calls = 12 // numbers of two digits, whose text would sort otherwise
		for i := range calls {
			b.then = func(context.Context, schedule.Schedule) error { return errRefused }
			b.put(t, with("a", noon, fmt.Sprint(i)))
			b.fails(t, noon, 0)
			if i%3 == 0 { // so that calls begin after a restart and are replaced before the next
				b = reopen(b)
			}
		}
		b.called, b.then = nil, func(context.Context, schedule.Schedule) error { return nil }
		require.Equal(t, calls, b.fire(t, noon))
		for i, payload := range b.payloads() {
			require.Equal(t, fmt.Sprintf("%q", fmt.Sprint(i)), payload)
		}
		require.Len(t, b.All(), 1)
		b.nothingLeft(t, dir)
	})
}

func TestPut_addsNoCallForAFailedScheduleAsItIs(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, dir string, reopen func(*fixture) *fixture) {
		b := setup(t, dir, nil)
		b.then = func(context.Context, schedule.Schedule) error { return errRefused }
		b.put(t, one("a", noon))
		b.fails(t, noon, 0)
		b = reopen(b)
		b.put(t, one("a", noon))
		require.Len(t, b.All(), 1)
		b.then = func(context.Context, schedule.Schedule) error { return nil }
		require.Equal(t, 1, b.fire(t, noon))
		require.Equal(t, []string{"a", "a"}, b.names())
		b.nothingLeft(t, dir)
	})
}

func TestFire_triesAFailedCallOnce(t *testing.T) {
	t.Parallel()
	b := setup(t, "", nil)
	b.then = func(ctx context.Context, s schedule.Schedule) error {
		if s.Name == "b" {
			return b.Put(ctx, with("a", noon, "again"))
		}
		return errRefused
	}
	b.put(t, with("a", noon, "first"), one("b", noon))
	b.fails(t, noon, 1)
	require.Equal(t, []string{`"first"`, `"b"`, `"again"`}, b.payloads())
	require.Len(t, b.Due(noon), 2)
}

func TestDue_includesACallThatHasBegunAtAnyTime(t *testing.T) {
	t.Parallel()
	b := setup(t, "", nil)
	b.then = func(context.Context, schedule.Schedule) error { return errRefused }
	b.put(t, one("a", noon))
	b.fails(t, noon, 0)
	require.Len(t, b.Due(noon.Add(-time.Hour)), 1)
	b.fails(t, noon.Add(-time.Hour), 0)
}

func TestFire_doesNotCallAScheduleReplacedBefore(t *testing.T) {
	t.Parallel()
	var b *fixture
	once := true
	b = setup(t, t.TempDir(), func(op, name string, after bool) error {
		if op == "begin" && !after && once {
			once = false
			return b.Put(context.Background(), with(name, noon, "second"))
		}
		return nil
	})
	b.put(t, with("a", noon, "first"))
	require.Equal(t, 1, b.fire(t, noon))
	require.Equal(t, []string{`"second"`}, b.payloads())
}

func TestFire_losesNoPutsAndDeletes(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, dir string, _ func(*fixture) *fixture) {
		const writers, puts = 4, 20
		var mu sync.Mutex
		succeeded := map[string]int{}
		var inside atomic.Int32
		tries := 0
		target := func(_ context.Context, s schedule.Schedule) error {
			if inside.Add(1) != 1 {
				t.Error("two calls at once")
			}
			defer inside.Add(-1)
			mu.Lock()
			defer mu.Unlock()
			if tries++; tries%3 == 0 {
				return errRefused
			}
			succeeded[string(s.Payload)]++
			return nil
		}
		s, err := local.New(local.Config{Dir: dir, Target: target})
		require.NoError(t, err)

		var group sync.WaitGroup
		errs := make([]error, writers)
		for w := range writers {
			group.Go(func() {
				for i := range puts {
					at := noon.Add(time.Duration(i) * time.Second)
					errs[w] = errors.Join(errs[w],
						s.Put(context.Background(), with(fmt.Sprintf("own-%d-%d", w, i), at, fmt.Sprintf("own-%d-%d", w, i))),
						s.Put(context.Background(), with("shared", at, fmt.Sprintf("shared-%d-%d", w, i))))
					if i%5 == 4 && i < puts-1 {
						errs[w] = errors.Join(errs[w], s.Delete(context.Background(), "shared"))
					}
				}
			})
		}
		written := make(chan struct{})
		go func() {
			group.Wait()
			close(written)
		}()
		var drivers sync.WaitGroup
		for range 2 {
			drivers.Go(func() {
				for quiet := false; ; {
					_, err := s.Fire(context.Background(), noon.Add(time.Hour))
					if err != nil && !errors.Is(err, errRefused) {
						t.Error(err)
						return
					}
					if _, any := s.Next(); quiet && !any {
						return
					}
					select {
					case <-written:
						quiet = true
					default:
					}
				}
			})
		}
		drivers.Wait()
		for _, err := range errs {
			require.NoError(t, err)
		}
		for payload, n := range succeeded {
			require.Equal(t, 1, n, payload)
		}
		for w := range writers {
			for i := range puts {
				require.Equal(t, 1, succeeded[fmt.Sprintf(`"own-%d-%d"`, w, i)])
			}
		}
		for _, e := range s.All() {
			require.Equal(t, local.Completed, e.State, e.Name)
			require.Equal(t, 1, succeeded[string(e.Payload)], "what stands last was called")
		}
		if dir != "" {
			require.Equal(t, s.All(), setup(t, dir, nil).All())
		}
	})
}
