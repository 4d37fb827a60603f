package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/internal/tools/bundle"
)

// answering is a database that has its index.
func answering(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != index {
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// scanner is a program in the place of govulncheck. It runs commands of a shell, which may write to the file "$asked".
func scanner(t *testing.T, commands string) (path, asked string) {
	t.Helper()
	folder := t.TempDir()
	path, asked = filepath.Join(folder, "scanner"), filepath.Join(folder, "asked")
	text := "#!/bin/sh\nasked='" + asked + "'\n" + commands + "\n"
	require.NoError(t, os.WriteFile(path, []byte(text), 0o755))
	return path, asked
}

// recorded is the file of what govulncheck 1.9.0 printed about the functions in November 2026, cut to three
// vulnerabilities.
func recorded(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", "found.json"))
	require.NoError(t, err)
	return path
}

var one = []program{{"functions", "testdata", bundle.Machine{OS: "linux", Arch: "arm64"}, "a,b", []string{"./x"}}}

func TestRun_failsForWhatAProgramCanReach(t *testing.T) {
	t.Parallel()
	database := answering(t)
	path, asked := scanner(t, `echo "$PWD" "$GOOS/$GOARCH" "$@" >"$asked"; cat `+recorded(t))
	var out bytes.Buffer
	err := run(t.Context(), database, path, one, &out)
	require.EqualError(t, err, "functions can reach 3")
	require.Contains(t, out.String(), "functions: known vulnerabilities that it can reach: 3\n")
	require.Contains(t, out.String(), ""+
		"  GO-2026-5970 golang.org/x/text v0.14.0, fixed in v0.39.0: Infinite loop on invalid input in golang.org/x/text\n"+
		"    testdata/pkg/text/fold/fold.go:17 leads to golang.org/x/text/unicode/norm.Form.String\n")
	require.Contains(t, out.String(), "GO-2026-5764 github.com/aws/aws-sdk-go-v2/service/s3 v1.96.4, fixed in v1.97.3")
	require.Contains(t, out.String(), "eventstream v1.7.6, fixed in v1.7.8", "of each module that has it")
	require.NotContains(t, out.String(), "GO-2026-6604", "no function of it is reached")
	how, err := os.ReadFile(asked)
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(strings.TrimSpace(string(how)),
		"vulnerabilities/testdata linux/arm64 -format json -db "+database+" -tags a,b ./x"), string(how))
}

func TestRun_passesIfNothingIsReached(t *testing.T) {
	t.Parallel()
	path, _ := scanner(t, `echo '{"config":{"scan_level":"symbol"}} {"osv":{"id":"GO-1"}}`+
		` {"finding":{"osv":"GO-1","trace":[{"module":"m","package":"m/p"}]}}'`)
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), answering(t), path, one, &out))
	require.Equal(t, "functions: known vulnerabilities that it can reach: 0\n", out.String())
}

func TestRun_saysWhenItCouldNotLook(t *testing.T) {
	t.Parallel()
	found, _ := scanner(t, "cat "+recorded(t))
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(silent.Close)
	refusing := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(refusing.Close)
	for name, database := range map[string]string{
		"gone": gone.URL, "refusing": refusing.URL, "no folder": "file:///nowhere/at/all",
	} {
		err := run(t.Context(), database, found, one, &bytes.Buffer{})
		require.ErrorContains(t, err, "NOT CHECKED: the database was not reached: ", name)
	}
	require.ErrorContains(t, reach(t.Context(), silent.URL, 50*time.Millisecond), "deadline exceeded")
	for name, commands := range map[string]string{
		"lost on the way":  "echo 'fetching: no route to host' >&2; exit 1",
		"cut":              `echo '{"config":{"scan_level":"symbol"}} {"finding":'`,
		"silent":           "true",
		"modules are read": `echo '{"config":{"scan_level":"module"}}'`,
	} {
		path, _ := scanner(t, commands)
		require.ErrorContains(t, run(t.Context(), answering(t), path, one, &bytes.Buffer{}), "NOT CHECKED: functions: ", name)
	}
	require.NoError(t, run(t.Context(), answering(t), "", one, &bytes.Buffer{}), "only asked whether it answers")
}

func TestPrograms_areInTheirModules(t *testing.T) {
	t.Parallel()
	for _, p := range programs() {
		_, err := os.Stat(filepath.Join("..", "..", "..", p.folder, "go.mod"))
		require.NoError(t, err, p.name)
	}
}
