package local_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"nexus/pkg/local"
)

// A receiver on this machine is told of what happens, and its library accepts each message.
func TestPlatform_callsWebhooks(t *testing.T) {
	t.Parallel()
	var (
		mu      sync.Mutex
		bodies  []string
		headers []http.Header
	)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		bodies, headers = append(bodies, string(body)), append(headers, r.Header)
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(receiver.Close)
	s := startSystem(t, local.Options{Store: local.Memory, PrivateWebhooks: true}).as("ann")
	s.must("POST", "/dev/clock", object{"advance": "1000h"}) // events have the moved clock's time, messages the machine's
	made := s.must("POST", "/v1/webhooks", object{"url": receiver.URL, "types": []string{"*"}, "ordering": "fifo"})
	task := s.must("POST", "/v1/tasks", object{"title": "Water the plants"})
	path := "/v1/tasks/" + task["taskId"].(string)
	s.must("PATCH", path, object{"status": "COMPLETED"}, "If-Match", `"1"`)
	s.waitUntilIdle()
	hook := "/v1/webhooks/" + made["webhookId"].(string)
	s.must("POST", hook+"/test", nil)
	s.waitUntilIdle()
	moved := s.must("POST", "/dev/clock", object{"advance": "1h"})
	require.LessOrEqual(t, moved["fired"], 2.0, "no schedule puts itself off")
	s.must("POST", "/dev/redeliver", object{"from": "start"})
	s.waitUntilIdle()
	mu.Lock()
	defer mu.Unlock()
	require.Len(t, bodies, 3)
	require.Contains(t, bodies[0], `"type":"task.created"`)
	require.Contains(t, bodies[1], `"type":"task.completed"`)
	require.Contains(t, bodies[2], `"type":"webhook.test"`)
	reader, err := standardwebhooks.NewWebhook(made["secret"].(string))
	require.NoError(t, err)
	for i, body := range bodies {
		require.NoError(t, reader.Verify([]byte(body), headers[i]))
	}
	require.Len(t, bodies, 3, "nothing is told again, though the clock has moved within the second of the records")
	for _, one := range s.items(hook + "/deliveries") {
		require.Equal(t, "done", one["state"])
	}
}
