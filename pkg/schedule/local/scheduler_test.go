package local_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/schedule"
	"nexus/pkg/schedule/local"
	"nexus/pkg/schedule/scheduletest"
)

var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

func one(name string, at time.Time) schedule.Schedule {
	return schedule.Schedule{Name: name, At: at, Payload: []byte(fmt.Sprintf("%q", name))}
}

// fixture is a scheduler with a target that notes its calls and then does what the test wants.
type fixture struct {
	*local.Scheduler
	called []schedule.Schedule
	then   func(ctx context.Context, s schedule.Schedule) error
}

func setup(t *testing.T, dir string, fault local.Fault) *fixture {
	t.Helper()
	b := &fixture{then: func(context.Context, schedule.Schedule) error { return nil }}
	s, err := local.New(local.Config{Dir: dir, Fault: fault, Target: func(ctx context.Context, s schedule.Schedule) error {
		b.called = append(b.called, s)
		return b.then(ctx, s)
	}})
	require.NoError(t, err)
	b.Scheduler = s
	return b
}

func (b *fixture) put(t *testing.T, in ...schedule.Schedule) {
	t.Helper()
	for _, s := range in {
		require.NoError(t, b.Put(t.Context(), s))
	}
}

func (b *fixture) fire(t *testing.T, now time.Time) int {
	t.Helper()
	fired, err := b.Fire(t.Context(), now)
	require.NoError(t, err)
	return fired
}

func (b *fixture) names() []string {
	var names []string
	for _, s := range b.called {
		names = append(names, s.Name)
	}
	return names
}

func (b *fixture) states() map[string]local.State {
	states := map[string]local.State{}
	for _, e := range b.All() {
		states[e.Name] = e.State
	}
	return states
}

func TestScheduler_conforms(t *testing.T) {
	t.Parallel()
	for kind, dir := range map[string]func(*testing.T) string{
		"memory": func(*testing.T) string { return "" },
		"disk":   func(t *testing.T) string { return filepath.Join(t.TempDir(), "schedules") },
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			scheduletest.Run(t, func(t *testing.T) scheduletest.Subject {
				b := setup(t, dir(t), nil)
				return scheduletest.Subject{
					Scheduler: b,
					Pending: func(*testing.T) []schedule.Schedule {
						return b.Due(time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC))
					},
					Fire: func(t *testing.T, now time.Time) []schedule.Schedule {
						b.called = nil
						b.fire(t, now)
						return b.called
					},
				}
			})
		})
	}
}

func TestFire_callsInTheOrderOfInstantsThenNames(t *testing.T) {
	t.Parallel()
	b := setup(t, "", nil)
	b.put(t, one("c", noon.Add(time.Second)), one("b", noon), one("a", noon.Add(2*time.Second)), one("a0", noon))
	next, ok := b.Next()
	require.True(t, ok)
	require.Equal(t, noon, next)
	require.Len(t, b.Due(noon), 2)
	require.Equal(t, 4, b.fire(t, noon.Add(time.Minute)))
	require.Equal(t, []string{"a0", "b", "c", "a"}, b.names())
	_, ok = b.Next()
	require.False(t, ok)
}

func TestFire_callsInItsPlaceWhatACallPutsIntoThePast(t *testing.T) {
	t.Parallel()
	b := setup(t, "", nil)
	b.then = func(ctx context.Context, s schedule.Schedule) error {
		if s.Name == "daily" && s.At.Before(noon.Add(72*time.Hour)) {
			return b.Put(ctx, one("daily", s.At.Add(24*time.Hour)))
		}
		return nil
	}
	b.put(t, one("daily", noon), one("once", noon.Add(25*time.Hour)))
	require.Equal(t, 5, b.fire(t, noon.Add(100*time.Hour)))
	require.Equal(t, []string{"daily", "daily", "once", "daily", "daily"}, b.names())
	require.Equal(t, map[string]local.State{"daily": local.Completed, "once": local.Completed}, b.states())
}

func TestFire_boundsATargetThatKeepsPuttingIntoThePast(t *testing.T) {
	t.Parallel()
	b := setup(t, "", nil)
	b.then = func(ctx context.Context, s schedule.Schedule) error { return b.Put(ctx, s) }
	b.put(t, one("a", noon))
	require.Equal(t, 10_000, b.fire(t, noon))
	require.Equal(t, map[string]local.State{"a": local.Pending}, b.states())
}

func TestFire_repeatsAFailedCallAndDelaysNoOther(t *testing.T) {
	t.Parallel()
	b := setup(t, "", nil)
	refused := errors.New("refused")
	b.then = func(_ context.Context, s schedule.Schedule) error {
		if s.Name == "a" {
			return refused
		}
		return nil
	}
	b.put(t, one("a", noon), one("b", noon.Add(time.Second)))
	fired, err := b.Fire(t.Context(), noon.Add(time.Minute))
	require.ErrorIs(t, err, refused)
	require.ErrorContains(t, err, `call schedule "a" due 2026-06-01T12:00:00Z`)
	require.Equal(t, 1, fired)
	require.Equal(t, []string{"a", "b"}, b.names())
	_, err = b.Fire(t.Context(), noon.Add(time.Minute))
	require.ErrorIs(t, err, refused)
	listed := b.All()[0]
	require.Equal(t, local.Called, listed.State)
	require.False(t, listed.Former)
	require.Equal(t, 2, listed.Attempts)
	require.Equal(t, "refused", listed.LastError)
}

func TestCallError_countsManyFailuresWithoutListingThem(t *testing.T) {
	t.Parallel()
	b := setup(t, "", nil)
	b.then = func(context.Context, schedule.Schedule) error { return errors.New("refused") }
	for i := range 25 {
		b.put(t, one(fmt.Sprint(i), noon))
	}
	_, err := b.Fire(t.Context(), noon)
	require.ErrorContains(t, err, "15 more schedules failed")
}

func TestPut_isNotLostDuringTheCall(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]time.Time{"later": noon.Add(time.Hour), "at the same instant": noon} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, t.TempDir(), nil)
			again := true
			b.then = func(ctx context.Context, _ schedule.Schedule) error {
				if !again {
					return nil
				}
				again = false
				return b.Put(ctx, one("a", at))
			}
			b.put(t, one("a", noon))
			b.fire(t, noon)
			b.fire(t, noon.Add(time.Hour))
			require.Equal(t, []string{"a", "a"}, b.names())
			require.Equal(t, map[string]local.State{"a": local.Completed}, b.states())
		})
	}
}

func TestDelete_holdsDuringTheCall(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := setup(t, dir, nil)
	b.then = func(ctx context.Context, s schedule.Schedule) error { return b.Delete(ctx, s.Name) }
	b.put(t, one("a", noon))
	require.Equal(t, 1, b.fire(t, noon))
	require.Empty(t, b.All())
	require.Empty(t, setup(t, dir, nil).All())
}

func TestState_survivesARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := setup(t, dir, nil)
	b.put(t, one("a", noon), one("A", noon.Add(time.Hour)), one("b", noon), one("gone", noon))
	require.NoError(t, b.Delete(t.Context(), "gone"))
	b.fire(t, noon)

	again := setup(t, dir, nil)
	require.Equal(t, b.All(), again.All())
	require.Equal(t, map[string]local.State{"a": local.Completed, "A": local.Pending, "b": local.Completed},
		again.states())
	require.Zero(t, again.fire(t, noon))
	require.Equal(t, 1, again.fire(t, noon.Add(time.Hour)))

	again.put(t, one("a", noon))
	require.Equal(t, local.Pending, setup(t, dir, nil).states()["a"], "put again at the same instant")
}

func TestFire_callsAgainAfterACrashBeforeTheMark(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	crash := errors.New("crash")
	b := setup(t, dir, func(op, _ string, after bool) error {
		if op == "complete" && !after {
			return crash
		}
		return nil
	})
	b.put(t, one("a", noon))
	fired, err := b.Fire(t.Context(), noon)
	require.ErrorIs(t, err, crash)
	require.Zero(t, fired)

	again := setup(t, dir, nil)
	require.Equal(t, 1, again.fire(t, noon))
	require.Zero(t, setup(t, dir, nil).fire(t, noon))
}

func TestFault_beforeChangesNothingAndAfterLeavesTheEffect(t *testing.T) {
	t.Parallel()
	var fail func(op string, after bool) bool
	b := setup(t, "", func(op, name string, after bool) error {
		if name == "a" && fail(op, after) {
			return schedule.ErrThrottled
		}
		return nil
	})
	fail = func(op string, after bool) bool { return op == "put" && !after }
	require.ErrorIs(t, b.Put(t.Context(), one("a", noon)), schedule.ErrThrottled)
	require.Empty(t, b.All())
	fail = func(op string, after bool) bool { return op == "put" && after }
	require.ErrorIs(t, b.Put(t.Context(), one("a", noon)), schedule.ErrThrottled)
	require.Len(t, b.All(), 1)
	fail = func(op string, after bool) bool { return op == "delete" && !after }
	require.ErrorIs(t, b.Delete(t.Context(), "a"), schedule.ErrThrottled)
	require.Len(t, b.All(), 1)
	fail = func(op string, after bool) bool { return op == "delete" && after }
	require.ErrorIs(t, b.Delete(t.Context(), "a"), schedule.ErrThrottled)
	require.Empty(t, b.All())
}

func TestFire_stopsBetweenCallsWhenCancelled(t *testing.T) {
	t.Parallel()
	b := setup(t, "", nil)
	ctx, cancel := context.WithCancel(t.Context())
	b.then = func(context.Context, schedule.Schedule) error {
		cancel()
		return nil
	}
	b.put(t, one("a", noon), one("b", noon))
	fired, err := b.Fire(ctx, noon)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 1, fired, "the call that was made is marked")
	require.Equal(t, map[string]local.State{"a": local.Completed, "b": local.Pending}, b.states())
}

func TestNew_removesHalfWrittenFilesAndReportsBrokenOnes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "61.json.tmp"), []byte(`{"na`), 0o600))
	require.Empty(t, setup(t, dir, nil).All())
	require.NoFileExists(t, filepath.Join(dir, "61.json.tmp"))

	const good = `{"name":"a","at":"2026-06-01T12:00:00Z","payload":"1"}`
	for _, broken := range []struct{ file, content string }{
		{"61.json", `{"na`},
		{"61.json", `{"name":"b","at":"2026-06-01T12:00:00Z","payload":"1"}`},
		{"61.json", `{"name":"a","at":"2026-06-01T12:00:00Z","payload":"{"}`},
		{"61.odd.json", good},
		{"61.call.json", good},
		{"61.call.x.json", good},
		{"61.call.01.json", good},
	} {
		path := filepath.Join(dir, broken.file)
		require.NoError(t, os.WriteFile(path, []byte(broken.content), 0o600))
		_, err := local.New(local.Config{Dir: dir, Target: func(context.Context, schedule.Schedule) error { return nil }})
		require.ErrorContains(t, err, broken.file, broken.content)
		require.NoError(t, os.Remove(path))
	}
}

func TestNew_needsATarget(t *testing.T) {
	t.Parallel()
	_, err := local.New(local.Config{})
	require.ErrorContains(t, err, "Target is missing")
}

func TestPut_savesAnEarlierPutThatCouldNotBeSaved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := setup(t, dir, nil)
	b.put(t, one("a", noon))
	blocked := filepath.Join(dir, "61.json.tmp")
	require.NoError(t, os.MkdirAll(filepath.Join(blocked, "in-the-way"), 0o700))
	require.ErrorIs(t, b.Put(t.Context(), one("a", noon.Add(time.Hour))), schedule.ErrUnavailable)
	require.NoError(t, os.RemoveAll(blocked))
	require.NoError(t, os.Remove(filepath.Join(dir, "61.json")), "as if the failed write had got so far")
	b.put(t, one("a", noon))
	require.Equal(t, b.All(), setup(t, dir, nil).All())
}
