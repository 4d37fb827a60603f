package local_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"nexus/pkg/limit"
	"nexus/pkg/local"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// system is a platform under test and a client of it.
type system struct {
	t testing.TB
	*local.Platform
	client *http.Client
	user   string
}

// roomy are limits under which one user may play what many users do, in no time.
func roomy(t testing.TB) limit.Numbers {
	t.Helper()
	const all = 1_000_000_000 // of notes and all content, too: a test may damage the totals, or make a million
	numbers, err := limit.Default().With(map[string]int{
		limit.User: all, limit.Zone: all, limit.Notes: all, limit.Content: all,
	})
	require.NoError(t, err)
	return numbers
}

// startSystem starts a platform that is stopped with the test. Its limits are roomy unless the options have some.
func startSystem(t *testing.T, options local.Options) *system {
	t.Helper()
	if options.Limits == nil {
		options.Limits = roomy(t)
	}
	options.Addr, options.ShowEndpoint = "127.0.0.1:0", options.Store != local.Memory
	p, err := local.Start(t.Context(), options)
	require.NoError(t, err)
	s := clientOf(t, p)
	t.Cleanup(s.stop)
	return s
}

func clientOf(t testing.TB, p *local.Platform) *system {
	return &system{t: t, Platform: p, client: &http.Client{Transport: &http.Transport{}}, user: "u1"}
}

// stop may come more than once.
func (s *system) stop() {
	s.client.CloseIdleConnections()
	require.NoError(s.t, s.Stop(context.Background()))
}

// onEachStore runs the test on a platform of either store.
func onEachStore(t *testing.T, test func(t *testing.T, s *system)) {
	t.Helper()
	for _, store := range []local.Store{local.Memory, local.DynamoDB} {
		t.Run(string(store), func(t *testing.T) {
			t.Parallel()
			test(t, startSystem(t, local.Options{Store: store, Ephemeral: store == local.DynamoDB}))
		})
	}
}

type object = map[string]any

// call sends a request and returns the status and the decoded answer.
func (s *system) call(method, path string, body any, header ...string) (int, object) {
	s.t.Helper()
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		require.NoError(s.t, err)
		content = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(s.t.Context(), method, s.URL()+path, content)
	require.NoError(s.t, err)
	request.Header.Set("Authorization", "Bearer "+s.user)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := s.client.Do(request)
	require.NoError(s.t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(s.t, err)
	var out object
	if len(bytes.TrimSpace(text)) > 0 {
		require.NoError(s.t, json.Unmarshal(text, &out), "%s %s: %s", method, path, text)
	}
	return response.StatusCode, out
}

// must is call for requests that have to succeed.
func (s *system) must(method, path string, body any, header ...string) object {
	s.t.Helper()
	status, out := s.call(method, path, body, header...)
	require.Less(s.t, status, 300, "%s %s: %v", method, path, out)
	return out
}

func (s *system) waitUntilIdle() { s.t.Helper(); s.must("POST", "/dev/settle", object{}) }

func (s *system) advance(by string) object {
	s.t.Helper()
	return s.must("POST", "/dev/clock", object{"advance": by})
}

func (s *system) now() time.Time {
	s.t.Helper()
	at, err := time.Parse(time.RFC3339, s.must("GET", "/dev/clock", nil)["now"].(string))
	require.NoError(s.t, err)
	return at
}

func (s *system) items(path string) []object {
	s.t.Helper()
	out := []object{}
	for _, item := range s.must("GET", path, nil)["items"].([]any) {
		out = append(out, item.(object))
	}
	return out
}

func (s *system) stats() object { s.t.Helper(); return s.must("GET", "/v1/me/stats", nil) }

func (s *system) task(title string, more ...object) object {
	s.t.Helper()
	body := object{"title": title}
	for _, m := range more {
		for name, v := range m {
			body[name] = v
		}
	}
	return s.must("POST", "/v1/tasks", body)
}

func (s *system) reminder(title string, at time.Time) object {
	s.t.Helper()
	return s.must("POST", "/v1/reminders", object{
		"title": title, "triggerUtc": at.UTC().Format(time.RFC3339), "tzid": "UTC",
	})
}

func version(it object) string { return fmt.Sprintf(`"%v"`, it["version"]) }

func TestPlatform_bringsAWriteIntoTheStatistics(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, s *system) {
		note := s.must("POST", "/v1/notes", object{"title": "n", "body": "b"})
		s.task("t", object{"links": []object{{"targetType": "NOTE", "targetId": note["noteId"]}}})
		s.waitUntilIdle()
		stats := s.stats()
		require.EqualValues(t, 1, stats["totalTasks"])
		require.EqualValues(t, 1, stats["totalNotes"])
		require.Len(t, s.items("/v1/notes/"+note["noteId"].(string)+"/backlinks"), 1)
	})
}

func TestStart_reportsAnAddressInUse(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, taken.Close()) })
	_, err = local.Start(t.Context(), local.Options{Store: local.Memory, Addr: taken.Addr().String()})
	require.ErrorIs(t, err, syscall.EADDRINUSE)
	require.ErrorContains(t, err, "--addr")
}

func TestStart_refusesContradictoryOptions(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]local.Options{
		"no such store":                  {Store: "paper"},
		"memory with a directory":        {Store: local.Memory, DataDir: "x"},
		"memory with an endpoint":        {Store: local.Memory, Endpoint: "http://127.0.0.1:1"},
		"memory with an engine to show":  {Store: local.Memory, ShowEndpoint: true},
		"ephemeral with a directory":     {Ephemeral: true, DataDir: "x"},
		"endpoint that is no base URL":   {Endpoint: "127.0.0.1:8000"},
		"endpoint with a path of a page": {Endpoint: "http://127.0.0.1:8000/shell"},
		"address without a port":         {Store: local.Memory, Addr: "127.0.0.1"},
		"address beyond this machine":    {Store: local.Memory, Addr: "0.0.0.0:0"},
		"address of every interface":     {Store: local.Memory, Addr: ":0"},
		"address by IPv6":                {Store: local.Memory, Addr: "[::]:0"},
		"hosts of no other machine":      {Store: local.Memory, AllowHosts: []string{"nexus.example"}},
		"exposed under no host":          {Store: local.Memory, Addr: "0.0.0.0:0", Expose: true},
		"exposed under every host":       {Store: local.Memory, Addr: "0.0.0.0:0", Expose: true, AllowHosts: []string{"*"}},
		"address with no port there is":  {Store: local.Memory, Addr: "127.0.0.1:99999"},
	} {
		_, err := local.Start(t.Context(), o)
		require.ErrorIs(t, err, local.ErrOptions, name)
	}
}

func TestLockDirectory_givesADirectoryOneOwner(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	startSystem(t, local.Options{DataDir: dir})
	_, err := local.Start(t.Context(), local.Options{DataDir: dir, Addr: "127.0.0.1:0"})
	require.ErrorIs(t, err, local.ErrInUse)
}

func TestPlatform_keepsDataClockAndSchedulesOverARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := startSystem(t, local.Options{DataDir: dir})
	first.advance("48h")
	task := first.task("kept")
	first.reminder("later", first.now().Add(3*time.Hour))
	first.waitUntilIdle()
	schedules := first.items("/dev/schedules")
	require.Len(t, schedules, 1)
	before := first.now()
	first.stop()

	second := startSystem(t, local.Options{DataDir: dir})
	require.False(t, second.now().Before(before))
	require.Equal(t, "kept", second.must("GET", "/v1/tasks/"+task["taskId"].(string), nil)["title"])
	require.Equal(t, schedules, second.items("/dev/schedules"))
	second.waitUntilIdle()
	require.EqualValues(t, 1, second.stats()["totalTasks"], "what was delivered is not counted again")
	second.advance("3h")
	require.Len(t, second.items("/dev/events"), 1)
}

func TestPlatform_forgetsNoExpiryOverARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := startSystem(t, local.Options{DataDir: dir})
	reminder := first.reminder("done", first.now().Add(time.Hour))
	id := reminder["reminderId"].(string)
	first.must("POST", "/v1/reminders/"+id+"/dismiss", object{})
	first.waitUntilIdle()
	first.stop()

	second := startSystem(t, local.Options{DataDir: dir})
	moved := second.advance("25h")
	require.Positive(t, moved["swept"])
	events := second.items("/dev/events")
	require.Len(t, events, 1)
	require.Equal(t, "ItemExpired", events[0]["type"])
	second.must("POST", "/v1/archive/"+id+"/restore", nil)
	second.waitUntilIdle()
	require.EqualValues(t, 1, second.stats()["totalReminders"])
}

func TestIsOwn_refusesAnotherSitesName(t *testing.T) {
	t.Parallel()
	s := startSystem(t, local.Options{Store: local.Memory})
	for host, want := range map[string]int{
		"localhost:8080": 200, "127.0.0.1": 200, "[::1]:80": 200, "rebound.example": 421, "": 200,
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL()+"/dev/clock", nil)
		require.NoError(t, err)
		request.Host = host
		response, err := s.client.Do(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, want, response.StatusCode, "%q", host)
	}
}

func TestStart_makesThePepperOfADirectoryOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var peppers []string
	for range 2 {
		s, _ := onDirectory(t, dir)
		s.stop()
		path := filepath.Join(dir, "pepper")
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode())
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		peppers = append(peppers, string(text))
	}
	require.Equal(t, peppers[0], peppers[1])
	require.Regexp(t, `^[0-9a-f]{64}\n$`, peppers[0])
}
