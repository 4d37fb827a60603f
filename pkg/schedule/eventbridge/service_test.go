package eventbridge_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"nexus/pkg/schedule"
)

const group = "nexus-reminders"

// service speaks the part of EventBridge Scheduler's HTTP API (REST, JSON) that the adapter uses, with the constraints
// that its reference documents for each field.
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

// scheduleInput is the body of CreateSchedule and UpdateSchedule; fields that the adapter must not send are absent.
type scheduleInput struct {
	ActionAfterCompletion      string
	ClientToken                string
	GroupName                  string
	ScheduleExpression         string
	ScheduleExpressionTimezone string
	State                      string
	FlexibleTimeWindow         *struct{ Mode string }
	Target                     *struct {
		Arn, RoleArn, Input string
		DeadLetterConfig    *struct{ Arn string }
		RetryPolicy         *struct{ MaximumEventAgeInSeconds, MaximumRetryAttempts *int }
	}
}

func newService(t *testing.T) (*service, *httptest.Server) {
	t.Helper()
	s := &service{schedules: map[string]*stored{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return s, server
}

var (
	nameRule  = regexp.MustCompile(`^[0-9a-zA-Z-_.]{1,64}$`)
	atRule    = regexp.MustCompile(`^at\((\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\)$`)
	tokenRule = regexp.MustCompile(`^[a-zA-Z0-9-_]{1,64}$`)
	arnRule   = regexp.MustCompile(`^arn:aws:[a-z]+:[a-z0-9-]*:\d{12}:.+$`)
)

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
	if !nameRule.MatchString(name) {
		return failure{400, "ValidationException", "name"}
	}
	if op == "Delete" {
		return s.remove(name, r.URL.Query().Get("groupName"), r.URL.Query().Get("clientToken"))
	}
	var in scheduleInput
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&in); err != nil {
		return failure{400, "ValidationException", err.Error()}
	}
	at, reason := in.check()
	if reason != "" {
		return failure{400, "ValidationException", reason}
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

func (s *service) remove(name, groupName, token string) failure {
	if groupName != group {
		return failure{404, "ResourceNotFoundException", "Schedule group " + groupName + " does not exist."}
	}
	if !tokenRule.MatchString(token) {
		return failure{400, "ValidationException", "clientToken"}
	}
	if _, exists := s.schedules[name]; !exists {
		return failure{404, "ResourceNotFoundException", "Schedule " + name + " does not exist."}
	}
	delete(s.schedules, name)
	return failure{}
}

// check returns the instant, or the field that breaks its documented rule.
func (in scheduleInput) check() (time.Time, string) {
	expression := atRule.FindStringSubmatch(in.ScheduleExpression)
	if expression == nil {
		return time.Time{}, "Invalid Schedule Expression " + in.ScheduleExpression
	}
	zone, err := time.LoadLocation(in.ScheduleExpressionTimezone)
	if err != nil || in.ScheduleExpressionTimezone == "" {
		return time.Time{}, "scheduleExpressionTimezone"
	}
	at, err := time.ParseInLocation("2006-01-02T15:04:05", expression[1], zone)
	if err != nil {
		return time.Time{}, "Invalid Schedule Expression " + in.ScheduleExpression
	}
	target := in.Target
	switch {
	case in.FlexibleTimeWindow == nil || in.FlexibleTimeWindow.Mode != "OFF":
		return at, "flexibleTimeWindow"
	case in.ActionAfterCompletion != "NONE":
		return at, "actionAfterCompletion"
	case in.State != "ENABLED":
		return at, "state"
	case !tokenRule.MatchString(in.ClientToken):
		return at, "clientToken"
	case target == nil || !arnRule.MatchString(target.Arn) || !arnRule.MatchString(target.RoleArn):
		return at, "target"
	case target.Input == "" || !json.Valid([]byte(target.Input)):
		return at, "Invalid RequestJson provided"
	case target.DeadLetterConfig == nil || !strings.HasPrefix(target.DeadLetterConfig.Arn, "arn:aws:sqs:"):
		return at, "target.deadLetterConfig.arn"
	case target.RetryPolicy == nil || target.RetryPolicy.MaximumEventAgeInSeconds == nil || target.RetryPolicy.MaximumRetryAttempts == nil:
		return at, "target.retryPolicy"
	}
	age, attempts := *target.RetryPolicy.MaximumEventAgeInSeconds, *target.RetryPolicy.MaximumRetryAttempts
	if age < 60 || age > 86400 || attempts < 0 || attempts > 185 {
		return at, "target.retryPolicy"
	}
	return at, ""
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
