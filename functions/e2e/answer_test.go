package e2e_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/internal/wiretest"
	"nexus/pkg/deploy/env"
)

// betweenTable puts a network between the functions and the table that fails as the test demands.
func (w *fixture) betweenTable() *wiretest.Network {
	w.Helper()
	behind := wiretest.Forward(w.T, w.settings["AWS_ENDPOINT_URL_DYNAMODB"], nil)
	network, _, server := wiretest.Serve(w.T, dynamoDB(), behind)
	w.settings["AWS_ENDPOINT_URL_DYNAMODB"] = server.URL
	return network
}

func TestFunctions_answerWhetherARequestIsToBeRepeated(t *testing.T) {
	t.Parallel()
	w := setup(t)
	network := w.betweenTable()
	commands, queries := w.start(env.Command), w.start(env.Query)
	passing := []string{
		"ProvisionedThroughputExceededException", "RequestLimitExceeded", "ThrottlingException", "InternalServerError",
		"ServiceUnavailable",
		"TransactionInProgressException",
	}
	requireAnswer := func(operation, code string, a answer) {
		t.Helper()
		want := http.StatusInternalServerError
		if slices.Contains(passing, code) {
			want = http.StatusServiceUnavailable
			require.NotEmpty(t, a.Headers["retry-after"])
		}
		require.Equal(t, want, a.StatusCode, "%s %s: %s", operation, code, a.Body)
		require.NotContains(t, a.Body, code, "what a service says is not for users")
		require.NotContains(t, a.Body, "refused with")
	}
	write := func(key string) answer {
		return commands.request(changed(t, w.payload("command-create-task"), map[string]any{"headers/idempotency-key": key}))
	}
	for _, refusal := range dynamoDB().Operation("TransactWriteItems").Refusals {
		network.Always(wiretest.Refused(refusal), "TransactWriteItems")
		requireAnswer("TransactWriteItems", refusal.Code, write(refusal.Code))
	}
	for _, refusal := range dynamoDB().Operation("GetItem").Refusals {
		network.Always(wiretest.Refused(refusal), "GetItem")
		requireAnswer("GetItem", refusal.Code, queries.request(w.payload("query-task")))
	}
	network.Next()
	require.Equal(t, http.StatusCreated, write("at last").StatusCode)
}

func TestCommand_doesAWriteOnceWhoseAnswersAreLost(t *testing.T) {
	t.Parallel()
	w := setup(t)
	network := w.betweenTable()
	commands := w.start(env.Command)
	network.Next(wiretest.Lost(), wiretest.Lost(), wiretest.Cut())
	a := commands.request(w.payload("command-create-task"))
	require.Equal(t, http.StatusCreated, a.StatusCode, "%s", a.Body)
	require.Equal(t, float64(1), object(t, a.Body)["version"])
	again := commands.request(w.payload("command-create-task"))
	require.Equal(t, "true", again.Headers["idempotency-replayed"])
	require.JSONEq(t, a.Body, again.Body)
}
