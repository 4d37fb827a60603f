package eventbridge_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"nexus/internal/wiretest"
	"nexus/pkg/bus"
)

const busName = "nexus-events"

// service speaks EventBridge's PutEvents (JSON 1.1). What its reference demands of a request is for the guard before
// it.
type service struct {
	mu       sync.Mutex
	received []bus.Event
	requests []int // entries in each

	// fail gives an entry an error code, by the number of the request and its place there.
	fail func(request, entry int) string
	// shorten leaves the last result out of the answer.
	shorten bool
}

type entry struct {
	DetailType, Detail string
	Time               float64
}

type result struct {
	EventId      string `json:",omitempty"`
	ErrorCode    string `json:",omitempty"`
	ErrorMessage string `json:",omitempty"`
}

func newService(t *testing.T) (*service, *httptest.Server) {
	t.Helper()
	s := &service{}
	server := httptest.NewServer(wiretest.NewGuard(t, s, wiretest.EventBridge()).Also(complete))
	t.Cleanup(server.Close)
	return s, server
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	var in struct{ Entries []entry }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		answerError(w, http.StatusBadRequest, "SerializationException")
		return
	}
	request := len(s.requests)
	s.requests = append(s.requests, len(in.Entries))
	s.answer(w, request, in.Entries)
}

func answerError(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"__type": code, "message": "refused"})
}

func (s *service) answer(w http.ResponseWriter, request int, entries []entry) {
	results := make([]result, len(entries))
	failed := 0
	for i, e := range entries {
		code := ""
		if s.fail != nil {
			code = s.fail(request, i)
		}
		if code != "" {
			failed++
			results[i] = result{ErrorCode: code, ErrorMessage: "refused"}
			continue
		}
		results[i] = result{EventId: fmt.Sprintf("%d-%d", request, i)}
		s.received = append(s.received, bus.Event{
			Type: e.DetailType, Detail: []byte(e.Detail), Time: time.Unix(int64(e.Time), 0).UTC(),
		})
	}
	if s.shorten {
		results = results[:len(results)-1]
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"FailedEntryCount": failed, "Entries": results})
}

// complete returns what a request lacks that the service does not demand and Nexus needs: its own bus, its source, and
// the time of the event.
func complete(c wiretest.Call) []string {
	var found []string
	entries, _ := c.Input["Entries"].([]any)
	for i, value := range entries {
		sent, _ := value.(map[string]any)
		if sent["EventBusName"] != busName || sent["Source"] != bus.Source || sent["Time"] == nil {
			found = append(found, fmt.Sprintf("entry %d without the bus, source or time that Nexus needs: %v", i, sent))
		}
	}
	return found
}

func (s *service) heard() []bus.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]bus.Event(nil), s.received...)
}

// sizes returns how many entries each request had.
func (s *service) sizes() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]int(nil), s.requests...)
}
