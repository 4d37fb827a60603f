package local_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/local"
	"nexus/pkg/local/engine"
)

// logged collects the log of a platform.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// unlisted starts a platform as nexus dev does, and returns where its engine listens, by the lock file.
func unlisted(t *testing.T, dir string, log io.Writer) (s *system, host, port string) {
	t.Helper()
	p, err := local.Start(t.Context(), local.Options{
		DataDir: dir, Addr: "127.0.0.1:0", Log: slog.New(slog.NewTextHandler(log, nil)),
	})
	require.NoError(t, err)
	s = clientOf(t, p)
	t.Cleanup(func() { s.client.CloseIdleConnections(); _ = s.Stop(context.Background()) })
	content, err := os.ReadFile(filepath.Join(dir, "engine", "engine.lock"))
	require.NoError(t, err)
	var held struct {
		Host string `json:"host"`
		Port int    `json:"port"`
	}
	require.NoError(t, json.Unmarshal(content, &held))
	if held.Host == "" {
		held.Host = "127.0.0.1"
	}
	return s, held.Host, strconv.Itoa(held.Port)
}

// preflight asks as a browser does before it lets a page of another site call the engine.
func preflight(t *testing.T, s *system, address, host string) (*http.Response, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodOptions, "http://"+address+"/", nil)
	require.NoError(t, err)
	request.Host = host
	request.Header.Set("Origin", "https://evil.example")
	request.Header.Set("Access-Control-Request-Method", "POST")
	request.Header.Set("Access-Control-Request-Headers", "authorization,content-type,x-amz-target")
	response, err := s.client.Do(request)
	if err == nil {
		require.NoError(t, response.Body.Close())
	}
	return response, err
}

func TestStartEngine_hidesTheEngineFromPagesOfOtherSites(t *testing.T) {
	t.Parallel()
	if !engine.Secluded {
		t.Skip("this system has one loopback address")
	}
	s, host, port := unlisted(t, t.TempDir(), io.Discard)
	response, err := preflight(t, s, net.JoinHostPort(host, port), "")
	require.NoError(t, err)
	require.Equal(t, "*", response.Header.Get("Access-Control-Allow-Origin"),
		"the attack works on an engine whose address is known")

	for _, known := range []string{"127.0.0.1", "localhost", "[::1]", "127.0.0.2", "127.0.1.1", "0.0.0.0"} {
		for _, name := range []string{"", "evil.example", "evil.example:" + port} {
			response, err := preflight(t, s, known+":"+port, name)
			if err == nil { // another program may listen there
				require.Empty(t, response.Header.Get("X-Dynoxide-Version"), "%s as %q", known, name)
			}
		}
	}
	// The platform's own port shows such a page nothing either.
	at := strings.TrimPrefix(s.URL(), "http://")
	for _, name := range []string{"", "evil.example", "evil.example:" + port} {
		response, err := preflight(t, s, at, name)
		require.NoError(t, err)
		require.Empty(t, response.Header.Get("Access-Control-Allow-Origin"), "as %q", name)
	}
}

func TestStartEngine_givesEachEngineItsOwnAddress(t *testing.T) {
	t.Parallel()
	if !engine.Secluded {
		t.Skip("this system has one loopback address")
	}
	_, one, _ := unlisted(t, t.TempDir(), io.Discard)
	_, two, _ := unlisted(t, t.TempDir(), io.Discard)
	require.NotEqual(t, one, two)
}

func TestStartEngine_keepsTheEnginesAddressOutOfAnswersAndLogs(t *testing.T) {
	t.Parallel()
	log, dir := &logged{}, t.TempDir()
	s, host, port := unlisted(t, dir, log)
	answers := func() string {
		var all strings.Builder
		for _, path := range []string{
			"/dev/info", "/dev/lag", "/dev/clock", "/dev/events", "/dev/schedules", "/dev/parked", "/dev/blobs", "/dev/metrics",
			"/dev/records", "/dev/nowhere", "/v1/me", "/v1/tasks/task_x",
		} {
			response, err := s.client.Do(s.request(http.MethodGet, path))
			require.NoError(t, err)
			text, err := io.ReadAll(response.Body)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			all.Write(text)
		}
		return all.String()
	}
	s.task("written")
	s.waitUntilIdle()
	require.NotContains(t, answers()+log.String(), net.JoinHostPort(host, port))
	require.NotContains(t, s.must("GET", "/dev/info", nil), "endpoint")

	// An engine that does not answer is spoken of in answers and in the log, at every level.
	killEngine(t, dir)
	<-s.Done()
	_, _ = s.call("POST", "/v1/tasks", object{"title": "in vain"})
	require.NotContains(t, answers()+log.String(), net.JoinHostPort(host, port))
}

// request is a request of the system's user.
func (s *system) request(method, path string) *http.Request {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), method, s.URL()+path, nil)
	require.NoError(s.t, err)
	request.Header.Set("Authorization", "Bearer "+s.user)
	return request
}
