package main

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/local"
)

func TestSmokeCommand_leavesADeploymentAsItWas(t *testing.T) {
	t.Parallel()
	for _, store := range []local.Store{local.Memory, local.DynamoDB} {
		t.Run(string(store), func(t *testing.T) {
			t.Parallel()
			base := runningSystem(t, store)
			for range 2 {
				code, results, messages := nexusAs(t, "smoke", "smoke", "--api", base, "--within", "20s")
				require.Equal(t, exitDone, code, results+messages)
				require.Contains(t, results, "All 6 checks hold.")
				require.NotContains(t, results, "wrong")
			}
			c := newClient(base)
			defer c.close()
			c.user = "smoke"
			for _, path := range []string{"/v1/tasks?status=IN_PROGRESS", "/v1/notes?state=ACTIVE"} {
				left, err := c.call(t.Context(), http.MethodGet, path, nil, -1)
				require.NoError(t, err)
				require.Empty(t, left.Body.List("items"), path)
			}
		})
	}
}

func TestSmokeCommand_namesWhatIsMissing(t *testing.T) {
	t.Parallel()
	code, _, messages := nexusAs(t, "x", "smoke", "--api", "somewhere")
	require.Equal(t, exitUsage, code)
	require.Contains(t, messages, "--api is not the address of an API")

	base := runningSystem(t, local.Memory)
	code, _, messages = nexusAs(t, "x", "smoke", "--api", base+"/v2")
	require.Equal(t, exitUsage, code, messages)
	code, _, messages = nexusAs(t, "no user", "smoke", "--api", base)
	require.Equal(t, exitFailed, code)
	require.Contains(t, messages, "401")
}
