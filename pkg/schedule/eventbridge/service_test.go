package eventbridge_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"nexus/internal/wiretest"
	"nexus/pkg/schedule"
)

const group = "nexus-reminders"

// service speaks the part of EventBridge Scheduler's HTTP API (REST, JSON) that the adapter uses. What its reference
// demands of each field is for the guard before it.
type service struct {
	mu        sync.Mutex
	schedules map[string]*stored
	requests  []string

	// before is called ahead of each operation, outside the lock, so that a test can act as another client.
	before func(op, name string)
	// fail answers instead of the operation, if it returns a status. With applied the operation is carried out first.
	fail func(op string) (failure failure, applied bool)
}

type stored struct {
	input     scheduleInput
	at        time.Time
	completed bool
}

type failure struct {
	status        int
	code, message string
}

// scheduleInput is the part that is kept of the body of CreateSchedule and UpdateSchedule.
type scheduleInput struct {
	ClientToken                string
	GroupName                  string
	ScheduleExpression         string
	ScheduleExpressionTimezone string
	Target                     *struct {
		Arn, RoleArn, Input string
		DeadLetterConfig    *struct{ Arn string }
		RetryPolicy         *struct{ MaximumEventAgeInSeconds, MaximumRetryAttempts *int }
	}
}

func newService(t *testing.T) (*service, *httptest.Server) {
	t.Helper()
	s := &service{schedules: map[string]*stored{}}
	server := httptest.NewServer(wiretest.NewGuard(t, s, wiretest.Scheduler()).Also(complete))
	t.Cleanup(server.Close)
	return s, server
}

// complete returns what a request lacks that the service does not demand and Nexus needs: a call at the instant itself,
// a schedule that waits under its name until it is replaced, a bounded repetition, and a queue for what failed.
func complete(c wiretest.Call) []string {
	if c.Operation != "CreateSchedule" && c.Operation != "UpdateSchedule" {
		return nil
	}
	window, _ := c.Input["FlexibleTimeWindow"].(map[string]any)
	target, _ := c.Input["Target"].(map[string]any)
	queue, _ := target["DeadLetterConfig"].(map[string]any)
	retries, _ := target["RetryPolicy"].(map[string]any)
	var found []string
	for name, holds := range map[string]bool{
		"GroupName":                  c.Input["GroupName"] != nil,
		"ScheduleExpressionTimezone": c.Input["ScheduleExpressionTimezone"] == "UTC",
		"ActionAfterCompletion":      c.Input["ActionAfterCompletion"] == "NONE", "State": c.Input["State"] == "ENABLED",
		"ClientToken": c.Input["ClientToken"] != nil, "FlexibleTimeWindow": window["Mode"] == "OFF",
		"Target.Input": target["Input"] != nil, "DeadLetterConfig": queue["Arn"] != nil,
		"MaximumEventAgeInSeconds": retries["MaximumEventAgeInSeconds"] != nil,
		"MaximumRetryAttempts":     retries["MaximumRetryAttempts"] != nil,
	} {
		if !holds {
			found = append(found, c.Operation+" without the "+name+" that Nexus needs")
		}
	}
	return found
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		s.read(w, r)
		return
	}
	name, ok := strings.CutPrefix(r.URL.Path, "/schedules/")
	op := map[string]string{http.MethodPost: "Create", http.MethodPut: "Update", http.MethodDelete: "Delete"}[r.Method]
	if !ok || op == "" {
		answer(w, failure{404, "UnknownOperationException", ""})
		return
	}
	if s.before != nil {
		s.before(op, name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, op)
	var injected failure
	applied := true
	if s.fail != nil {
		injected, applied = s.fail(op)
	}
	if injected.status == 0 || applied {
		if refused := s.apply(op, name, r); refused.status != 0 && injected.status == 0 {
			injected = refused
		}
	}
	answer(w, injected)
}

func answer(w http.ResponseWriter, f failure) {
	w.Header().Set("Content-Type", "application/json")
	if f.status == 0 {
		fmt.Fprintf(w, `{"ScheduleArn":"arn:aws:scheduler:eu-central-1:123456789012:schedule/%s/x"}`, group)
		return
	}
	w.Header().Set("X-Amzn-ErrorType", f.code+":http://internal.amazon.com/coral/com.amazonaws.chronos/")
	w.WriteHeader(f.status)
	_ = json.NewEncoder(w).Encode(map[string]string{"Message": f.message})
}

func (s *service) apply(op, name string, r *http.Request) failure {
	if op == "Delete" {
		return s.remove(name, r.URL.Query().Get("groupName"))
	}
	var in scheduleInput
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		return failure{400, "ValidationException", err.Error()}
	}
	at, err := time.Parse("at(2006-01-02T15:04:05)", in.ScheduleExpression)
	if err != nil {
		return failure{400, "ValidationException", err.Error()}
	}
	if in.GroupName != group {
		return failure{404, "ResourceNotFoundException", "Schedule group " + in.GroupName + " does not exist."}
	}
	existing, exists := s.schedules[name]
	switch {
	case op == "Update" && !exists:
		return failure{404, "ResourceNotFoundException", "Schedule " + name + " does not exist."}
	case op == "Create" && exists && existing.input.ClientToken == in.ClientToken:
		return failure{} // the same request once more
	case op == "Create" && exists:
		return failure{409, "ConflictException", "Schedule " + name + " already exists."}
	}
	s.schedules[name] = &stored{input: in, at: at}
	return failure{}
}

func (s *service) remove(name, groupName string) failure {
	if groupName != group {
		return failure{404, "ResourceNotFoundException", "Schedule group " + groupName + " does not exist."}
	}
	if _, exists := s.schedules[name]; !exists {
		return failure{404, "ResourceNotFoundException", "Schedule " + name + " does not exist."}
	}
	delete(s.schedules, name)
	return failure{}
}

func (s *service) pending() []schedule.Schedule {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []schedule.Schedule
	for name, entry := range s.schedules {
		if !entry.completed {
			out = append(out, entry.schedule(name))
		}
	}
	return out
}

// fire calls what is due and keeps it as completed, as the service does without an action after completion.
func (s *service) fire(now time.Time) []schedule.Schedule {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []schedule.Schedule
	for name, entry := range s.schedules {
		if !entry.completed && !entry.at.After(now) {
			entry.completed = true
			out = append(out, entry.schedule(name))
		}
	}
	return out
}

func (e *stored) schedule(name string) schedule.Schedule {
	return schedule.Schedule{Name: name, At: e.at.UTC(), Payload: []byte(e.input.Target.Input)}
}

// seen returns the operations received so far.
func (s *service) seen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.requests...)
}

// pageNames is small, so that tests see more than one page.
const pageNames = 3

// read answers GetSchedule and ListSchedules.
func (s *service) read(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	name, isOne := strings.CutPrefix(r.URL.Path, "/schedules/")
	op, groupName := "Get", query.Get("groupName")
	if !isOne {
		op, groupName = "List", query.Get("ScheduleGroup")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, op)
	if s.fail != nil {
		if injected, _ := s.fail(op); injected.status != 0 {
			answer(w, injected)
			return
		}
	}
	found := s.schedules[name]
	if groupName != group || isOne && found == nil {
		answer(w, failure{404, "ResourceNotFoundException", "does not exist"})
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if isOne {
		_ = json.NewEncoder(w).Encode(found.input)
		return
	}
	var names []string
	for name := range s.schedules {
		if strings.HasPrefix(name, query.Get("NamePrefix")) && name > query.Get("NextToken") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	out := map[string]any{}
	if len(names) > pageNames {
		names = names[:pageNames]
		out["NextToken"] = names[pageNames-1]
	}
	var list []map[string]string
	for _, name := range names {
		list = append(list, map[string]string{"Name": name, "GroupName": group})
	}
	out["Schedules"] = list
	_ = json.NewEncoder(w).Encode(out)
}
