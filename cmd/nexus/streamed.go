package main

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"nexus/pkg/probe"
)

const (
	demoDevice  = "/v1/me/devices/5b0d3f51-9a3c-4f0c-8d51-6f2c8d7a4e10"
	readTimeout = 5 * time.Second
)

// streamed shows what the stream is for: a device in step, a reminder on a device, a call of a webhook, completions,
// a search, and the archive. Then all records come again, and nothing is told twice.
func (s *story) streamed() {
	s.chapter("What the stream is for")
	program := &receiver{types: map[string][]string{}}
	if s.err = program.listen(); s.err != nil {
		return
	}
	defer program.close()
	subscription := s.post("/dev/pushes", object{})
	s.send(http.StatusOK, http.MethodPut, demoDevice, object{
		"endpoint": subscription["endpoint"], "keys": subscription["keys"], "name": "Telephone",
	}, -1)
	told := []string{"task.created", "task.completed"}
	hook := s.create("/v1/webhooks", object{"url": program.url, "types": told, "ordering": "fifo"})
	program.expect(hook.Str("secret"))
	s.waitUntilIdle()
	token := s.snapshot()

	parcel := s.create("/v1/tasks", object{"title": "Fetch the parcel"})
	id, path := parcel.Str("taskId"), "/v1/tasks/"+parcel.Str("taskId")
	s.say("A task is written, and a search finds it at once by the beginning of a word:")
	s.expect("found for \"parc\"", probe.Titles(s.get("/v1/search?q=parc").List("items")), []string{"Fetch the parcel"})
	before := s.completedTasks()
	s.patch(path, parcel.Int("version"), object{"status": "COMPLETED"})
	rings := s.now().Add(time.Hour).Truncate(time.Minute)
	s.create("/v1/reminders", object{"title": "Feed the cat", "triggerUtc": stamp(rings), "tzid": homeZone})
	s.waitUntilIdle()
	s.say("It is done. A device with a copy of everything asks what has changed since:")
	s.expect("changed", s.changedSince(token), []string{"Fetch the parcel", "Feed the cat"})
	s.say("A webhook told another program, which checked the signatures:")
	s.expect("messages", program.told(id), told)
	s.expect("more tasks completed this week", s.completedTasks()-before, 1)

	s.moveTo(rings.Add(time.Minute))
	s.expect("notifications on the telephone", s.notified(), []string{"Feed the cat"})
	s.moveTo(rings.Add(25 * time.Hour))
	s.say("A day later the archive moved the task out of the way.")
	s.expect("status", s.get(path).Str("status"), "ARCHIVED")
	s.expectEvent("TaskArchived", id, parcel.Int("version")+2)

	s.post("/dev/redeliver", object{"from": "start", "times": 2})
	s.waitUntilIdle()
	s.say("All records come to all consumers two more times, and nothing is told again:")
	s.expect("messages", program.told(id), told)
	s.expect("notifications of now", s.notified(), []string(nil))
	s.expectEvent("TaskArchived", id, parcel.Int("version")+2)
	s.send(http.StatusNoContent, http.MethodDelete, "/v1/webhooks/"+hook.Str("webhookId"), nil, hook.Int("version"))
}

// snapshot reads everything, as a new device does, and returns the token from which the device goes on.
func (s *story) snapshot() string {
	path := "/v1/changes"
	for s.err == nil {
		page := s.get(path)
		if token := page.Str("next"); token != "" {
			return token
		}
		path = "/v1/changes?cursor=" + page.Str("cursor")
	}
	return ""
}

// changedSince returns the titles of the items that changed since the token.
func (s *story) changedSince(token string) []string {
	var titles []string
	for _, change := range s.get("/v1/changes?since=" + token).List("changes") {
		titles = append(titles, change.Object("item").Str("title"))
	}
	return titles
}

// completedTasks returns how many tasks were completed in this week.
func (s *story) completedTasks() int64 { return s.get("/v1/me/insights").Int("completed") }

// notified returns the titles of the notifications that the push service has for the device.
func (s *story) notified() []string {
	var titles []string
	for _, message := range s.get("/dev/pushes").List("items") {
		var shown object
		if err := json.Unmarshal([]byte(message.Str("text")), &shown); err != nil {
			s.err = err
			return nil
		}
		titles = append(titles, shown.Str("title"))
	}
	return titles
}

// receiver is another program, with the library that its authors would use.
type receiver struct {
	url    string
	server *http.Server

	mu     sync.Mutex
	secret string
	types  map[string][]string // by item
}

func (r *receiver) listen() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	r.url = "http://" + listener.Addr().String()
	r.server = &http.Server{Handler: r, ReadTimeout: readTimeout}
	go func() { _ = r.server.Serve(listener) }()
	return nil
}

// expect sets the secret with which messages are signed.
func (r *receiver) expect(secret string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.secret = secret
}

func (r *receiver) close() { _ = r.server.Close() }

// told returns the types of the messages about an item whose signatures were right, in their order.
func (r *receiver) told(id string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.types[id])
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	body, err := io.ReadAll(io.LimitReader(request.Body, 1<<20))
	reader, errSecret := standardwebhooks.NewWebhook(r.secret)
	if err != nil || errSecret != nil || reader.Verify(body, request.Header) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	var message object
	if err := json.Unmarshal(body, &message); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	id := message.Object("data").Str("id")
	r.types[id] = append(r.types[id], message.Str("type"))
	w.WriteHeader(http.StatusNoContent)
}
