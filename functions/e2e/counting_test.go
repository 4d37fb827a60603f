package e2e_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/internal/wiretest"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/metric"
	"nexus/pkg/limit"
)

func TestFunctions_countEachAttemptInWhichTheTableFails(t *testing.T) {
	t.Parallel()
	w := setup(t)
	network := w.betweenTable()
	commands := w.start(env.Command)
	refuse := func(code string) {
		for _, refusal := range dynamoDB().Operation("TransactWriteItems").Refusals {
			if refusal.Code == code {
				network.Always(wiretest.Refused(refusal), "TransactWriteItems")
			}
		}
		made := commands.request(changed(t, w.payload("command-create-task"),
			map[string]any{"headers/idempotency-key": code}))
		require.Equal(t, http.StatusServiceUnavailable, made.StatusCode, "%s", made.Body)
	}
	refuse("InternalServerError")
	refuse("ProvisionedThroughputExceededException") // a refusal with 400
	counts := sum(commands.counted(), string(env.Command))
	require.InDelta(t, 4, counts[metric.TableFailures], 0, "each of the attempts that the SDK makes, and no refusal")
	require.InDelta(t, 2, counts[metric.ServerErrors], 0)
}

func TestFunctions_countARequestThatALimitRefuses(t *testing.T) {
	t.Parallel()
	w := setup(t)
	numbers, err := limit.Default().With(map[string]int{limit.User: 1})
	require.NoError(t, err)
	w.settings[env.Limits] = limit.Format(numbers)
	queries := w.start(env.Query)
	refused := 0
	for range 40 {
		if queries.request(w.payload("query-agenda")).StatusCode == http.StatusTooManyRequests {
			refused++
		}
	}
	require.Positive(t, refused)
	counts := sum(queries.counted(), string(env.Query))
	require.InDelta(t, refused, counts[metric.RequestsLimited], 0)
	require.InDelta(t, refused, counts[metric.ClientErrors], 0)
}
