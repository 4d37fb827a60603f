package local_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/local"
)

const someDevice = "/v1/me/devices/3f0c1c5e-6a52-4c39-9a0e-0d1b6c2f7a11"

// subscribe registers a device with the local push service, and returns its subscription's id.
func (s *system) subscribe() string {
	s.t.Helper()
	made := s.must("POST", "/dev/pushes", object{})
	s.must("PUT", someDevice, object{"endpoint": made["endpoint"], "keys": made["keys"], "name": "Laptop",
		"expirationTime": nil}) // as a browser's subscription has it
	return made["id"].(string)
}

// pushed returns what the push service has, decrypted.
func (s *system) pushed() (all []object) {
	s.t.Helper()
	for _, message := range s.items("/dev/pushes") {
		var content object
		require.NoError(s.t, json.Unmarshal([]byte(message["text"].(string)), &content))
		all = append(all, content)
	}
	return all
}

// answers has the push service answer so for a subscription.
func (s *system) answers(id string, status int) {
	s.t.Helper()
	s.must("POST", "/dev/pushes", object{"id": id, "answer": object{"status": status}})
}

func TestPlatform_tellsADeviceOfAReminderAndTakesItsAction(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, s *system) {
		s.subscribe()
		id := s.reminder("Water the plants", s.now().Add(time.Hour))["reminderId"].(string)
		s.waitUntilIdle()
		require.Empty(t, s.pushed())
		s.advance("61m")
		s.waitUntilIdle()
		all := s.pushed()
		require.Len(t, all, 1)
		require.Equal(t, "Water the plants", all[0]["title"])
		require.Equal(t, id, all[0]["itemId"])
		require.Equal(t, s.must("GET", "/v1/me/devices/key", nil)["user"], all[0]["user"])
		require.NotContains(t, all[0]["user"], s.user)

		act := all[0]["act"].(string)
		for range 2 {
			status, _ := s.call("POST", act, object{"action": "complete"}, "Authorization", "")
			require.Equal(t, http.StatusNoContent, status)
		}
		status, _ := s.call("POST", act, object{"action": "snooze"})
		require.Equal(t, http.StatusConflict, status)
		require.Equal(t, "COMPLETED", s.must("GET", "/v1/reminders/"+id, nil)["status"])
		s.advance("2h")
		require.Empty(t, s.pushed(), "the message has ended")
	})
}

func TestPlatform_sendsATestToADevice(t *testing.T) {
	t.Parallel()
	s := startSystem(t, local.Options{Store: local.Memory})
	s.advance("1000h") // by the system's clock, not by the machine's
	status, _ := s.call("POST", someDevice+"/test", nil)
	require.Equal(t, http.StatusNotFound, status)
	s.subscribe()
	status, first := s.call("POST", someDevice+"/test", nil)
	require.Equal(t, http.StatusAccepted, status)
	all := s.pushed()
	require.Len(t, all, 1)
	require.Equal(t, []any{"TEST", "Laptop", first["deliveryId"]},
		[]any{all[0]["itemType"], all[0]["title"], all[0]["deliveryId"]})
}

func TestPlatform_tellsADeviceAgainThatWasNotReached(t *testing.T) {
	t.Parallel()
	s := startSystem(t, local.Options{Store: local.Memory})
	id := s.subscribe()
	s.answers(id, http.StatusServiceUnavailable)
	s.reminder("Water the plants", s.now().Add(time.Hour))
	s.waitUntilIdle()
	s.advance("61m")
	s.waitUntilIdle()
	require.Empty(t, s.pushed())
	s.answers(id, http.StatusCreated)
	s.advance("10m")
	s.waitUntilIdle()
	require.Len(t, s.pushed(), 1)
}

func TestPlatform_forgetsADeviceThatIsGone(t *testing.T) {
	t.Parallel()
	s := startSystem(t, local.Options{Store: local.Memory})
	s.answers(s.subscribe(), http.StatusGone)
	s.reminder("Water the plants", s.now().Add(time.Hour))
	s.waitUntilIdle()
	s.advance("61m")
	s.waitUntilIdle()
	require.Empty(t, s.items("/v1/me/devices"))
}

// What was on the bus before the first device is not told to it, and a restart tells nothing twice.
func TestPlatform_goesOnFromItsCheckpoint(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	start := func() *system { return startSystem(t, local.Options{Store: local.DynamoDB, DataDir: dir}) }
	s := start()
	s.reminder("Before", s.now().Add(time.Hour))
	s.waitUntilIdle()
	s.advance("61m")
	s.waitUntilIdle()
	s.subscribe()
	s.stop()

	s = start()
	s.waitUntilIdle()
	require.Empty(t, s.pushed())
	require.Len(t, s.items("/v1/me/devices"), 1)
	s.subscribe() // it listens at another port now, and the device is renewed
	s.reminder("After", s.now().Add(time.Hour))
	s.waitUntilIdle()
	s.advance("61m")
	s.waitUntilIdle()
	all := s.pushed()
	require.Len(t, all, 1)
	require.Equal(t, "After", all[0]["title"])
}

// An erasure ends what reaches outward, and the events behind those of the user are told all the same.
func TestPlatform_erasesDevicesAndTellsTheOthers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := startSystem(t, local.Options{Store: local.DynamoDB, DataDir: dir})
	for _, user := range []string{"u1", "u2"} {
		one := s.as(user)
		one.subscribe()
		one.reminder("Of "+user, one.now().Add(time.Hour))
	}
	s.waitUntilIdle()
	s.advance("61m")
	s.waitUntilIdle()
	require.Len(t, s.pushed(), 2)
	s.must("POST", "/dev/erase", object{"user": "u1", "now": true})
	text, err := os.ReadFile(filepath.Join(dir, "pushed"))
	require.NoError(t, err)
	require.Equal(t, "1", strings.TrimSpace(string(text)), "one event is left, and it was handled")
	other := s.as("u2")
	require.Len(t, other.items("/v1/me/devices"), 1)
	other.reminder("Again", other.now().Add(time.Hour))
	s.waitUntilIdle()
	s.advance("61m")
	s.waitUntilIdle()
	var titles []any
	for _, message := range s.pushed() {
		titles = append(titles, message["title"])
	}
	require.Contains(t, titles, "Again")
}
