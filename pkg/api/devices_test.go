package api_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/account"
	"nexus/pkg/api"
	"nexus/pkg/deliver"
	"nexus/pkg/item"
	"nexus/pkg/limit"
	"nexus/pkg/outbound"
	schedulememory "nexus/pkg/schedule/memory"
)

// notifications are those of the fixture, whose messages go nowhere.
func (b *fixture) notifications() *api.Notifications {
	return &api.Notifications{
		Devices: deliver.NewDevices(b.store, b.clock), Acts: deliver.NewActs(b.store, b.clock), Key: "the key",
		Name:          func(user string) string { return "pseudonym of " + user },
		CheckEndpoint: outbound.Config{}.Check,
		Test:          func(_ context.Context, t deliver.Test) error { b.tests = append(b.tests, t); return nil },
	}
}

const (
	devices     = "/v1/me/devices"
	oneDevice   = devices + "/3f0c1c5e-6a52-4c39-9a0e-0d1b6c2f7a11"
	otherDevice = devices + "/4f0c1c5e-6a52-4c39-9a0e-0d1b6c2f7a11"
)

func register(path, endpoint string) request {
	return request{method: http.MethodPut, path: path, body: `{"endpoint":"` + endpoint + `","name":"Laptop","keys":{` +
		`"p256dh":"BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u-Ts1XbjhazAkj7I99e8QcYP7DkM",` +
		`"auth":"tBHItJI5svbpez7KI4CCXg"}}`}
}

const endpoint = "https://push.example.com/secret-endpoint"

func TestAPI_registersDevicesAndTellsNoSecretOfThem(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.JSONEq(`{"items":[]}`, b.want(200, get(devices)).Body.String())
	b.JSONEq(`{"key":"the key","user":"pseudonym of ann"}`, b.want(200, get(devices+"/key")).Body.String())
	b.want(200, register(oneDevice, endpoint))
	b.now = noon.Add(25 * time.Hour)
	renewed := b.want(200, register(oneDevice, endpoint+"-2"))
	b.JSONEq(`{"deviceId":"3f0c1c5e-6a52-4c39-9a0e-0d1b6c2f7a11","name":"Laptop","createdAt":"2026-03-02T12:00:00Z",`+
		`"seenOn":"2026-03-03"}`, renewed.Body.String())
	list := b.want(200, get(devices))
	b.Len(list.items(), 1)
	b.NotContains(list.Body.String(), "secret-endpoint")
	b.Empty(b.want(200, get(devices).by("bob")).items())
	b.want(204, request{method: http.MethodDelete, path: oneDevice}.by("bob"))
	b.Len(b.want(200, get(devices)).items(), 1, "the device of another user stays")
	for range 2 {
		b.want(204, request{method: http.MethodDelete, path: oneDevice})
	}
	b.Empty(b.want(200, get(devices)).items())
	b.NotContains(b.log.String(), "secret-endpoint")
}

func TestAPI_refusesDevicesThatMayNotBeCalled(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) { c.Notifications.Hosts = []string{"example.com"} })
	for _, bad := range []string{
		"http://push.example.com/secret", "https://10.0.0.1/secret", "https://localhost/secret",
		"https://push.example.net/secret", "https://user@push.example.com/secret", "https://push.example.com:8443/secret",
		"secret",
	} {
		got := b.want(422, register(oneDevice, bad))
		b.Contains(got.Body.String(), `"/endpoint"`, bad)
		b.NotContains(got.Body.String(), "secret")
	}
	noKeys := register(oneDevice, endpoint)
	noKeys.body = regexp.MustCompile(`"keys":\s*\{[^}]*\}`).ReplaceAllString(noKeys.body, `"keys":{}`)
	b.Equal([]string{"/keys/p256dh", "/keys/auth"}, b.want(422, noKeys).pointers())
	wrongKeys := register(oneDevice, endpoint)
	wrongKeys.body = strings.NewReplacer("tBHI", "", "BNcR", "").Replace(wrongKeys.body)
	got := b.want(422, wrongKeys).Body.String()
	b.Contains(got, `"/keys/p256dh"`)
	b.Contains(got, `"/keys/auth"`)
	b.want(404, register(devices+"/not-a-uuid", endpoint))
	b.want(404, request{method: http.MethodDelete, path: devices + "/not-a-uuid"})
	b.Zero(b.store.Len())
}

func TestAPI_registersAsManyDevicesAsThereMayBe(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) {
		numbers, err := limit.Default().With(map[string]int{limit.Devices: 1})
		require.NoError(t, err)
		c.Limits = limit.Config{Numbers: numbers, Draw: func() float64 { return 0 }}
	})
	b.want(200, register(oneDevice, endpoint))
	b.full(b.do(register(otherDevice, endpoint)), "quota-reached", limit.Devices, 1, 1)
	b.want(200, register(oneDevice, endpoint))
}

func TestAPI_hasNoDevicesWhereNoneAreTold(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) { c.Notifications = nil })
	b.want(404, get(devices))
	b.want(404, get(devices+"/key"))
	b.want(404, register(oneDevice, endpoint))
	b.want(404, request{method: http.MethodDelete, path: oneDevice})
	b.want(404, post(deliver.ActPath+"x", `{"action":"complete"}`))
	b.want(404, post(oneDevice+"/test", ""))
}

// All tests of a device within a minute are one delivery, so a client that repeats one makes no second.
func TestAPI_testsADeviceOfItsUser(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.want(404, post(oneDevice+"/test", ""))
	b.want(404, post(devices+"/not-a-uuid/test", ""))
	b.want(200, register(oneDevice, endpoint))
	b.want(404, post(oneDevice+"/test", "").by("bob"))
	b.Empty(b.tests)
	first := b.want(202, post(oneDevice+"/test", "")).Body.String()
	b.now = b.now.Add(30 * time.Second)
	b.JSONEq(first, b.want(202, post(oneDevice+"/test", "")).Body.String())
	b.now = b.now.Add(time.Minute)
	b.NotEqual(first, b.want(202, post(oneDevice+"/test", "")).Body.String())
	b.Len(b.tests, 3)
	b.JSONEq(`{"deliveryId":"`+b.tests[0].DeliveryID()+`"}`, first)
	b.Equal(b.tests[0], b.tests[1])
}

// messages keep what was sent to a push service.
type messages struct{ all []string }

// Send implements [deliver.Sender].
func (m *messages) Send(_ context.Context, p deliver.Push) (deliver.Answer, error) {
	m.all = append(m.all, string(p.Payload))
	return deliver.Answer{Status: http.StatusCreated}, nil
}

// told has all devices of ann told that an item is due, and returns the paths of the actions.
func (b *fixture) told(itemType, id, occurrence, delivery string) []string {
	b.t.Helper()
	sent := &messages{}
	deliverer := deliver.New(deliver.Config{
		Outbox: deliver.Outbox{
			Store: b.store, Scheduler: schedulememory.New(nil), Now: b.clock, Lead: time.Minute,
		},
		Sender: sent, Random: rand.Reader, NameOf: func(string) string { return "pseudonym" },
		Log: slog.New(slog.DiscardHandler),
	})
	detail, err := json.Marshal(map[string]any{
		"deliveryId": delivery, "userId": "ann", "occurredAt": item.FormatInstant(b.clock()), "itemType": itemType,
		"itemId": id, "title": "x", "occurrenceUtc": occurrence, "dueUtc": occurrence,
		"notify": map[string]bool{"browser": true},
	})
	b.NoError(err)
	b.NoError(deliverer.Handle(b.t.Context(), detail))
	var paths []string
	for _, text := range sent.all {
		var content struct{ Act string }
		b.NoError(json.Unmarshal([]byte(text), &content))
		paths = append(paths, content.Act)
	}
	return paths
}

func choose(path, body string) request {
	return request{method: http.MethodPost, path: path, body: body, user: "-"}
}

func TestAct_isTakenOnceOnWhicheverDevice(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.want(200, register(oneDevice, endpoint))
	b.want(200, register(otherDevice, endpoint+"-2"))
	made := b.want(201, post("/v1/reminders", `{"title":"x","triggerUtc":"2026-03-02T12:00:00Z","tzid":"UTC"}`))
	id := made.text("reminderId")
	acts := b.told("REMINDER", id, "2026-03-02T12:00:00Z", "delivery-1")
	b.Len(acts, 2)
	b.want(204, choose(acts[0], `{"action":"snooze","minutes":30}`))
	now := b.want(200, get("/v1/reminders/"+id))
	b.Equal("SNOOZED", now.text("status"))
	b.want(204, choose(acts[1], `{"action":"snooze","minutes":30}`))
	b.Equal(now.doc, b.want(200, get("/v1/reminders/"+id)).doc, "the same again changes nothing")
	b.Equal("state-conflict", b.want(409, choose(acts[1], `{"action":"complete"}`)).problem())
	b.Equal("SNOOZED", b.want(200, get("/v1/reminders/"+id)).text("status"))
	b.NotContains(b.log.String(), acts[0])

	b.want(422, choose(acts[0], `{"action":"delete"}`))
	b.want(422, choose(acts[0], `{"action":"complete","minutes":3}`))
	for _, wrong := range []string{"x", "a.b.c.d", acts[0][len(deliver.ActPath):] + "x"} {
		b.want(404, choose(deliver.ActPath+wrong, `{"action":"complete"}`))
	}
	b.now = noon.Add(24 * time.Hour)
	b.want(404, choose(acts[0], `{"action":"snooze","minutes":30}`))
}

func TestAct_reachesThePresentOccurrenceAlone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.want(200, register(oneDevice, endpoint))
	daily := b.want(201, post("/v1/reminders",
		`{"title":"x","triggerUtc":"2026-03-01T12:00:00Z","tzid":"UTC","rrule":"FREQ=DAILY"}`)).text("reminderId")
	b.want(200, post("/v1/reminders/"+daily+"/complete", `{}`))
	before := b.want(200, get("/v1/reminders/"+daily)).doc
	yesterday := b.told("REMINDER", daily, "2026-03-01T12:00:00Z", "yesterday")[0]
	b.want(409, choose(yesterday, `{"action":"complete"}`))
	b.Equal(before, b.want(200, get("/v1/reminders/"+daily)).doc)

	task := b.want(201, post("/v1/tasks",
		`{"title":"x","dueUtc":"2026-03-02T12:00:00Z","dueTzid":"UTC","reminderMinutes":[0]}`)).text("taskId")
	moved := b.told("TASK", task, "2026-03-01T12:00:00Z", "moved")[0]
	b.want(409, choose(moved, `{"action":"complete"}`))
	b.Equal("/action is none of this item: a task can be completed, and a reminder completed or snoozed.",
		b.want(422, choose(moved, `{"action":"snooze"}`)).text("detail"))
	due := b.told("TASK", task, "2026-03-02T12:00:00Z", "due")[0]
	b.want(204, choose(due, `{"action":"complete"}`))
	b.Equal("COMPLETED", b.want(200, get("/v1/tasks/"+task)).text("status"))
	b.want(204, choose(due, `{"action":"complete"}`))
}

func TestAct_isRefusedForAnAccountThatLeaves(t *testing.T) {
	t.Parallel()
	state := states{}
	b := setup(t, func(c *api.Config) { c.Fence = state })
	b.want(200, register(oneDevice, endpoint))
	made := b.want(201, post("/v1/reminders", `{"title":"x","triggerUtc":"2026-03-02T12:00:00Z","tzid":"UTC"}`))
	act := b.told("REMINDER", made.text("reminderId"), "2026-03-02T12:00:00Z", "d")[0]
	state["ann"] = account.Leaving
	b.want(404, choose(act, `{"action":"complete"}`))
	b.want(204, request{method: http.MethodDelete, path: oneDevice})
	state["ann"] = account.Present
	b.want(204, choose(act, `{"action":"complete"}`))
}
