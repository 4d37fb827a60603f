package e2e_test

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"nexus/internal/wiretest"
	"nexus/pkg/deploy/env"
	"nexus/pkg/queue"
	queuememory "nexus/pkg/queue/memory"
)

// services stands for everything but the table that the functions call, at one address: EventBridge Scheduler,
// EventBridge, S3 and SQS, as far as the adapters use them. What is asked of them is kept.
type services struct {
	mu        sync.Mutex
	schedules map[string]scheduled
	completed map[string]bool // schedules that were called, and are there still
	published []published
	objects   map[string]string // by bucket/name
	hinted    []hinted
	walks     *queuememory.Queue
	// taken gets the messages in the place of walks, if it is set.
	taken func(queue.Message)
	// announced gets each event that is published, if it is set.
	announced func(published)
	// invoked are the payloads with which functions were to work later, and later gets them, if it is set.
	invoked [][]byte
	later   func(arn string, payload []byte)
	// secrets are the values of parameters, by name.
	secrets map[string]string
	// what refuses everybody, which clients do not repeat by themselves: scheduler, bus, objects, parking, hints
	down map[string]bool
}

// scheduled is a schedule: what it calls, when, with what.
type scheduled struct {
	GroupName                  string
	ScheduleExpression         string
	ScheduleExpressionTimezone string
	ActionAfterCompletion      string
	Target                     struct {
		Arn, RoleArn, Input string
		DeadLetterConfig    struct{ Arn string }
	}
}

// published is an event as the bus got it.
type published struct {
	EventBusName, Source, DetailType, Detail string
}

// hinted is one request to publish at the event API.
type hinted struct {
	Channel string   `json:"channel"`
	Events  []string `json:"events"`
}

func newServices(t *testing.T) (*services, string) {
	t.Helper()
	s := &services{
		schedules: map[string]scheduled{}, completed: map[string]bool{}, objects: map[string]string{},
		secrets: map[string]string{
			env.PushSecretParameter: pushKey().Text(), env.HookSecretParameter: strings.Repeat("m", 42) + "k",
		}, down: map[string]bool{},
	}
	s.walks = queuememory.New(nil)
	return s, guarded(t, s, wiretest.Scheduler(), wiretest.EventBridge(), wiretest.S3(), wiretest.AppSync(),
		wiretest.SQS(), wiretest.SSM(), wiretest.Lambda())
}

func (s *services) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	name, isSchedule := strings.CutPrefix(r.URL.Path, "/schedules/")
	switch {
	case r.Header.Get("X-Amz-Target") == "AmazonSQS.SendMessage":
		s.enqueue(w, r, body)
	case r.Header.Get("X-Amz-Target") == "AmazonSSM.GetParameter":
		s.parameter(w, body)
	case isSchedule && s.down["scheduler"], r.Header.Get("X-Amz-Target") != "" && s.down["bus"]:
		w.Header().Set("X-Amzn-ErrorType", "AccessDeniedException")
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `{"__type":"AccessDeniedException","message":"not now"}`)
	case r.URL.Path == "/schedules":
		s.listSchedules(w, r)
	case isSchedule:
		s.schedule(w, r, name, body)
	case r.Header.Get("X-Amz-Target") == "AWSEvents.PutEvents":
		s.publish(w, body)
	case strings.HasPrefix(r.URL.Path, invocations):
		s.invoke(w, r, body)
	case r.URL.Path == "/event":
		s.hint(w, body)
	case s.down["objects"], s.down["parking"] && strings.HasPrefix(r.URL.Path, "/"+parking+"/"):
		refuseObject(w, http.StatusForbidden, "AccessDenied")
	default:
		s.object(w, r, strings.TrimPrefix(r.URL.Path, "/"), string(body))
	}
}

func (s *services) schedule(w http.ResponseWriter, r *http.Request, name string, body []byte) {
	_, exists := s.schedules[name]
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.Method == http.MethodPost && exists:
		w.Header().Set("X-Amzn-ErrorType", "ConflictException")
		w.WriteHeader(http.StatusConflict)
	case r.Method != http.MethodPost && !exists:
		w.Header().Set("X-Amzn-ErrorType", "ResourceNotFoundException")
		w.WriteHeader(http.StatusNotFound)
	case r.Method == http.MethodDelete:
		delete(s.schedules, name)
	default:
		var in scheduled
		if err := json.Unmarshal(body, &in); err != nil {
			w.Header().Set("X-Amzn-ErrorType", "ValidationException")
			w.WriteHeader(http.StatusBadRequest)
			break
		}
		s.schedules[name] = in
		delete(s.completed, name) // also with the same instant it waits for its call again
	}
	fmt.Fprint(w, `{}`)
}

func (s *services) publish(w http.ResponseWriter, body []byte) {
	var in struct{ Entries []published }
	if err := json.Unmarshal(body, &in); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.published = append(s.published, in.Entries...)
	if s.announced != nil {
		for _, e := range in.Entries {
			s.announced(e)
		}
	}
	results := make([]map[string]string, len(in.Entries))
	for i := range results {
		results[i] = map[string]string{"EventId": fmt.Sprintf("event-%d", len(s.published)+i)}
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	_ = json.NewEncoder(w).Encode(map[string]any{"FailedEntryCount": 0, "Entries": results})
}

// invocations begins the path of an invocation.
const invocations = "/2015-03-31/functions/"

// invoke takes an asynchronous invocation.
func (s *services) invoke(w http.ResponseWriter, r *http.Request, body []byte) {
	s.invoked = append(s.invoked, body)
	if s.later != nil {
		arn, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, invocations), "/")
		s.later(arn, body)
	}
	w.WriteHeader(http.StatusAccepted)
}

func (s *services) hint(w http.ResponseWriter, body []byte) {
	var in hinted
	w.Header().Set("Content-Type", "application/json")
	if err := json.Unmarshal(body, &in); err != nil || s.down["hints"] {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"errors":[{"errorType":"UnauthorizedException","message":"not now"}]}`)
		return
	}
	s.hinted = append(s.hinted, in)
	fmt.Fprint(w, `{"failed":[],"successful":[{"identifier":"a","index":0}]}`)
}

func (s *services) object(w http.ResponseWriter, r *http.Request, name, body string) {
	if bucket, key, _ := strings.Cut(name, "/"); key == "" {
		if r.Method == http.MethodPost {
			s.deleteVersions(w, bucket, body)
		} else {
			s.list(w, r, bucket)
		}
		return
	}
	switch r.Method {
	case http.MethodPut:
		s.objects[name] = body
	case http.MethodDelete:
		delete(s.objects, name)
		w.WriteHeader(http.StatusNoContent)
	case http.MethodGet:
		content, ok := s.objects[name]
		if !ok {
			refuseObject(w, http.StatusNotFound, "NoSuchKey")
			return
		}
		fmt.Fprint(w, content)
	default:
		refuseObject(w, http.StatusMethodNotAllowed, "MethodNotAllowed")
	}
}

func refuseObject(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	_ = xml.NewEncoder(w).Encode(struct {
		XMLName xml.Name `xml:"Error"`
		Code    string
	}{Code: code})
}

// breakDown lets a service refuse everybody, or work again.
func (s *services) breakDown(service string, down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down[service] = down
}

// events returns what was published of a type, in order.
func (s *services) events(detailType string) []published {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []published
	for _, e := range s.published {
		if e.DetailType == detailType {
			out = append(out, e)
		}
	}
	return out
}

// stored returns the names of the objects, bucket first, in order.
func (s *services) stored() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.objects))
}

func (s *services) content(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.objects[name]
}

// waiting returns the schedules by name.
func (s *services) waiting() map[string]scheduled {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.schedules)
}
