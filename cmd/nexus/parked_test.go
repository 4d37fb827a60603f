package main

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/local"
)

func TestRedriveCommand_saysWhatWouldBeDoneAndWhatIsParked(t *testing.T) {
	t.Parallel()
	base := runningSystem(t, local.Memory)
	code, results, _ := nexus(t, "parked", "--dev", base)
	require.Equal(t, exitDone, code)
	require.Equal(t, "0 parked\n", results)

	// A record that cannot be read is parked for the consumer that it is delivered to.
	c := newClient(base)
	defer c.close()
	reply, err := c.fetch(t.Context(), http.MethodPost, "/dev/replay?consumer=stats",
		[]byte(`{"eventName":"MODIFY","dynamodb":7}`), http.Header{"Content-Type": {"application/x-ndjson"}})
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, reply.Status)
	code, results, _ = nexus(t, "parked", "--dev", base)
	require.Equal(t, exitDone, code)
	require.Contains(t, results, "stats")
	require.Contains(t, results, "1 parked\n")
	code, results, _ = nexus(t, "parked", "--dev", base, "--filter", "consumer=links")
	require.Equal(t, exitDone, code)
	require.Equal(t, "0 parked\n", results)
	for reason, count := range map[string]string{"want {, have number": "1 parked\n", "want {, number": "0 parked\n"} {
		code, results, _ = nexus(t, "parked", "--dev", base, "--filter", "consumer=stats", "--filter", "reason="+reason)
		require.Equal(t, exitDone, code)
		require.Contains(t, results, count, "a reason may have a comma")
	}

	for _, flags := range [][]string{{"--dry-run"}, nil} {
		line := append([]string{"redrive", "--dev", base, "--filter", "consumer=stats"}, flags...)
		code, results, messages := nexus(t, line...)
		require.Equal(t, exitFailed, code, results)
		require.Contains(t, results, "1 match")
		require.Contains(t, messages, "records stay parked: 1")
	}
	code, _, messages := nexus(t, "redrive", "--dev", base, "--filter", "colour=red")
	require.Equal(t, exitUsage, code)
	require.Contains(t, messages, "colour")
	code, _, messages = nexus(t, "redrive", "--dev", base, "--filter", "consumer=colour")
	require.Equal(t, exitFailed, code)
	require.Contains(t, messages, `there is no consumer "colour"`)
	code, _, messages = nexus(t, "redrive")
	require.Equal(t, exitUsage, code)
	require.Contains(t, messages, "nexus redrive --help")
	code, _, messages = nexus(t, "redrive", "--dev", base, "--filter", "user=")
	require.Equal(t, exitUsage, code, "as of a variable that is not set: nothing is selected, least of all everything")
	require.Contains(t, messages, "user has no value")
}
