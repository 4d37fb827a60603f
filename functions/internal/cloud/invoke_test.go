package cloud_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/functions/internal/cloud"
	"nexus/internal/wiretest"
	"nexus/pkg/deploy/env"
	"nexus/pkg/port"
)

// invoker returns an invoker of a Lambda behind a guard, which answers so.
func invoker(t *testing.T, answer func(http.ResponseWriter, *http.Request)) *cloud.Invoker {
	t.Helper()
	server := httptest.NewServer(wiretest.NewGuard(t, http.HandlerFunc(answer), wiretest.Lambda()))
	t.Cleanup(server.Close)
	return cloud.NewInvoker(env.AWS{
		Region: "eu-central-1", AccessKeyID: "command", SecretAccessKey: "local", SessionToken: "token",
		Endpoints: map[env.Service]string{env.Lambda: server.URL},
	}, "arn:aws:lambda:eu-central-1:123456789012:function:nexus-deliver:live")
}

func TestInvoker_hasLambdaTakeThePayload(t *testing.T) {
	t.Parallel()
	asked := 0
	i := invoker(t, func(w http.ResponseWriter, r *http.Request) {
		asked++
		require.Equal(t, "Event", r.Header.Get("X-Amz-Invocation-Type"))
		w.WriteHeader(http.StatusAccepted)
	})
	require.NoError(t, i.Invoke(t.Context(), []byte(`{"a":1}`)))
	require.Equal(t, 1, asked)
}

func TestInvoker_namesWhatLambdaAnswers(t *testing.T) {
	t.Parallel()
	service := wiretest.Lambda()
	for _, refusal := range service.Operation("Invoke").Refusals {
		i := invoker(t, func(w http.ResponseWriter, _ *http.Request) { service.Refuse(w, refusal) })
		err := i.Invoke(t.Context(), []byte(`{}`))
		require.ErrorContains(t, err, refusal.Code)
		want := port.ErrUnavailable
		if refusal.Status == http.StatusTooManyRequests {
			want = port.ErrThrottled
		}
		require.ErrorIs(t, err, want, refusal.Code)
	}
}
