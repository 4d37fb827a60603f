package e2e_test

import (
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// stopBound is how soon a process that was interrupted has to be gone.
const stopBound = 8 * time.Second

func TestDev_keepsDataAndTimeOverARestart(t *testing.T) {
	t.Parallel()
	s := onDirectory(t)
	c := s.client("restarted")
	task := c.create("tasks", map[string]any{
		"title": "kept", "dueUtc": s.now().Add(-time.Hour).Format(time.RFC3339), "dueTzid": "UTC",
	})
	note := c.create("notes", map[string]any{
		"title": "links", "links": []any{map[string]any{"targetType": "TASK", "targetId": task["taskId"]}},
	})
	event := map[string]any{
		"title": "to come", "startUtc": s.now().Add(100 * time.Hour).Format(time.RFC3339), "startTzid": "UTC",
		"reminderMinutes": []int{10},
	}
	c.create("events", event)
	event["rrule"] = "FREQ=DAILY"
	series := "/v1/series/" + c.create("series", event)["masterId"].(string)
	second := s.now().Add(124 * time.Hour).UTC().Format("20060102")
	own := map[string]any{"title": "another", "reminderMinutes": []int{5}}
	c.do(http.StatusOK, request{
		method: http.MethodPut, path: series + "/instances/" + second, body: own, match: matching(1),
	})
	c.create("reminders", map[string]any{
		"title": "each day", "triggerUtc": s.now().Add(50 * time.Hour).Format(time.RFC3339), "tzid": "UTC",
		"rrule": "FREQ=DAILY",
	})
	s.advance(3 * time.Hour)
	before, rows, schedules, whole := s.now(), s.scan(), s.pending(), c.get(series)
	require.Len(t, schedules, 4)

	code, took := s.interrupt()
	require.Zero(t, code, "exit code; standard error:\n%s", s.process().stderr.notable())
	require.Less(t, took, stopBound)
	require.Empty(t, s.engines(), "engines after the end")

	s.start()
	s.waitUntilIdle()
	require.False(t, s.now().Before(before), "time went back: %s, it was %s", s.now(), before)
	require.Empty(t, changes(rows, s.scan()), "rows")
	require.Equal(t, schedules, s.pending(), "schedules")
	require.Equal(t, whole, c.get(series))
	require.Equal(t, task, c.get("/v1/tasks/"+task["taskId"].(string)))
	items, _ := c.get("/v1/tasks/" + task["taskId"].(string) + "/backlinks")["items"].([]any)
	require.Equal(t, []any{note}, items, "backlinks")
	_, differences := s.recount()
	require.Empty(t, differences)
}

func TestDev_stopsOnAnInterruptAlsoWithClientsThatHang(t *testing.T) {
	t.Parallel()
	s := ephemeral(t)
	for range 8 { // that never send the rest of what they promised
		conn, err := net.Dial("tcp4", s.addr)
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() }) // the server has closed it
		_, err = conn.Write([]byte("POST /v1/tasks HTTP/1.1\r\nHost: " + s.addr +
			"\r\nAuthorization: Bearer slow\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"))
		require.NoError(t, err)
	}
	s.client("slow").create("notes", map[string]any{"title": "beside them"})
	engines := s.engines()
	require.Len(t, engines, 1)
	code, took := s.interrupt()
	require.Zero(t, code, "exit code; standard error:\n%s", s.process().stderr.notable())
	require.Less(t, took, stopBound)
	require.Empty(t, s.engines(), "engines after the end")
	require.NoDirExists(t, s.data, "the data of an ephemeral system")
}

func TestDev_reportsAnEngineThatDies(t *testing.T) {
	t.Parallel()
	s := ephemeral(t)
	engines := s.engines()
	require.Len(t, engines, 1)
	require.NoError(t, syscall.Kill(engines[0], syscall.SIGKILL))
	require.Equal(t, 1, s.process().exit(t), "exit code")
	require.Contains(t, s.process().stderr.text(), "engine", "standard error")
	require.Contains(t, lastLine(s.process().stderr.text()), "nexus: ", "the report comes last")
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

func TestDev_needsOnlyTheBinaryForTheMemoryStore(t *testing.T) {
	t.Parallel()
	s := newSystem(t)
	dir := t.TempDir()
	p := begin(t, launch{args: []string{"dev", "--store", "memory", "--addr", s.addr}, env: []string{"PATH="}, dir: dir})
	s.current = p
	require.Equal(t, s.url(), p.address(t))
	c := s.client("alone")
	task := c.create("tasks", map[string]any{"title": "a task"})
	c.create("notes", map[string]any{
		"title": "a note", "links": []any{map[string]any{"targetType": "TASK", "targetId": task["taskId"]}},
	})
	s.advance(25 * time.Hour)
	stats := c.get("/v1/me/stats")
	require.EqualValues(t, "1", text(stats["totalTasks"]))
	require.EqualValues(t, "1", text(stats["totalNotes"]))
	items, _ := c.get("/v1/tasks/" + task["taskId"].(string) + "/backlinks")["items"].([]any)
	require.Len(t, items, 1, "backlinks")
	code, took := s.interrupt()
	require.Zero(t, code)
	require.Less(t, took, stopBound)
	require.Empty(t, entries(t, dir), "files in its working directory")
}

func entries(t *testing.T, dir string) (names []string) {
	t.Helper()
	found, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range found {
		names = append(names, e.Name())
	}
	return names
}

func TestDev_refusesDataOrAddressInUseAndWrongUsage(t *testing.T) {
	t.Parallel()
	s := onDirectory(t)
	taken := freeAddress(t)
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"data in use":    {[]string{"dev", "--data", s.data, "--addr", taken}, 1, "in use"},
		"address in use": {[]string{"dev", "--store", "memory", "--addr", s.addr}, 1, s.addr},
		"unknown flag":   {[]string{"dev", "--nope"}, 2, "--nope"},
		"contradiction":  {[]string{"dev", "--store", "memory", "--data", s.data}, 2, "memory"},
	} {
		p := begin(t, launch{args: c.args, env: append(os.Environ(), engineVariable(t)), dir: t.TempDir()})
		require.Equal(t, c.code, p.exit(t), "%s: exit code; standard error:\n%s", name, p.stderr.text())
		require.Contains(t, p.stderr.text(), c.says, name)
		require.Empty(t, p.stdout.text(), "%s: standard output", name)
	}
	s.anonymous().do(http.StatusOK, request{method: http.MethodGet, path: "/healthz"})
	require.Len(t, s.engines(), 1, "engines on the data")
}
