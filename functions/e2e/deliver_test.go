package e2e_test

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/deliver"
	"nexus/pkg/deliver/webpush"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/metric"
	"nexus/pkg/entity"
	"nexus/pkg/entity/departure"
	"nexus/pkg/entity/device"
	"nexus/pkg/item"
	"nexus/pkg/local/pushservice"
	"nexus/pkg/pepper"
	"nexus/pkg/table"
)

// pushVariable has the address of a push service on this machine, which may be called.
const pushVariable = "PUSH_SERVICE"

// The device and the delivery of the payloads.
const (
	deviceID   = "3f0c1c5e-6a52-4c39-9a0e-0d1b6c2f7a11"
	deliveryID = "hJ0c2rYw1bG5sVdq8ZfT3mXnA6kLpE9uQiRoWvBxCyD"
)

// pushKey is the key of all tests' deployments.
var pushKey = sync.OnceValue(func() webpush.Key {
	key, err := webpush.NewKey(rand.Reader)
	if err != nil {
		panic(err)
	}
	return key
})

// browser is a device of the user, with its push service on this machine.
type browser struct {
	*fixture
	service  *pushservice.Service
	endpoint string
	hooks    *receiver // at the same address
}

func (w *fixture) browser() *browser {
	w.Helper()
	service := pushservice.New(pushservice.Config{Secret: []byte("of this test"), Now: time.Now})
	hooks := &receiver{}
	mux := http.NewServeMux()
	mux.Handle("/", service)
	mux.Handle(receiverPath, hooks)
	server := httptest.NewServer(mux)
	hooks.url = server.URL + receiverPath
	w.Cleanup(server.Close)
	w.settings[pushVariable] = strings.TrimPrefix(server.URL, "http://")
	return &browser{w, service, server.URL + pushservice.Path + deviceID, hooks}
}

// registration is the body with which the browser registers itself.
func (b *browser) registration() map[string]any {
	s := b.service.Subscribe(deviceID)
	return map[string]any{
		"endpoint": b.endpoint, "name": "Laptop", "keys": map[string]any{"p256dh": s.P256dh, "auth": s.Auth},
	}
}

// register puts the device's row as the API does.
func (b *browser) register() {
	b.Helper()
	s := b.service.Subscribe(deviceID)
	_, err := deliver.NewDevices(b.store, time.Now).Put(b.Context(), user, deliver.Device{
		ID: deviceID, Endpoint: b.endpoint, Keys: deliver.Keys{P256dh: s.P256dh, Auth: s.Auth}, Name: "Laptop",
	}, 0)
	require.NoError(b, err)
}

func (b *browser) answers(status, retryAfter int) {
	b.service.SetAnswer(deviceID, pushservice.Answer{Status: status, RetryAfter: retryAfter})
}

// got returns what the push service has for the browser, decrypted.
func (b *browser) got() (all []map[string]any) {
	b.Helper()
	for _, m := range b.service.Messages() {
		all = append(all, object(b.T, m.Text))
	}
	return all
}

// becomeTold makes the payload of the bus' event so that it was published half a minute ago, and a browser.
func (w *fixture) becomeTold() (payload []byte, b *browser) {
	w.Helper()
	w.late = time.Now().Truncate(time.Second).Add(-30 * time.Second).Sub(present.Add(2 * time.Hour))
	return w.now("deliver-reminder-due"), w.browser()
}

// pastNextAttempt moves the instant of the next attempt into the past.
func (w *fixture) pastNextAttempt() {
	w.Helper()
	set := item.Item{}
	set.SetTime("nextAt", time.Now().Add(-time.Second))
	_, err := w.store.Update(w.Context(), table.Update{
		Key: device.PushKey(user, deliveryID, deviceID), Set: set, If: table.Exists(),
	})
	require.NoError(w, err)
}

func TestDeliver_tellsADeviceOnce(t *testing.T) {
	t.Parallel()
	w := setup(t)
	payload, b := w.becomeTold()
	b.register()
	f := w.start(env.Deliver)
	require.JSONEq(t, `{}`, string(f.succeed(payload)))
	require.JSONEq(t, `{}`, string(f.succeed(payload)))
	all := b.got()
	require.Len(t, all, 1)
	require.Equal(t, []any{"Call the dentist", fixedID, deliveryID},
		[]any{all[0]["title"], all[0]["itemId"], all[0]["deliveryId"]})
	row := w.row(device.PushKey(user, deliveryID, deviceID))
	require.Equal(t, "sent", row.Str("state"))
	require.EqualValues(t, 1, row.Int("attempts"))
	require.Empty(t, w.services.waiting())
	f.requireCounted(metric.PushTold, 1)
}

// What a push service puts off has a schedule whose target is deliver itself, and what it refuses is counted.
func TestDeliver_putsOffWhatAPushServiceDoesNotTakeNow(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.settings[env.ScheduleTargetARN] = strings.Replace(targetARN, "notify", "deliver", 1)
	payload, b := w.becomeTold()
	b.register()
	b.answers(http.StatusTooManyRequests, 600)
	f := w.start(env.Deliver)
	require.JSONEq(t, `{}`, string(f.succeed(payload)))
	name := deliver.ScheduleName(user, deliveryID, deviceID)
	scheduled, ok := w.services.waiting()[name]
	require.True(t, ok)
	require.Equal(t, w.settings[env.ScheduleTargetARN], scheduled.Target.Arn)
	require.JSONEq(t, string(w.payload("deliver-push-again")), scheduled.Target.Input)
	at, err := time.Parse(scheduleForm, scheduled.ScheduleExpression)
	require.NoError(t, err)
	require.WithinDuration(t, time.Now().Add(10*time.Minute), at, 30*time.Second)

	w.pastNextAttempt()
	b.answers(http.StatusForbidden, 0)
	require.JSONEq(t, `{}`, string(f.succeed([]byte(scheduled.Target.Input))))
	require.Equal(t, []string{"dead", "keys"}, []string{
		w.row(device.PushKey(user, deliveryID, deviceID)).Str("state"),
		w.row(device.PushKey(user, deliveryID, deviceID)).Str("reason"),
	})
	require.Empty(t, w.services.waiting())
	f.requireCounted(metric.PushRefused, 1)
}

func TestDeliver_tellsNothingToAnAddressThatIsNotPublic(t *testing.T) {
	t.Parallel()
	w := setup(t)
	payload, b := w.becomeTold()
	b.register()
	delete(w.settings, pushVariable)
	f := w.start(env.Deliver)
	require.JSONEq(t, `{}`, string(f.succeed(payload)))
	require.Equal(t, "address", w.row(device.PushKey(user, deliveryID, deviceID)).Str("reason"))
	require.Empty(t, b.got())
}

// The key is read when it is needed, and once. Without the right one nothing is told, and nothing is lost.
func TestDeliver_needsTheSecretOfTheStagesPublicKey(t *testing.T) {
	t.Parallel()
	w := setup(t)
	payload, b := w.becomeTold()
	b.register()
	other, err := webpush.NewKey(rand.Reader)
	require.NoError(t, err)
	f := w.start(env.Deliver)
	for value, says := range map[string]string{
		"": "ParameterNotFound", "no key": "32 bytes of P-256", other.Text(): "not the secret of the stage's public key",
	} {
		w.services.setSecret(value)
		fn := w.start(env.Deliver)
		o := fn.invoke(payload)
		require.NotNil(t, o.failure, says)
		require.Contains(t, o.failure.ErrorMessage, says)
		if value != "" {
			require.NotContains(t, o.failure.ErrorMessage, value)
			require.NotContains(t, fn.log.String(), value)
		}
	}
	require.Nil(t, w.row(device.PushKey(user, deliveryID, deviceID)))
	w.services.setSecret(pushKey().Text())
	require.JSONEq(t, `{}`, string(f.succeed(payload)))
	w.services.setSecret("")
	require.JSONEq(t, `{}`, string(f.succeed(payload)))
	require.Len(t, b.got(), 1)
	require.NotContains(t, f.log.String(), pushKey().Text())
}

// setSecret gives the secret key another value; without one there is no such parameter.
func (s *services) setSecret(value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.secrets[env.PushSecretParameter] = value
}

// parameter answers a request for a parameter.
func (s *services) parameter(w http.ResponseWriter, body []byte) {
	var in struct {
		Name           string
		WithDecryption bool
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	if err := json.Unmarshal(body, &in); err != nil || !in.WithDecryption || s.secrets[in.Name] == "" {
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]string{"__type": "ParameterNotFound"})
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"Parameter": map[string]any{
		"Name": in.Name, "Type": "SecureString", "Value": s.secrets[in.Name], "Version": 1,
	}})
}

// beErased has the user leave, and the erasure begin.
func (w *fixture) beErased() {
	w.Helper()
	a := w.start(env.Command).request(changed(w.T, w.payload("command-create-task"), map[string]any{
		"rawPath": "/v1/me", "requestContext/http/path": "/v1/me", "requestContext/http/method": "DELETE", "body": nil,
		"headers/content-length": nil, "headers/content-type": nil,
		"requestContext/authorizer/jwt/claims/auth_time": strconv.FormatInt(time.Now().Unix(), 10),
	}))
	require.Equal(w, http.StatusAccepted, a.StatusCode, a.Body)
	of, err := pepper.Parse(spice)
	require.NoError(w, err)
	_, err = w.store.Update(w.Context(), table.Update{
		Key: departure.StateKey(of.Erasure(user)), Set: item.Item{"state": item.String("ERASING")}, If: table.Exists(),
	})
	require.NoError(w, err)
}

func TestDeliver_asksWhetherTheAccountIsErased(t *testing.T) {
	t.Parallel()
	w := setup(t)
	payload, b := w.becomeTold()
	b.register()
	w.beErased()
	require.JSONEq(t, `{}`, string(w.start(env.Deliver).succeed(payload)))
	require.Empty(t, b.got())
}

func TestDeliver_failsOnWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	w := setup(t)
	f := w.start(env.Deliver)
	for _, payload := range []string{
		`null`, `{}`, `[]`, `"x"`, `{"detail-type":"TaskArchived","detail":{}}`, `{"detail-type":"ReminderDue","detail":{}}`,
		`{"detail-type":"ReminderDue","deviceId":"` + deviceID + `"}`, `{"deviceId":"x"}`,
	} {
		require.NotNil(t, f.invoke([]byte(payload)).failure, "%s", payload)
	}
}

// A device is registered, listed, and chooses an action, through the two functions for users.
func TestFunctions_serveDevicesAndTheirActions(t *testing.T) {
	t.Parallel()
	w := setup(t)
	payload, b := w.becomeTold()
	commands, queries := w.start(env.Command), w.start(env.Query)
	at := func(template, method, path string, body map[string]any) []byte {
		text, err := json.Marshal(body)
		require.NoError(t, err)
		changes := map[string]any{
			"body": nil, "rawPath": path, "requestContext/http/path": path, "requestContext/http/method": method,
			"headers/content-length": nil,
		}
		if body != nil {
			changes["body"] = string(text)
		}
		return changed(t, w.payload(template), changes)
	}
	key := queries.request(at("query-task", http.MethodGet, "/v1/me/devices/key", nil))
	require.Equal(t, http.StatusOK, key.StatusCode, key.Body)
	require.Equal(t, pushKey().Public(), object(t, key.Body)["key"])
	put := commands.request(at("command-create-task", http.MethodPut, "/v1/me/devices/"+deviceID, b.registration()))
	require.Equal(t, http.StatusOK, put.StatusCode, put.Body)
	listed := queries.request(at("query-task", http.MethodGet, "/v1/me/devices", nil))
	require.Len(t, object(t, listed.Body)["items"], 1, listed.Body)

	w.happen("stream-reminder-created")
	require.JSONEq(t, `{}`, string(w.start(env.Deliver).succeed(payload)))
	all := b.got()
	require.Len(t, all, 1)
	require.Equal(t, object(t, key.Body)["user"], all[0]["user"])
	act := at("command-create-task", http.MethodPost, all[0]["act"].(string), map[string]any{"action": "complete"})
	act = changed(t, act, map[string]any{"requestContext/authorizer": nil, "headers/authorization": nil})
	for range 2 {
		require.Equal(t, http.StatusNoContent, commands.request(act).StatusCode)
	}
	require.Equal(t, "COMPLETED", w.item("REMINDER", fixedID).Str(entity.AttrStatus))
	tested := commands.request(at("command-create-task", http.MethodPost, "/v1/me/devices/"+deviceID+"/test", nil))
	require.Equal(t, http.StatusAccepted, tested.StatusCode, tested.Body)
	require.Len(t, w.services.invoked, 1)
	require.JSONEq(t, `{}`, string(w.start(env.Deliver).succeed(w.services.invoked[0])))
	all = b.got()
	require.Len(t, all, 2)
	require.Equal(t, []any{"TEST", "Laptop", object(t, tested.Body)["deliveryId"]},
		[]any{all[1]["itemType"], all[1]["title"], all[1]["deliveryId"]})

	gone := commands.request(at("command-create-task", http.MethodDelete, "/v1/me/devices/"+deviceID, nil))
	require.Equal(t, http.StatusNoContent, gone.StatusCode, gone.Body)
	require.Nil(t, w.row(device.DeviceKey(user, deviceID)))
}

// A stage may know its users' push services.
func TestCommand_refusesPushServicesThatAreNotAllowed(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.settings[env.PushHosts] = "push.example.com"
	b := w.browser()
	for endpoint, want := range map[string]int{
		"https://fcm.push.example.com/send/a": http.StatusOK, "https://push.example.net/a": http.StatusUnprocessableEntity,
		"http://push.example.com/a": http.StatusUnprocessableEntity,
	} {
		body := b.registration()
		body["endpoint"] = endpoint
		text, err := json.Marshal(body)
		require.NoError(t, err)
		path := "/v1/me/devices/" + deviceID
		a := w.start(env.Command).request(changed(t, w.payload("command-create-task"), map[string]any{
			"rawPath": path, "requestContext/http/path": path, "requestContext/http/method": http.MethodPut,
			"headers/content-length": nil, "body": string(text),
		}))
		require.Equal(t, want, a.StatusCode, "%s: %s", endpoint, a.Body)
	}
}
