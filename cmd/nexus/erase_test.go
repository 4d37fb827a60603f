package main

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/local"
)

func TestEraseCommand_erasesInARunningSystem(t *testing.T) {
	t.Parallel()
	base := runningSystem(t, local.Memory)
	load(t, base, 2, 3)
	code, results, messages := nexus(t, "erase", "--dev", base, "--user", "stranger")
	require.Equal(t, exitFailed, code, results+messages)
	require.Empty(t, results)
	require.Contains(t, messages, "there is nothing of this user")
	code, results, messages = nexus(t, "erase", "--dev", base, "--user", "user1")
	require.Equal(t, exitDone, code, results+messages)
	require.Contains(t, results, "the account is to be erased at ")
	code, survey, messages := nexus(t, "erase", "--dev", base, "--user", "user0", "--dry-run")
	require.Equal(t, exitDone, code, messages)
	code, results, messages = nexus(t, "erase", "--dev", base, "--user", "user0", "--now")
	require.Equal(t, exitDone, code, results+messages)
	require.Regexp(t, `^account erased account=[0-9a-f]{64} removed=[1-9]\d* passes=2 schedules=\d+ repositories=0 `+
		`objects=\d+ parked=0 rows=[1-9]\d* (events=\d+ expired=\d+ )?requestedAt=\S+Z begunAt=\S+Z\n$`, results)
	counted := regexp.MustCompile(`"(\w+)":(\d+)`).FindAllStringSubmatch(survey, -1)
	require.GreaterOrEqual(t, len(counted), 5, survey)
	for _, one := range counted {
		require.Contains(t, results, " "+one[1]+"="+one[2]+" ", "the line has what the dry run counted")
	}
	code, results, _ = nexus(t, "erase", "--dev", base, "--user", "user0", "--now")
	require.Equal(t, exitDone, code)
	require.Equal(t, "the account is ERASED\n", results, "it was before")
	code, results, messages = nexus(t, "erase", "--dev", base, "--user", "nobody", "--now")
	require.Equal(t, exitFailed, code)
	require.Empty(t, results)
	require.Contains(t, messages, "there is nothing of this user")
	code, results, messages = nexus(t, "erase", "--dev", base, "--user", "user1", "--dry-run")
	require.Equal(t, exitDone, code, messages)
	require.Regexp(t, `^\{"schedules":\d+,"repositories":0,"objects":\d+,"parked":0,"rows":[1-9]\d*\}\n$`, results)
	code, results, messages = nexus(t, "erase", "--dev", base, "--again")
	require.Equal(t, exitDone, code, messages)
	require.Regexp(t, `^\{"rows":\d+,"erased":0,"waits":1,"put":0,"undone":0,"newest":"\S+Z"\}\n$`, results)
	c := newClient(base)
	defer c.close()
	info, err := c.call(t.Context(), http.MethodGet, "/dev/info", nil, -1)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, info.Status)
	code, _, messages = nexus(t, "verify", "--dev", base)
	require.Equal(t, exitDone, code, messages)
}

func TestEraseCommand_erasesInADataDirectory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	p, err := local.Start(t.Context(), local.Options{DataDir: dir, Addr: "127.0.0.1:0"})
	require.NoError(t, err)
	load(t, p.URL(), 1, 3)
	code, _, messages := nexus(t, "erase", "--data", dir, "--user", "user0", "--dry-run")
	require.Equal(t, exitFailed, code)
	require.Contains(t, messages, "another process", "it runs")
	require.NoError(t, p.Stop(context.WithoutCancel(t.Context())))
	for range 2 {
		code, results, messages := nexus(t, "erase", "--data", dir, "--user", "user0", "--dry-run")
		require.Equal(t, exitDone, code, messages)
		require.Regexp(t, `"rows":[1-9]`, results, "nothing was changed")
	}
	code, results, messages := nexus(t, "erase", "--data", dir, "--user", "user0", "--now")
	require.Equal(t, exitDone, code, messages)
	require.Contains(t, results, "account erased account=")
	_, results, _ = nexus(t, "erase", "--data", dir, "--user", "user0", "--dry-run")
	require.Equal(t, `{"schedules":0,"repositories":0,"objects":0,"parked":0,"rows":0}`+"\n", results)
	code, _, messages = nexus(t, "erase", "--data", filepath.Join(dir, "none"), "--user", "user0", "--now")
	require.Equal(t, exitFailed, code)
	require.Contains(t, messages, "no data directory")
}

// The table is set back to before an erasure, and the command is asked to erase again.
func TestEraseCommand_erasesAgainForAsLongAsItCan(t *testing.T) {
	t.Parallel()
	for since, works := range map[string]bool{"1h": true, "888h": true, "936h": false} {
		dir, copied := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "engine")
		run := func(what func(base string)) {
			p, err := local.Start(t.Context(), local.Options{DataDir: dir, Addr: "127.0.0.1:0"})
			require.NoError(t, err)
			what(p.URL())
			require.NoError(t, p.Stop(context.WithoutCancel(t.Context())))
		}
		run(func(base string) { load(t, base, 2, 3) })
		require.NoError(t, os.CopyFS(copied, os.DirFS(filepath.Join(dir, "engine"))))
		run(func(base string) {
			code, _, messages := nexus(t, "erase", "--dev", base, "--user", "user0", "--now")
			require.Equal(t, exitDone, code, messages)
			c := newClient(base)
			defer c.close()
			moved, err := c.call(t.Context(), http.MethodPost, "/dev/clock", map[string]string{"advance": since}, -1)
			require.NoError(t, err)
			require.Equal(t, http.StatusOK, moved.Status)
		})
		require.NoError(t, os.RemoveAll(filepath.Join(dir, "engine")))
		require.NoError(t, os.CopyFS(filepath.Join(dir, "engine"), os.DirFS(copied)))
		code, results, messages := nexus(t, "erase", "--data", dir, "--again")
		if works {
			require.Equal(t, exitDone, code, messages)
			require.Regexp(t, `^account erased account=\S+ .*\n\{"rows":\d+,"erased":1,"waits":0,"put":1,"undone":0,`, results)
		} else {
			require.Equal(t, exitFailed, code, results)
			require.Contains(t, messages, "the table is too old, and must not be used")
			code, _, messages = nexus(t, "erase", "--data", dir, "--user", "user0", "--now")
			require.Equal(t, exitDone, code, messages)
		}
		_, results, _ = nexus(t, "erase", "--data", dir, "--user", "user0", "--dry-run")
		require.Equal(t, `{"schedules":0,"repositories":0,"objects":0,"parked":0,"rows":0}`+"\n", results, since)
	}
}

func TestEraseCommand_namesWrongUsage(t *testing.T) {
	t.Parallel()
	const dev, endpoint = "http://127.0.0.1:1", "http://127.0.0.1:2"
	for args, names := range map[string]string{
		"":                             "--dev, --data or --endpoint",
		"--dev " + dev:                 "--user, --due or --again",
		"--dev " + dev + " --due":      "needs --endpoint",
		"--dev " + dev + " --user a#b": "--user",
		"--endpoint " + endpoint + " --due --now": "--now",
		"--endpoint " + endpoint + " --due":       "--pepper, --bucket, --parking",
	} {
		code, _, messages := nexus(t, append([]string{"erase"}, strings.Fields(args)...)...)
		require.Equal(t, exitUsage, code, "%s: %s", args, messages)
		require.Contains(t, messages, names, args)
	}
}
