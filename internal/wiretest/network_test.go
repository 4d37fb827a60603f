package wiretest_test

import (
	"io"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/internal/wiretest"
)

func TestFault_isWhatItsNameSays(t *testing.T) {
	t.Parallel()
	const said, event = `{"FailedEntryCount":0}`, `{"Entries":[{"Source":"nexus","DetailType":"A","Detail":"{}"}]}`
	tests := map[string]struct {
		fault   wiretest.Fault
		handled bool   // the request is carried out
		status  int    // 0 for no answer
		body    string // of the answer
	}{
		"refused": {wiretest.Refused(wiretest.Refusal{Status: 500, Code: "InternalException"}), false, 500,
			`{"__type":"com.amazonaws.events#InternalException","message":"refused with InternalException"}` + "\n"},
		"reset":   {wiretest.Reset(), false, 0, ""},
		"lost":    {wiretest.Lost(), true, 0, ""},
		"cut":     {wiretest.Cut(), true, 200, said[:len(said)/2]},
		"damaged": {wiretest.Damaged(), true, 200, "[\x02f"},
		"empty":   {wiretest.Empty(), false, 200, ""},
		"bare":    {wiretest.Bare(403), false, 403, ""},
		"silent":  {wiretest.Silent(), false, 0, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var handled atomic.Bool
			network, guard, server := wiretest.Serve(t, wiretest.EventBridge(),
				http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					handled.Store(true)
					_, _ = io.WriteString(w, said)
				}))
			client := &http.Client{Transport: network.Impatient(http.DefaultTransport)}
			send := func() (*http.Response, error) {
				r := sent(http.MethodPost, server.URL, "events", event, "Content-Type: application/x-amz-json-1.1",
					"X-Amz-Target: AWSEvents.PutEvents")
				r.RequestURI = ""
				return client.Do(r)
			}
			network.Next(test.fault)
			response, err := send()
			require.Equal(t, test.handled, handled.Load())
			if test.status == 0 {
				require.Error(t, err)
				require.Equal(t, name == "silent", os.IsTimeout(err))
			} else {
				require.NoError(t, err)
				require.Equal(t, test.status, response.StatusCode)
				body, err := io.ReadAll(response.Body)
				require.Equal(t, name == "cut", err != nil, "%v", err)
				require.True(t, strings.HasPrefix(string(body), test.body), "%q", body)
				require.NoError(t, response.Body.Close())
			}
			response, err = send()
			require.NoError(t, err, "the next request suffers nothing")
			require.NoError(t, response.Body.Close())
			require.Equal(t, 2, network.Requests())
			require.Equal(t, []string{"PutEvents", "PutEvents"}, guard.Operations())
		})
	}
}

func TestNetwork_repeatsAFaultForTheOperationsNamed(t *testing.T) {
	t.Parallel()
	network, _, server := wiretest.Serve(t, wiretest.Scheduler(),
		http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	status := func(method string) int {
		r := sent(method, server.URL+"/schedules/a?groupName=g", "scheduler", "")
		r.RequestURI = ""
		response, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		return response.StatusCode
	}
	network.Always(wiretest.Bare(503), "DeleteSchedule")
	for range 2 {
		require.Equal(t, 200, status(http.MethodGet))
		require.Equal(t, 503, status(http.MethodDelete))
	}
	require.Equal(t, 2, network.Requests())
}
