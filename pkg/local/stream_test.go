package local_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/local"
)

// listen returns what GET /dev/stream sends, one "kind data" a line, until the test ends. It listens when this returns.
func (s *system) listen() <-chan string {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.URL()+"/dev/stream", nil)
	require.NoError(s.t, err)
	response, err := s.client.Do(request)
	require.NoError(s.t, err)
	require.Equal(s.t, "text/event-stream", response.Header.Get("Content-Type"))
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	require.True(s.t, lines.Scan())
	require.Equal(s.t, ": listening", lines.Text())
	out := make(chan string, 1000)
	go func() {
		defer close(out)
		defer response.Body.Close()
		kind := ""
		for lines.Scan() {
			if name, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
				kind = name
			}
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				out <- kind + " " + data
			}
		}
	}()
	return out
}

func TestGetStream_showsEachChangeAndEachEffect(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, s *system) {
		happenings := s.listen()
		s.reminder("ring", s.now().Add(time.Hour))
		s.advance("2h")
		want := map[string]string{
			"change": `"eventName":"INSERT"`, "schedule": `"op":"put"`, "event": `"type":"ReminderDue"`, "clock": `"offset"`,
		}
		bound := time.After(10 * time.Second)
		for len(want) > 0 {
			select {
			case line := <-happenings:
				kind, data, _ := strings.Cut(line, " ")
				if part, wanted := want[kind]; wanted && strings.Contains(data, part) {
					delete(want, kind)
				}
			case <-bound:
				require.Fail(t, "not everything was shown", "missing: %v", want)
			}
		}
		s.stop()
		for range happenings { // drained to its end, which the stop brings
		}
	})
}

func TestDevRoutes_areMounted(t *testing.T) {
	t.Parallel()
	s := startSystem(t, local.Options{Store: local.Memory})
	s.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL()+"/", nil)
	require.NoError(t, err)
	response, err := s.client.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusFound, response.StatusCode)
	require.Equal(t, "/docs", response.Header.Get("Location"))
	status, problem := s.call("GET", "/dev/nothing", nil)
	require.Equal(t, http.StatusNotFound, status)
	require.EqualValues(t, 404, problem["status"])
	require.Equal(t, "memory", s.must("GET", "/dev/info", nil)["store"])
	status, _ = s.call("GET", "/dev/blobs/no/such", nil)
	require.Equal(t, http.StatusNotFound, status)
	status, _ = s.call("GET", "/dev/blobs?limit=0", nil)
	require.Equal(t, http.StatusUnprocessableEntity, status)
	status, _ = s.call("GET", "/dev/events?colour=red", nil)
	require.Equal(t, http.StatusBadRequest, status)
}

// listening is a listener of GET /dev/stream, whose lines are "id kind data".
type listening struct {
	lines <-chan string
	end   func()
}

// listenTo listens with a query, behind the event of that id.
func (s *system) listenTo(query, last string) listening {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 30*time.Second)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL()+"/dev/stream"+query, nil)
	require.NoError(s.t, err)
	if last != "" {
		request.Header.Set("Last-Event-ID", last)
	}
	response, err := s.client.Do(request)
	require.NoError(s.t, err)
	out, ended := make(chan string, 1000), make(chan struct{})
	go func() {
		defer close(ended)
		defer close(out)
		defer response.Body.Close()
		id, kind := "-", ""
		for lines := bufio.NewScanner(response.Body); lines.Scan(); {
			name, value, _ := strings.Cut(lines.Text(), ": ")
			switch name {
			case "id":
				id = value
			case "event":
				kind = value
			case "data":
				out <- id + " " + kind + " " + value
			}
		}
	}()
	return listening{out, func() { cancel(); <-ended }}
}
