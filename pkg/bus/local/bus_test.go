package local_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/bus"
	"nexus/pkg/bus/bustest"
	"nexus/pkg/bus/local"
)

var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

func numbered(from, n int) []bus.Event {
	events := make([]bus.Event, n)
	for i := range events {
		events[i] = bus.Event{Type: fmt.Sprint("E", from+i), Detail: []byte(fmt.Sprintf(`{"n":%d}`, from+i)), Time: noon}
	}
	return events
}

func setup(t *testing.T, cfg local.Config) *local.Bus {
	t.Helper()
	b, err := local.New(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = b.Close() })
	return b
}

func all(t *testing.T, b *local.Bus) []bus.Event {
	t.Helper()
	events, err := b.All()
	require.NoError(t, err)
	return events
}

func TestBus_conforms(t *testing.T) {
	t.Parallel()
	for kind, dir := range map[string]func(*testing.T) string{
		"memory": func(*testing.T) string { return "" },
		"disk":   func(t *testing.T) string { return filepath.Join(t.TempDir(), "bus") },
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			bustest.Run(t, func(t *testing.T) bustest.Subject {
				b := setup(t, local.Config{Dir: dir(t)})
				return bustest.Subject{Bus: b, Received: func(t *testing.T) []bus.Event { return all(t, b) }}
			})
		})
	}
}

func TestBus_keepsEventsInOrderOverARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := setup(t, local.Config{Dir: dir})
	require.NoError(t, b.Publish(t.Context(), numbered(0, 3)...))
	require.NoError(t, b.Publish(t.Context(), numbered(3, 2)...))
	require.NoError(t, b.Close())

	again := setup(t, local.Config{Dir: dir})
	require.Equal(t, numbered(0, 5), all(t, again))
	require.Equal(t, numbered(3, 2), again.Tail(2))
	require.NoError(t, again.Publish(t.Context(), numbered(5, 1)...))
	require.Equal(t, numbered(0, 6), all(t, again))
}

func TestOpenLog_cutsOffAnUnfinishedAppend(t *testing.T) {
	t.Parallel()
	for name, rest := range map[string]string{
		"half a line":                  `{"source":"nexus","detail-ty`,
		"a line without its end":       `{"source":"nexus","detail-type":"E9","time":"2026-06-01T12:00:00Z","detail":{}}`,
		"zeros":                        "\x00\x00\x00",
		"a damaged line with its end":  "\x00\x00}\n",
		"more than the next append":    strings.Repeat("x", 1000) + "\n",
		"several lines that are wrong": "{\n}\n{}\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			b := setup(t, local.Config{Dir: dir})
			require.NoError(t, b.Publish(t.Context(), numbered(0, 2)...))
			require.NoError(t, b.Close())
			path := filepath.Join(dir, "events.ndjson")
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path, append(text, rest...), 0o600))

			again := setup(t, local.Config{Dir: dir})
			require.NoError(t, again.Publish(t.Context(), numbered(2, 1)...))
			require.Equal(t, numbered(0, 3), all(t, again))
			require.NoError(t, again.Close())
			require.Equal(t, numbered(0, 3), all(t, setup(t, local.Config{Dir: dir})))
		})
	}
}

func TestOpenLog_reportsDamageBetweenEvents(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := setup(t, local.Config{Dir: dir})
	require.NoError(t, b.Publish(t.Context(), numbered(0, 3)...))
	path := filepath.Join(dir, "events.ndjson")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(text), `"E1"`, `"E1`, 1)), 0o600))
	_, err = b.All()
	require.ErrorContains(t, err, "damaged")
	_, err = local.New(local.Config{Dir: dir})
	require.ErrorContains(t, err, "events.ndjson is damaged: line ")
}

func TestTail_isBoundedOnDiskAndAllIsNot(t *testing.T) {
	t.Parallel()
	const total = 2*local.TailSize + 10
	b := setup(t, local.Config{Dir: t.TempDir()})
	require.NoError(t, b.Publish(t.Context(), numbered(0, total)...))
	require.Equal(t, numbered(total-local.TailSize, local.TailSize), b.Tail(total))
	require.Equal(t, numbered(total-5, 5), b.Tail(5))
	require.Empty(t, b.Tail(0))
	require.Len(t, all(t, b), total)
	for _, c := range []struct{ before, n, first, count int }{
		{-1, 5, total - 5, 5}, {total + 7, 5, total - 5, 5}, {total, total, 0, total}, {total - 5, 10, total - 15, 10},
		{local.TailSize, local.TailSize, 0, local.TailSize}, {3, 10, 0, 3}, {0, 10, 0, 0}, {7, 0, 7, 0},
	} {
		events, first, err := b.Before(c.before, c.n)
		require.NoError(t, err)
		require.Equal(t, c.first, first, "%+v", c)
		require.Len(t, events, c.count, "%+v", c)
		if c.count > 0 {
			require.Equal(t, numbered(c.first, c.count), events, "%+v", c)
		}
	}

	memory := setup(t, local.Config{})
	require.NoError(t, memory.Publish(t.Context(), numbered(0, total)...))
	require.Equal(t, numbered(0, total), all(t, memory))
}

func TestClose_endsPublishing(t *testing.T) {
	t.Parallel()
	b := setup(t, local.Config{Dir: t.TempDir()})
	require.NoError(t, b.Close())
	require.ErrorIs(t, b.Publish(t.Context(), numbered(0, 1)...), bus.ErrUnavailable)
}

// childDir asks a copy of the test binary to publish there until it is killed.
const childDir = "NEXUS_BUS_TEST_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		publishUntilKilled(dir)
	}
	os.Exit(m.Run())
}

// publishUntilKilled prints a line when Publish has returned. The bound ends a child that is never killed.
func publishUntilKilled(dir string) {
	b, err := local.New(local.Config{Dir: dir})
	for i := 0; err == nil && i < 1_000_000; i++ {
		if err = b.Publish(context.Background(), numbered(i, 1)...); err == nil {
			fmt.Println(i)
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func TestPublish_survivesAKill(t *testing.T) {
	t.Parallel()
	const enough = 40
	dir := t.TempDir()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), childDir+"="+dir)
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	acknowledged := 0
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if acknowledged++; acknowledged == enough {
			require.NoError(t, child.Process.Kill())
		}
	}
	_ = child.Wait() // killed
	require.GreaterOrEqual(t, acknowledged, enough)

	kept := all(t, setup(t, local.Config{Dir: dir}))
	require.GreaterOrEqual(t, len(kept), acknowledged)
	require.LessOrEqual(t, len(kept), acknowledged+1, "at most one was under way")
	require.Equal(t, numbered(0, len(kept)), kept)
}
