package local_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/schedule"
	"nexus/pkg/schedule/local"
)

var errCrash = errors.New("crash")

// crashFixture holds what outlives a process: the directory, and the effects of the calls.
type crashFixture struct {
	dir     string
	begun   []string       // the payload of each call, in order
	done    map[string]int // calls that reached their end, by payload
	inCall  func(ctx context.Context, s *local.Scheduler, in schedule.Schedule) error
	crashAt int // the question to the fault hook with which the present process dies; negative for never
	asked   int
}

// process opens the directory as a new process. Once it has died, nothing it tries has an effect.
func (w *crashFixture) process(t *testing.T, crashAt int) *local.Scheduler {
	t.Helper()
	w.crashAt, w.asked = crashAt, 0
	var s *local.Scheduler
	s, err := local.New(local.Config{
		Dir: w.dir,
		Fault: func(string, string, bool) error {
			w.asked++
			if w.dead() {
				return errCrash
			}
			return nil
		},
		Target: func(ctx context.Context, in schedule.Schedule) error {
			w.begun = append(w.begun, string(in.Payload))
			if err := w.inCall(ctx, s, in); err != nil {
				return err
			}
			if w.dead() {
				return errCrash
			}
			w.done[string(in.Payload)]++
			return nil
		},
	})
	require.NoError(t, err)
	return s
}

func (w *crashFixture) dead() bool { return w.crashAt >= 0 && w.asked > w.crashAt }

// inCalls are changes that a call may make to its own schedule, "first", before it ends.
var inCalls = map[string]func(ctx context.Context, s *local.Scheduler, in schedule.Schedule) error{
	"leaves its schedule": func(context.Context, *local.Scheduler, schedule.Schedule) error { return nil },
	"deletes its schedule": func(ctx context.Context, s *local.Scheduler, in schedule.Schedule) error {
		return s.Delete(ctx, in.Name)
	},
	"puts its next instant": func(ctx context.Context, s *local.Scheduler, in schedule.Schedule) error {
		if string(in.Payload) != `"first"` {
			return nil
		}
		return s.Put(ctx, with(in.Name, noon.Add(time.Hour), "next"))
	},
	"puts its next instant, then deletes it": func(ctx context.Context, s *local.Scheduler, in schedule.Schedule) error {
		if string(in.Payload) != `"first"` {
			return nil
		}
		return errors.Join(s.Put(ctx, with(in.Name, noon.Add(time.Hour), "next")), s.Delete(ctx, in.Name))
	},
}

// meanwhiles are changes that others may make to the schedule after a crash, before anything is called again.
var meanwhiles = map[string]func(t *testing.T, s *local.Scheduler){
	"nothing": func(*testing.T, *local.Scheduler) {},
	"delete":  func(t *testing.T, s *local.Scheduler) { require.NoError(t, s.Delete(t.Context(), "a")) },
	"replace": func(t *testing.T, s *local.Scheduler) {
		require.NoError(t, s.Put(t.Context(), with("a", noon.Add(2*time.Hour), "other")))
	},
}

// live puts the schedule, unless that is done, and lets all time pass; it reports whether the put is acknowledged.
func live(t *testing.T, s *local.Scheduler, put bool) bool {
	t.Helper()
	if !put {
		if err := s.Put(t.Context(), with("a", noon, "first")); err != nil {
			require.ErrorIs(t, err, errCrash)
			return false
		}
	}
	for _, now := range []time.Time{noon, noon.Add(time.Hour), noon.Add(2 * time.Hour)} {
		if _, err := s.Fire(t.Context(), now); err != nil {
			require.ErrorIs(t, err, errCrash)
		}
	}
	return true
}

func TestScheduler_endsABegunCallAfterACrashAnywhere(t *testing.T) {
	t.Parallel()
	for call, inCall := range inCalls {
		for between, meanwhile := range meanwhiles {
			t.Run(call+" and then "+between, func(t *testing.T) {
				t.Parallel()
				fresh := func() *crashFixture { return &crashFixture{dir: t.TempDir(), done: map[string]int{}, inCall: inCall} }
				whole := fresh()
				live(t, whole.process(t, -1), false)
				for payload, n := range whole.done {
					require.Equal(t, 1, n, payload)
				}
				require.Len(t, whole.begun, len(whole.done), "exactly once when nothing failed")
				require.Contains(t, whole.done, `"first"`)

				for crashAt := range whole.asked {
					w := fresh()
					put := live(t, w.process(t, crashAt), false)
					begun := slices.Clone(w.begun)
					again := w.process(t, -1)
					meanwhile(t, again)
					live(t, again, put)
					for _, payload := range begun {
						require.Positive(t, w.done[payload], "%s began before the crash at %d", payload, crashAt)
					}
					if put && between == "nothing" {
						for payload := range whole.done {
							require.Positive(t, w.done[payload], "%s with the crash at %d", payload, crashAt)
						}
					}
					for payload, n := range w.done {
						require.LessOrEqual(t, n, 2, "%s with one crash, at %d", payload, crashAt)
					}
					_, any := again.Next()
					require.False(t, any, "crash at %d", crashAt)
					final := again.All()
					require.Equal(t, final, w.process(t, -1).All())
					for _, e := range final {
						require.Equal(t, local.Completed, e.State)
					}
				}
			})
		}
	}
}

// files makes a directory of the files named, each with a schedule whose payload is the file's name.
func files(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		content := fmt.Sprintf(`{"name":"a","at":"2026-06-01T12:00:00Z","payload":%q}`, fmt.Sprintf("%q", name))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	return dir
}

func TestNew_repairsWhatACrashLeftBetweenTwoFiles(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		files  []string
		states []local.State
		calls  []string
		last   []string // what the directory holds when all calls succeeded
	}{
		"put over a call that has begun": {
			[]string{"61.called.json", "61.json"}, []local.State{local.Called, local.Pending},
			[]string{`"61.called.json"`, `"61.json"`}, []string{"61.completed.json"},
		},
		"put over a call that has begun, beside former ones": {
			[]string{"61.call.10.json", "61.call.9.json", "61.called.json", "61.json"},
			[]local.State{local.Called, local.Called, local.Called, local.Pending},
			[]string{`"61.call.9.json"`, `"61.call.10.json"`, `"61.called.json"`, `"61.json"`}, []string{"61.completed.json"},
		},
		"put over a completed schedule": {
			[]string{"61.completed.json", "61.json"}, []local.State{local.Pending},
			[]string{`"61.json"`}, []string{"61.completed.json"},
		},
		"a second completion": {
			[]string{"61.called.json", "61.completed.json"}, []local.State{local.Called},
			[]string{`"61.called.json"`}, []string{"61.completed.json"},
		},
		"everything at once": {
			[]string{"61.called.json", "61.completed.json", "61.json"}, []local.State{local.Called, local.Pending},
			[]string{`"61.called.json"`, `"61.json"`}, []string{"61.completed.json"},
		},
		"a call whose schedule was deleted": {
			[]string{"61.call.3.json"}, []local.State{local.Called}, []string{`"61.call.3.json"`}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := files(t, tt.files...)
			require.Equal(t, setup(t, dir, nil).All(), setup(t, dir, nil).All(), "mending is done once")
			b := setup(t, dir, nil)
			var states []local.State
			for _, e := range b.All() {
				states = append(states, e.State)
			}
			require.Equal(t, tt.states, states)
			b.fire(t, noon)
			require.Equal(t, tt.calls, b.payloads())
			require.Equal(t, tt.last, list(t, dir))
			b.nothingLeft(t, dir)
		})
	}
}

func list(t *testing.T, dir string) []string {
	t.Helper()
	found, err := os.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, file := range found {
		names = append(names, file.Name())
	}
	return names
}

func TestScheduler_repairsATransitionThatTheDiskRefused(t *testing.T) {
	t.Parallel()
	ok := func(context.Context, schedule.Schedule) error { return nil }
	refuse := func(context.Context, schedule.Schedule) error { return errRefused }
	for name, tt := range map[string]struct {
		blocked string // where no file can be put
		before  func(t *testing.T, b *fixture)
		refused func(t *testing.T, b *fixture) error
		calls   int // made while blocked
		final   []string
	}{
		"the mark that a call begins": {
			"61.called.json", func(*testing.T, *fixture) {},
			func(t *testing.T, b *fixture) error { _, err := b.Fire(t.Context(), noon); return err },
			0, []string{"61.completed.json"},
		},
		"the mark that a call succeeded": {
			"61.completed.json", func(*testing.T, *fixture) {},
			func(t *testing.T, b *fixture) error { _, err := b.Fire(t.Context(), noon); return err },
			1, []string{"61.completed.json"},
		},
		"a put beside a call": {
			"61.call.1.json", func(t *testing.T, b *fixture) { b.then = refuse; b.fails(t, noon, 0) },
			func(t *testing.T, b *fixture) error { return b.Put(t.Context(), with("a", noon, "second")) },
			1, []string{"61.completed.json"},
		},
		"a delete beside a call": {
			"61.call.1.json", func(t *testing.T, b *fixture) { b.then = refuse; b.fails(t, noon, 0) },
			func(t *testing.T, b *fixture) error { return b.Delete(t.Context(), "a") },
			1, []string{"61.completed.json"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			b := setup(t, dir, nil)
			b.put(t, with("a", noon, "first"))
			tt.before(t, b)
			b.then = ok
			blocked := filepath.Join(dir, tt.blocked)
			require.NoError(t, os.MkdirAll(filepath.Join(blocked, "in-the-way"), 0o700))
			require.ErrorIs(t, tt.refused(t, b), schedule.ErrUnavailable)
			require.Len(t, b.called, tt.calls)
			require.Len(t, b.Due(noon), 1)
			require.NoError(t, os.RemoveAll(blocked))

			require.Equal(t, 1, b.fire(t, noon))
			require.Equal(t, `"first"`, b.payloads()[tt.calls])
			require.Equal(t, tt.final, list(t, dir))
			b.nothingLeft(t, dir)
		})
	}
}
