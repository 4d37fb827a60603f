package eventbridge_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"nexus/pkg/bus"
)

const busName = "nexus-events"

// service speaks EventBridge's PutEvents (JSON 1.1) with its documented limits.
type service struct {
	mu       sync.Mutex
	received []bus.Event
	requests []int // entries in each

	// refuse answers the request instead, if it returns a status.
	refuse func(request int) (status int, code string)
	// fail gives an entry an error code, by the number of the request and its place there.
	fail func(request, entry int) string
	// shorten leaves the last result out of the answer.
	shorten bool
}

type entry struct {
	EventBusName, Source, DetailType, Detail string
	Time                                     float64
}

type result struct {
	EventId      string `json:",omitempty"`
	ErrorCode    string `json:",omitempty"`
	ErrorMessage string `json:",omitempty"`
}

func newService(t *testing.T) (*service, *httptest.Server) {
	t.Helper()
	s := &service{}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return s, server
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	if r.Method != http.MethodPost || r.Header.Get("X-Amz-Target") != "AWSEvents.PutEvents" {
		answerError(w, http.StatusBadRequest, "UnknownOperationException")
		return
	}
	var in struct{ Entries []entry }
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&in); err != nil {
		answerError(w, http.StatusBadRequest, "SerializationException")
		return
	}
	request := len(s.requests)
	s.requests = append(s.requests, len(in.Entries))
	if s.refuse != nil {
		if status, code := s.refuse(request); status != 0 {
			answerError(w, status, code)
			return
		}
	}
	total := 0
	for _, e := range in.Entries {
		total += 14 + len(e.Source) + len(e.DetailType) + len(e.Detail)
	}
	if len(in.Entries) < 1 || len(in.Entries) > 10 || total >= 256<<10 {
		answerError(w, http.StatusBadRequest, "ValidationException")
		return
	}
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
		code := e.check()
		if s.fail != nil && code == "" {
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

func (e entry) check() string {
	var object map[string]json.RawMessage
	switch {
	case e.EventBusName != busName || e.Source != "nexus" || e.DetailType == "" || len(e.DetailType) > 128 || e.Time == 0:
		return "InvalidArgument"
	case json.Unmarshal([]byte(e.Detail), &object) != nil:
		return "MalformedDetail"
	}
	return ""
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
