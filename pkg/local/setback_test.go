package local_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/local"
	"nexus/pkg/local/engine"
)

// onDirectory starts a platform on the directory, with a log to read.
func onDirectory(t *testing.T, dir string) (*system, *logged) {
	t.Helper()
	log := &logged{}
	return startSystem(t, local.Options{DataDir: dir, Log: slog.New(slog.NewTextHandler(log, nil))}), log
}

func TestCheckpoints_restartForATableThatWasSetBack(t *testing.T) {
	t.Parallel()
	dir, copied := t.TempDir(), t.TempDir()
	s, _ := onDirectory(t, dir)
	s.task("kept")
	s.waitUntilIdle()
	s.stop()
	require.NoError(t, os.CopyFS(copied, os.DirFS(filepath.Join(dir, "engine"))))

	s, log := onDirectory(t, dir)
	require.NotContains(t, log.String(), "checkpoint", "nothing is ahead")
	for i := range 20 {
		s.task(fmt.Sprint("lost ", i))
	}
	s.waitUntilIdle()
	s.stop()
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "engine")))
	require.NoError(t, os.CopyFS(filepath.Join(dir, "engine"), os.DirFS(copied)))

	s, log = onDirectory(t, dir)
	s.task("after the checkpoint")
	s.waitUntilIdle()
	require.EqualValues(t, 2, s.stats()["totalTasks"])
	for _, reader := range []string{"projections", "effects"} {
		require.Regexp(t, `level=ERROR msg="a checkpoint is ahead of its stream[^\n]* reader=`+reader, log.String())
	}
	_, verified := s.text("/dev/lag")
	require.NotContains(t, verified, `"position":""`)
	s.stop()

	s, log = onDirectory(t, dir)
	s.waitUntilIdle()
	require.NotContains(t, log.String(), "checkpoint", "it is put right for good")
	require.EqualValues(t, 2, s.stats()["totalTasks"])
}

func TestStart_reportsDamageAndSaysWhatToDo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, _ := onDirectory(t, dir)
	for i := range 200 {
		s.task(fmt.Sprintf("%0200d", i))
	}
	s.reminder("scheduled", s.now().Add(24*time.Hour))
	for range 3 {
		s.reminder("rings", s.now().Add(time.Minute))
	}
	s.advance("2m")
	s.waitUntilIdle()
	s.stop()
	scheduled := pendingSchedule(t, dir)
	for name, c := range map[string]struct {
		file    string
		content func([]byte) []byte
		want    []string
	}{
		"a checkpoint cut off": {
			"checkpoints/projections.json", func(b []byte) []byte { return b[:len(b)/2] },
			[]string{"projections.json is damaged", "Remove the file", "oldest record"},
		},
		"a checkpoint emptied": {
			"checkpoints/effects.json", func([]byte) []byte { return nil },
			[]string{"effects.json is damaged", "Remove the file"},
		},
		"a checkpoint of no number": {
			"checkpoints/effects.json", func([]byte) []byte {
				return []byte(`{"stream":"","shards":{"shard":{"sequence":"12x"}}}`)
			}, []string{"effects.json is damaged", "12x"},
		},
		"the clock": {"clock.json", func([]byte) []byte { return []byte("{") },
			[]string{"clock.json is damaged", "Remove the file"}},
		"the pepper": {"pepper", func(b []byte) []byte { return b[1:] }, []string{"pepper is damaged", "copy", "pseudonym"}},
		"the list of sweeps": {
			"engine/sweeps.ndjson", func([]byte) []byte { return []byte("{\n") },
			[]string{"sweeps.ndjson is damaged: line 1:", "Remove the line"},
		},
		"a schedule": {
			scheduled, func(b []byte) []byte { return b[:len(b)/2] },
			[]string{".json is damaged", "Remove the file", "--repair"},
		},
		"an event between others": {
			"events/events.ndjson", damageSecondLine, []string{"events.ndjson is damaged: line 2:", "Remove the line"},
		},
		"pages of the table": {
			"engine/dynamodb.sqlite", func(b []byte) []byte {
				for i := 8 * 4096; i < len(b); i++ {
					b[i] = byte(i * 7)
				}
				return b
			}, []string{"dynamodb.sqlite is damaged", "copy"},
		},
		"a page without which an engine starts": {
			"engine/dynamodb.sqlite", func(b []byte) []byte {
				clear(b[len(b)/4096*3/4*4096:])
				return b
			}, []string{"dynamodb.sqlite is damaged", "copy"},
		},
		"what is no table": {
			"engine/dynamodb.sqlite", func([]byte) []byte { return []byte("this is a text, and no table of anything at all") },
			[]string{"dynamodb.sqlite is damaged", "copy"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			own := filepath.Join(t.TempDir(), "data")
			require.NoError(t, os.CopyFS(own, os.DirFS(dir)))
			path := filepath.Join(own, filepath.FromSlash(c.file))
			before, err := os.ReadFile(path)
			if err != nil {
				require.ErrorIs(t, err, os.ErrNotExist)
			}
			require.NoError(t, os.WriteFile(path, c.content(before), 0o600))
			p, err := local.Start(t.Context(), local.Options{DataDir: own, Addr: "127.0.0.1:0"})
			if err == nil {
				require.NoError(t, p.Stop(context.Background()))
			}
			require.ErrorIs(t, err, engine.ErrDamaged)
			for _, want := range c.want {
				require.ErrorContains(t, err, want)
			}
		})
	}
}

// pendingSchedule is the file of a schedule that waits, below the data directory.
func pendingSchedule(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "schedules", "*.json"))
	require.NoError(t, err)
	for _, file := range files {
		if strings.Count(filepath.Base(file), ".") == 1 {
			return filepath.Join("schedules", filepath.Base(file))
		}
	}
	require.Fail(t, "no schedule waits", "%v", files)
	return ""
}

func damageSecondLine(content []byte) []byte {
	lines := bytes.SplitAfter(content, []byte("\n"))
	lines[1] = []byte("{\n")
	return bytes.Join(lines, nil)
}

func TestStart_worksAfterTheRepairThatItSuggested(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, _ := onDirectory(t, dir)
	for range 3 {
		s.reminder("rings", s.now().Add(time.Minute))
	}
	s.reminder("scheduled", s.now().Add(24*time.Hour))
	s.advance("2m")
	s.waitUntilIdle()
	s.stop()
	scheduled := filepath.Join(dir, pendingSchedule(t, dir))
	require.NoError(t, os.WriteFile(scheduled, []byte("{"), 0o600))
	events := filepath.Join(dir, "events", "events.ndjson")
	content, err := os.ReadFile(events)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(events, damageSecondLine(content), 0o600))

	require.NoError(t, os.Remove(scheduled))
	require.NoError(t,
		os.WriteFile(events, bytes.Replace(damageSecondLine(content), []byte("\n{\n"), []byte("\n"), 1), 0o600))
	s, _ = onDirectory(t, dir)
	s.waitUntilIdle()
	require.Len(t, s.items("/dev/events"), 2)
	require.Empty(t, s.items("/dev/schedules?state=PENDING"))
	s.verified(`{"repair":true}`)
	require.Len(t, s.items("/dev/schedules?state=PENDING"), 1)
	s.waitUntilIdle()
	require.Len(t, s.items("/dev/events"), 2, "what rang does not ring again")
	s.advance("24h")
	require.Len(t, s.items("/dev/events"), 3)
}
