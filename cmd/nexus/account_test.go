package main

import (
	"archive/zip"
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
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

// An item that could not be read is named when it is exported, and when the file is imported.
func TestRun_namesWhatAnExportedAccountHasNot(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	z := zip.NewWriter(&file)
	manifest, err := z.Create("manifest.json")
	require.NoError(t, err)
	_, err = io.WriteString(manifest, `{"form":1,"from":"2026-03-02T12:00:00Z","to":"2026-03-02T12:00:01Z","counts":{},`+
		`"files":[],"leftOut":[],"missing":[{"id":"task_1","why":"its cold copy is not there"}]}`)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	system := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(file.Bytes()) // the test sees what arrives
	}))
	t.Cleanup(system.Close)
	const named = "nexus: left out: task_1: its cold copy is not there\n"
	zipped := filepath.Join(t.TempDir(), "ann.zip")
	for _, to := range [][]string{nil, {"--out", zipped}} {
		code, results, told := nexus(t, append([]string{"export", "--all", "--dev", system.URL, "--user", "ann"}, to...)...)
		require.Equal(t, exitDone, code, told)
		require.Contains(t, told, named)
		require.Equal(t, to == nil, results == file.String())
	}
	p, err := local.Start(t.Context(), local.Options{Store: local.Memory, Addr: "127.0.0.1:0"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Stop(context.Background())) })
	code, _, told := nexus(t, "import", "--all", "--dev", p.URL(), "--user", "zoe", zipped)
	require.Equal(t, exitDone, code, told)
	require.Contains(t, told, named)
}
