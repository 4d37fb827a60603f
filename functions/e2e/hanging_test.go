package e2e_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/deploy/env"
)

// silent returns the address of a service that takes requests and never answers one.
func silent(t *testing.T) string {
	t.Helper()
	over := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-over:
		}
	}))
	t.Cleanup(func() {
		close(over)
		server.Close()
	})
	return server.URL
}

func TestFunctions_answerBesideAStoreThatNeverDoes(t *testing.T) {
	t.Parallel()
	for name, payload := range map[string]struct {
		event string
		left  bool // the batch asks the store for something, and so stays unfinished
	}{
		"a batch for the store": {"stream-task-created", true},
		"nothing for the store": {"", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			environment := w.environment(env.Projections)
			environment["AWS_ENDPOINT_URL_DYNAMODB"] = silent(t)
			f := start(t, env.Projections, environment)
			f.limit = 5 * time.Second
			event := []byte(`{"Records":[]}`)
			if payload.event != "" {
				event = w.now(payload.event)
			}
			for range 2 { // the first batch of the environment, and the one after it
				began := time.Now()
				body := f.succeed(event)
				require.Less(t, time.Since(began), f.limit-time.Second, "at least a second before the deadline")
				var answer struct{ BatchItemFailures []any }
				require.NoError(t, json.Unmarshal(body, &answer))
				require.Equal(t, payload.left, len(answer.BatchItemFailures) > 0, "%s", body)
			}
		})
	}
}

func TestFunctions_tellUsersToComeAgainBesideAStoreThatNeverAnswers(t *testing.T) {
	t.Parallel()
	for f, event := range map[env.Function]string{env.Command: "command-create-task", env.Query: "query-agenda"} {
		t.Run(string(f), func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			environment := w.environment(f)
			environment["AWS_ENDPOINT_URL_DYNAMODB"] = silent(t)
			program := start(t, f, environment)
			program.limit = 4 * time.Second
			for range 2 { // the second request comes to the same program, which Lambda did not have to end
				began := time.Now()
				a := program.request(w.payload(event))
				require.Less(t, time.Since(began), program.limit-time.Second/2, "in time for Lambda")
				require.Equal(t, http.StatusServiceUnavailable, a.StatusCode, a.Body)
				require.NotEmpty(t, a.Headers["retry-after"])
			}
		})
	}
}
