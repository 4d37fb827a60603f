package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/pepper/peppertest"
)

func TestPseudonymCommand_tellsWhatTheLogHas(t *testing.T) {
	t.Parallel()
	p, dir := peppertest.Fixed(t), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "pepper"), []byte(p.Text()+"\n"), 0o600))
	for _, c := range []struct {
		args     []string
		variable string
		code     int
		want     string
	}{
		{[]string{"--user", "ann"}, p.Text(), exitDone, p.Pseudonym("ann")},
		{[]string{"--request", "client-7"}, p.Text(), exitDone, p.Chosen("client-7")},
		{[]string{"--user", "ann", "--data", dir}, "", exitDone, p.Pseudonym("ann")},
		{[]string{"--user", "ann"}, "", exitUsage, "set PEPPER"},
		{[]string{"--user", "ann"}, p.Text()[1:], exitUsage, "64 hexadecimal digits"},
		{[]string{"--account", "ann", "--data", dir}, "", exitDone, p.Erasure("ann")},
		{[]string{"--account", "a#b"}, p.Text(), exitUsage, "--account: malformed identifier"},
		{[]string{"--user", "ann", "--account", "ann"}, p.Text(), exitUsage, "--account"},
		{[]string{"--user", "a#b"}, p.Text(), exitUsage, "--user: malformed identifier"},
		{nil, p.Text(), exitUsage, "--user, --account or --request"},
		{[]string{"--user", "ann", "--request", "x"}, p.Text(), exitUsage, "--request"},
		{[]string{"--user", "ann", "--data", filepath.Join(dir, "none")}, "", exitFailed, "no such file"},
	} {
		var results, messages bytes.Buffer
		code := run(t.Context(), append([]string{"pseudonym"}, c.args...), outputs{
			results: &results, messages: &messages, env: func(name string) string {
				require.Equal(t, "PEPPER", name)
				return c.variable
			},
		})
		require.Equal(t, c.code, code, "%v: %s", c.args, &messages)
		if code == exitDone {
			require.Equal(t, c.want+"\n", results.String(), "%v", c.args)
			continue
		}
		require.Contains(t, messages.String(), c.want, "%v", c.args)
		require.NotContains(t, messages.String(), strings.Repeat("5f", 10), "the pepper stands in no message")
	}
}
