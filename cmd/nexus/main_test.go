package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// nexus runs a command line to its end.
func nexus(t *testing.T, args ...string) (code int, results, messages string) {
	t.Helper()
	return nexusAs(t, "", args...)
}

// nexusAs runs it with a token in the environment.
func nexusAs(t *testing.T, token string, args ...string) (code int, results, messages string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), args, outputs{&out, &errs, func(name string) string {
		if name == tokenVariable {
			return token
		}
		return ""
	}})
	return code, out.String(), errs.String()
}

func TestRun_printsHelpAsAResult(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--help"}, {"dev", "--help"}, {"demo", "--help"}} {
		code, results, messages := nexus(t, args...)
		require.Equal(t, exitDone, code, "%v", args)
		require.Contains(t, results, "Usage: nexus", "%v", args)
		require.Empty(t, messages, "%v", args)
	}
}

func TestRun_refusesWrongUsageOnStandardError(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"no command":              {},
		"unknown command":         {"fly"},
		"unknown flag":            {"dev", "--fast"},
		"unknown store":           {"demo", "--store", "paper"},
		"memory with a directory": {"dev", "--store", "memory", "--data", "x"},
		"other machines":          {"dev", "--store", "memory", "--addr", "0.0.0.0:0"},
		"every host":              {"dev", "--store", "memory", "--addr", "0.0.0.0:0", "--expose"},
		"no base URL":             {"dev", "--endpoint", "nowhere"},
		"no such limit":           {"dev", "--store", "memory", "--limit", "nosuch=1"},
		"a limit of nothing":      {"dev", "--store", "memory", "--limit", "notes=0"},
	} {
		code, results, messages := nexus(t, args...)
		require.Equal(t, exitUsage, code, name)
		require.Empty(t, results, name)
		require.True(t, strings.HasPrefix(messages, "nexus: "), "%s: %q", name, messages)
	}
}

func TestDemoCommand_holdsOnBothStores(t *testing.T) {
	t.Parallel()
	for _, store := range []string{"memory", "dynamodb"} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			code, results, messages := nexus(t, "demo", "--store", store)
			require.Equal(t, exitDone, code, "%s\n%s", results, messages)
			require.NotContains(t, results, "WRONG")
			require.Contains(t, results, "checks hold")
		})
	}
}

func TestDemoCommand_printsJSON(t *testing.T) {
	t.Parallel()
	code, results, _ := nexus(t, "demo", "--store", "memory", "--json")
	require.Equal(t, exitDone, code)
	var out struct {
		Checks []check `json:"checks"`
		Wrong  int     `json:"wrong"`
	}
	require.NoError(t, json.Unmarshal([]byte(results), &out))
	require.Greater(t, len(out.Checks), 100)
	require.Zero(t, out.Wrong)
}

// lines gives what is written to it, line by line.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

func TestDevCommand_saysInOneLineWhenItIsReadyAndEndsWhenAsked(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	results, messages := make(lines, 10), make(lines, 1000)
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, []string{"dev", "--store", "memory", "--addr", "127.0.0.1:0"},
			outputs{results: results, messages: messages})
	}()
	bound := time.After(10 * time.Second)
	select {
	case line := <-results:
		url, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "ready ")
		require.True(t, ok, line)
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		response, err := client.Get(url + "/healthz")
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, http.StatusOK, response.StatusCode)
	case <-bound:
		require.Fail(t, "not ready")
	}
	said := ""
	for len(messages) > 0 {
		said += <-messages
	}
	require.Contains(t, said, "/docs")
	require.Contains(t, said, "the token is the user's id")
	interrupt()
	select {
	case got := <-code:
		require.Equal(t, exitDone, got)
	case <-bound:
		require.Fail(t, "does not finish")
	}
	require.Empty(t, results, "one line only")
}
