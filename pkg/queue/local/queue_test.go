package local_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/queue"
	"nexus/pkg/queue/local"
	"nexus/pkg/queue/queuetest"
)

var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// fixture is a queue with the worker of the present test.
type fixture struct {
	*local.Queue
	worker func(queue.Message) error
	now    time.Time
}

func setup(t *testing.T, dir string) *fixture {
	t.Helper()
	f := &fixture{now: noon, worker: func(queue.Message) error { return nil }}
	q, err := local.New(local.Config{Dir: dir, Worker: func(_ context.Context, m queue.Message) error {
		return f.worker(m)
	}})
	require.NoError(t, err)
	f.Queue = q
	return f
}

// work gives all messages to the worker, and lets the pauses pass.
func (f *fixture) work(t *testing.T) {
	t.Helper()
	for at, any := f.Next(); any; at, any = f.Next() {
		if at.After(f.now) {
			f.now = at
		}
		worked, _ := f.Work(t.Context(), f.now)
		require.True(t, worked)
	}
}

func (f *fixture) left() (waiting, dead []queue.Message) {
	for _, e := range f.All() {
		if e.Dead {
			dead = append(dead, e.Message)
		} else {
			waiting = append(waiting, e.Message)
		}
	}
	return waiting, dead
}

func one(id string) queue.Message {
	return queue.Message{Group: "g", ID: id, Body: []byte(`{"id":"` + id + `"}`)}
}

func TestQueue_conforms(t *testing.T) {
	t.Parallel()
	for kind, dir := range map[string]func(*testing.T) string{
		"memory": func(*testing.T) string { return "" },
		"disk":   func(t *testing.T) string { return filepath.Join(t.TempDir(), "queue") },
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			queuetest.Run(t, func(t *testing.T) queuetest.Subject {
				f := setup(t, dir(t))
				return queuetest.Subject{Queue: f, Work: func(t *testing.T, worker func(queue.Message) error) []queue.Message {
					f.worker = worker
					f.work(t)
					_, dead := f.left()
					return dead
				}}
			})
		})
	}
}

func TestQueue_keepsItsMessagesOverARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := setup(t, dir)
	f.worker = func(m queue.Message) error {
		if m.ID == "dead" {
			return queue.ErrUnavailable
		}
		return nil
	}
	for _, id := range []string{"done", "dead"} {
		require.NoError(t, f.Put(t.Context(), one(id)))
	}
	f.work(t)
	for i := range 12 {
		require.NoError(t, f.Put(t.Context(), one(fmt.Sprint("waits-", i))))
	}
	waiting, dead := f.left()
	require.Len(t, waiting, 12)
	require.Equal(t, []queue.Message{one("dead")}, dead)

	again := setup(t, dir)
	stillWaiting, stillDead := again.left()
	require.Equal(t, waiting, stillWaiting)
	require.Equal(t, dead, stillDead)
	n, err := again.Redrive()
	require.NoError(t, err)
	require.Equal(t, 1, n)

	third := setup(t, dir)
	waiting, dead = third.left()
	require.Equal(t, one("dead"), waiting[12], "after all that waited")
	require.Empty(t, dead)
	third.work(t)
	fourth := setup(t, dir)
	require.Empty(t, fourth.All())
}

func TestQueue_waitsLongerAfterEachFailure(t *testing.T) {
	t.Parallel()
	f := setup(t, "")
	f.worker = func(queue.Message) error { return errors.New("boom") }
	require.NoError(t, f.Put(t.Context(), one("a")))
	for _, pause := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second} {
		worked, err := f.Work(t.Context(), f.now)
		require.True(t, worked)
		require.ErrorContains(t, err, "boom")
		at, any := f.Next()
		require.True(t, any)
		require.Equal(t, f.now.Add(pause), at)
		worked, err = f.Work(t.Context(), at.Add(-time.Millisecond))
		require.NoError(t, err)
		require.False(t, worked)
		f.now = at
	}
	_, err := f.Work(t.Context(), f.now)
	require.Error(t, err)
	_, any := f.Next()
	require.False(t, any)
	all := f.All()
	require.Len(t, all, 1)
	require.True(t, all[0].Dead)
	require.Equal(t, "boom", all[0].LastError)
}

func TestQueue_worksOnOneMessageOfAGroupAtATime(t *testing.T) {
	t.Parallel()
	f := setup(t, "")
	begun, goOn := make(chan string, 2), make(chan struct{})
	f.worker = func(m queue.Message) error {
		begun <- m.ID
		<-goOn
		return nil
	}
	require.NoError(t, f.Put(t.Context(), one("a")))
	require.NoError(t, f.Put(t.Context(), one("b")))
	ended := f.Ended()
	done := make(chan error)
	go func() {
		_, err := f.Work(context.Background(), noon)
		done <- err
	}()
	require.Equal(t, "a", <-begun)
	worked, err := f.Work(t.Context(), noon)
	require.NoError(t, err)
	require.False(t, worked)
	_, any := f.Next()
	require.False(t, any)
	close(goOn)
	<-ended
	require.NoError(t, <-done)
	worked, err = f.Work(t.Context(), noon)
	require.NoError(t, err)
	require.True(t, worked)
	require.Equal(t, "b", <-begun)
}

func TestNew_removesWhatACrashLeftAndNamesADamagedFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := setup(t, dir)
	require.NoError(t, f.Put(t.Context(), one("a")))
	half := filepath.Join(dir, "00000000000000000002.json.new-1")
	require.NoError(t, os.WriteFile(half, []byte(`{"gro`), 0o600))
	again := setup(t, dir)
	require.Len(t, again.All(), 1)
	require.NoFileExists(t, half)

	// A redrive that a crash ended before the dead letter was removed.
	text, err := os.ReadFile(filepath.Join(dir, "00000000000000000001.json"))
	require.NoError(t, err)
	require.NoError(t, os.Rename(filepath.Join(dir, "00000000000000000001.json"),
		filepath.Join(dir, "00000000000000000001.dead.json")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "00000000000000000002.json"), text, 0o600))
	waiting, dead := setup(t, dir).left()
	require.Len(t, waiting, 1)
	require.Empty(t, dead)

	for name, content := range map[string]string{"00000000000000000009.json": "{", "other.json": "{}", "note.txt": ""} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		_, err := local.New(local.Config{Dir: dir, Worker: func(context.Context, queue.Message) error { return nil }})
		var damaged *local.DamagedError
		require.ErrorAs(t, err, &damaged, name)
		require.Equal(t, path, damaged.File)
		require.NoError(t, os.Remove(path))
	}
	_, err = local.New(local.Config{})
	require.ErrorContains(t, err, "Worker")
}

// childDir asks a copy of the test binary to put messages there until it is killed.
const childDir = "NEXUS_QUEUE_TEST_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		putUntilKilled(dir)
	}
	os.Exit(m.Run())
}

// putUntilKilled prints each id when Put has returned. The bound ends a child that is never killed.
func putUntilKilled(dir string) {
	q, err := local.New(local.Config{Dir: dir, Worker: func(context.Context, queue.Message) error { return nil }})
	for i := 0; err == nil && i < 1_000_000; i++ {
		id := fmt.Sprint("m", i)
		if err = q.Put(context.Background(), one(id)); err == nil {
			fmt.Println(id)
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func TestQueue_survivesAKill(t *testing.T) {
	t.Parallel()
	const enough = 30
	dir := t.TempDir()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), childDir+"="+dir)
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	var acknowledged []string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if acknowledged = append(acknowledged, lines.Text()); len(acknowledged) == enough {
			require.NoError(t, child.Process.Kill())
		}
	}
	_ = child.Wait() // killed
	waiting, dead := setup(t, dir).left()
	require.Empty(t, dead)
	require.GreaterOrEqual(t, len(waiting), len(acknowledged))
	require.LessOrEqual(t, len(waiting), len(acknowledged)+1, "at most one put was under way")
	for i, id := range acknowledged {
		require.Equal(t, one(id), waiting[i])
	}
}
