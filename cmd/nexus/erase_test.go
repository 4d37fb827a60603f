package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/local"
)

func TestEraseCommand_erasesInARunningSystem(t *testing.T) {
	t.Parallel()
	base := runningSystem(t, local.Memory)
	load(t, base, 2, 3)
	code, results, messages := nexus(t, "erase", "--dev", base, "--user", "user1")
	require.Equal(t, exitDone, code, results+messages)
	require.Contains(t, results, "the account is to be erased at ")
	code, results, messages = nexus(t, "erase", "--dev", base, "--user", "user0", "--now")
	require.Equal(t, exitDone, code, results+messages)
	require.Equal(t, "the account is ERASED\n", results)
	c := newClient(base)
	defer c.close()
	info, err := c.call(t.Context(), http.MethodGet, "/dev/info", nil, -1)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, info.status)
	code, _, messages = nexus(t, "verify", "--dev", base)
	require.Equal(t, exitDone, code, messages)
}

func TestEraseCommand_namesWrongUsage(t *testing.T) {
	t.Parallel()
	const dev, endpoint = "http://127.0.0.1:1", "http://127.0.0.1:2"
	for args, names := range map[string]string{
		"":                             "--dev or --endpoint",
		"--dev " + dev:                 "--user, --due or --again",
		"--dev " + dev + " --due":      "need --endpoint",
		"--dev " + dev + " --user a#b": "--user",
		"--endpoint " + endpoint + " --due --now": "--now",
		"--endpoint " + endpoint + " --due":       "--pepper, --bucket, --parking",
	} {
		code, _, messages := nexus(t, append([]string{"erase"}, strings.Fields(args)...)...)
		require.Equal(t, exitUsage, code, "%s: %s", args, messages)
		require.Contains(t, messages, names, args)
	}
}
