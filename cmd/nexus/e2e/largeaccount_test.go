package e2e_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Bounds of one account of 20,000 items, on the engine.
const (
	largeAccount    = 20_000
	exportBound     = 60 * time.Second
	exportMoreBytes = 256 << 20 // beyond what the process had before
	eraseBound      = 5 * time.Minute
)

// A user with 20,000 items is exported and erased in bounded time and memory, and the neighbour keeps everything.
func TestDev_exportsAndErasesALargeAccount(t *testing.T) {
	items := amount(t, "items", 400, largeAccount)
	s := onDirectory(t, "--limit", "user="+unlimited)
	began := time.Now()
	s.fill("large", items)
	s.fill("beside", 8)
	t.Logf("%d items written, and what follows: %s", items, time.Since(began).Round(time.Millisecond))
	code, _ := s.interrupt() // what the writes took of memory is no part of what an export takes
	require.Zero(t, code)
	s.start()
	s.waitLong(t)

	c, pid := s.client("large"), s.process().pid
	resetPeak(t, pid)
	before := residentBytes(t, pid)
	began = time.Now()
	job := c.do(http.StatusAccepted, request{method: http.MethodPost, path: "/v1/me/exports"}).object()
	path := "/v1/me/exports/" + job["exportId"].(string)
	require.True(t, await(t.Context(), 2*exportBound, 50*time.Millisecond, func() bool {
		job = c.get(path)
		return job["state"] == "DONE"
	}), "%v", job)
	took, more := time.Since(began), peakBytes(t, pid)-before
	file := c.do(http.StatusOK, request{method: http.MethodGet, path: job["url"].(string)}).body
	t.Logf("%d items exported in %s, with %d MB more memory, to a file of %d KB", items, took.Round(time.Millisecond),
		more>>20, len(file)>>10)
	require.Equal(t, items, exportedItems(t, file))
	require.Less(t, took, exportBound)
	require.Less(t, more, int64(exportMoreBytes))

	neighbour := s.client("beside").get("/v1/notes")
	began = time.Now()
	eraser := s.anonymous()
	eraser.http.Timeout = 2 * eraseBound
	eraser.do(http.StatusOK, request{
		method: http.MethodPost, path: "/dev/erase", body: map[string]any{"user": "large", "now": true},
	})
	took = time.Since(began)
	t.Logf("%d items erased in %s", items, took.Round(time.Millisecond))
	require.Less(t, took, eraseBound)
	var left map[string]int
	s.dev(http.MethodPost, "/dev/erase", map[string]any{"user": "large", "dryRun": true}, &left)
	require.Equal(t, map[string]int{"schedules": 0, "repositories": 0, "objects": 0, "parked": 0, "rows": 0}, left)
	require.Equal(t, neighbour, s.client("beside").get("/v1/notes"))
}

// fill gives a user so many items, a quarter of each type, half of them with a reminder, and waits for what follows.
func (s *system) fill(user string, items int) {
	s.t.Helper()
	c, begin := s.client(user), s.now().AddDate(1, 0, 0)
	text := strings.Repeat("word ", 100)
	for done := 0; done < items; {
		var commands []any
		for ; done < items && len(commands) < 100; done++ {
			at := begin.Add(time.Duration(done) * time.Minute).Format(time.RFC3339)
			one := []map[string]any{
				{"type": "CreateEvent", "data": map[string]any{
					"title": "Event", "description": text, "startUtc": at, "startTzid": "UTC", "reminderMinutes": []int{10},
				}},
				{"type": "CreateTask", "data": map[string]any{"title": "Task", "description": text}},
				{"type": "CreateReminder", "data": map[string]any{"title": "Reminder", "triggerUtc": at, "tzid": "UTC"}},
				{"type": "CreateNote", "data": map[string]any{"title": "Note", "body": text}},
			}[done%4]
			one["id"] = fmt.Sprint("item-", done)
			commands = append(commands, one)
		}
		got := c.do(http.StatusOK, request{
			method: http.MethodPost, path: "/v1/commands", body: map[string]any{"commands": commands},
		})
		require.Equal(s.t, len(commands), strings.Count(string(got.body), `"status":201`), "%s", got)
	}
	s.waitLong(s.t)
}

// exportedItems counts the entities of an export by its manifest.
func exportedItems(t *testing.T, file []byte) (items int) {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	require.NoError(t, err)
	in, err := z.Open("manifest.json")
	require.NoError(t, err)
	var manifest struct {
		Counts map[string]int `json:"counts"`
	}
	require.NoError(t, json.NewDecoder(in).Decode(&manifest))
	require.NoError(t, in.Close())
	for _, name := range []string{"EVENT", "TASK", "REMINDER", "NOTE"} {
		items += manifest.Counts[name]
	}
	return items
}

// resetPeak sets the peak of a process's memory to what it has now (proc(5), clear_refs).
func resetPeak(t *testing.T, pid int) {
	t.Helper()
	name := fmt.Sprintf("/proc/%d/clear_refs", pid)
	if _, err := os.Stat(name); err != nil {
		t.Skip("this system tells no peak of memory")
	}
	require.NoError(t, os.WriteFile(name, []byte("5"), 0o600))
}
