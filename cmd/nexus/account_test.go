package main

import (
	"bytes"
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/local"
)

func TestRun_takesAnAccountOutAndIntoAnother(t *testing.T) {
	t.Parallel()
	p, err := local.Start(t.Context(), local.Options{Store: local.Memory, Addr: "127.0.0.1:0"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Stop(context.Background())) })
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.URL()+"/v1/notes",
		strings.NewReader(`{"title":"Note"}`))
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer ann")
	request.Header.Set("Content-Type", "application/json")
	response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusCreated, response.StatusCode)

	zipped := filepath.Join(t.TempDir(), "ann.zip")
	nexus := func(args ...string) (code int, results, messages string) {
		var out, messaged bytes.Buffer
		code = run(t.Context(), args, outputs{results: &out, messages: &messaged})
		return code, out.String(), messaged.String()
	}
	code, _, told := nexus("export", "--all", "--dev", p.URL(), "--user", "ann", "--out", zipped)
	require.Equal(t, exitDone, code, told)
	for _, again := range []string{"", ", all of which had been imported before"} {
		code, results, told := nexus("import", "--all", "--dev", p.URL(), "--user", "zoe", zipped)
		require.Equal(t, exitDone, code, told)
		require.Equal(t, "1 items, 0 archived items, 0 ids of deleted items, 0 revisions"+again+"\n", results)
	}
	code, _, told = nexus("import", "--all", "--dev", p.URL(), "--user", "ann", zipped)
	require.Equal(t, exitFailed, code)
	require.Contains(t, told, "the account is not empty")
	for _, wrong := range [][]string{
		{"export"}, {"export", "--all"}, {"export", "--all", "--dev", p.URL()},
		{"export", "--all", "--user", "ann", "--endpoint", "http://127.0.0.1:1", "--table", "T"},
		{"import", zipped}, {"import", "--all", "--user", "a", "--dev", p.URL(), zipped, zipped},
	} {
		code, _, _ = nexus(wrong...)
		require.Equal(t, exitUsage, code, wrong)
	}
}
