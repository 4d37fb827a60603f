package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/internal/cost"
	"nexus/internal/tools/stacks"
)

// ready returns a deployment whose issuer is the server, over a stack with these outputs.
func ready(t *testing.T, server *httptest.Server, outputs map[string]string, changelog string) flight {
	t.Helper()
	path := filepath.Join(t.TempDir(), "CHANGELOG.md")
	require.NoError(t, os.WriteFile(path, []byte(changelog), 0o600))
	return flight{
		stage: "dev", settings: values{"issuer": server.URL}.read(), changelog: path, client: server.Client(),
		month: func(context.Context) (*cost.Month, error) { return month(), nil },
		stacks: &stacks.Reader{Run: func(_ context.Context, _ []string, args ...string) ([]byte, error) {
			if args[0] == "service-quotas" {
				return []byte("[]"), nil
			}
			if args[0] == "ssm" {
				return []byte(parameters()[args[slices.Index(args, "--name")+1]] + "\n"), nil
			}
			require.Contains(t, args, "nexus-dev")
			if outputs == nil {
				return nil, errors.New("Stack with id nexus-dev does not exist")
			}
			pairs := [][2]string{}
			for name, value := range outputs {
				pairs = append(pairs, [2]string{name, value})
			}
			return json.Marshal(pairs)
		}},
	}
}

func answering(t *testing.T, status int, document func(own string) string) *httptest.Server {
	t.Helper()
	var server *httptest.Server
	server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/.well-known/openid-configuration" {
			http.NotFound(w, r)
			return
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(document(server.URL)))
	}))
	t.Cleanup(server.Close)
	return server
}

func whole(own string) string { return `{"issuer":"` + own + `","jwks_uri":"` + own + `/keys"}` }

const log = "# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-11-25\n\n- B.\n\n## [0.1.0] - 2026-11-23\n\n- A.\n"

func TestFlight_isReadyWhenIssuerAndReleaseAre(t *testing.T) {
	t.Parallel()
	server := answering(t, http.StatusOK, whole)
	for _, outputs := range []map[string]string{
		nil, {}, {"Address": "x"}, {"Release": "0.1.0", "ReleaseBefore": "0.1.0"},
		{"Release": "0.2.0", "ReleaseBefore": "0.1.0"},
		{"Release": "0.3.0", "ReleaseBefore": "0.2.0"},
	} {
		var out bytes.Buffer
		require.NoError(t, ready(t, server, outputs, log).check(t.Context(), &out))
		require.Contains(t, out.String(), "the issuer answers at "+server.URL+"/.well-known/openid-configuration")
		require.Contains(t, out.String(), "this is 0.2.0")
	}
}

func TestCheckRelease_refusesToGoBackByMoreThanOne(t *testing.T) {
	t.Parallel()
	server := answering(t, http.StatusOK, whole)
	f := ready(t, server, map[string]string{"Release": "0.4.0", "ReleaseBefore": "0.3.0"}, log)
	require.ErrorContains(t, f.check(t.Context(), &bytes.Buffer{}), "release 0.4.0 is deployed")
	f.stacks.Run = func(context.Context, []string, ...string) ([]byte, error) { return nil, errors.New("no credentials") }
	require.ErrorContains(t, f.check(t.Context(), &bytes.Buffer{}), "no credentials", "what is deployed is not known")
}

func TestCheckIssuer_namesTheAddressThatFails(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		status   int
		document func(string) string
		want     string
	}{
		"missing":        {http.StatusNotFound, whole, "answers 404"},
		"no document":    {http.StatusOK, func(string) string { return "<html>" }, "is no document of an issuer"},
		"another issuer": {http.StatusOK, func(string) string { return whole("https://id.x") }, "names \"https://id.x"},
		"no keys":        {http.StatusOK, func(own string) string { return `{"issuer":"` + own + `"}` }, "has no jwks_uri"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := answering(t, tt.status, tt.document)
			err := ready(t, server, nil, log).check(t.Context(), &bytes.Buffer{})
			require.ErrorContains(t, err, tt.want)
			require.ErrorContains(t, err, server.URL+"/.well-known/openid-configuration")
		})
	}
	f := ready(t, answering(t, http.StatusOK, whole), nil, log)
	f.settings.Values["issuer"] = "https://127.0.0.1:1"
	require.ErrorContains(t, f.check(t.Context(), &bytes.Buffer{}), "https://127.0.0.1:1/.well-known/openid-configuration")
	f.settings.Values["identity"] = "cognito"
	require.NoError(t, f.check(t.Context(), &bytes.Buffer{}), "the deployment makes it")
}

func TestCheck_refusesSettingsOfAWrongForm(t *testing.T) {
	t.Parallel()
	f := ready(t, answering(t, http.StatusOK, whole), nil, log)
	f.settings.Values["ratePerSecond"], f.settings.Values["edge"] = "many", "perhaps"
	err := f.check(t.Context(), &bytes.Buffer{})
	require.ErrorContains(t, err, "ratePerSecond: want a whole number")
	require.ErrorContains(t, err, "edge: want true or false")
}

func TestReadSettings_prefersWhatTheCDKIsTold(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "..", "..", "cdk.json")
	s, err := readSettings(path, "prod", nil)
	require.NoError(t, err)
	require.Equal(t, "https://id.example.com", s.Text("issuer"))
	require.True(t, s.Flag("protected"))
	for _, flags := range [][]string{
		{"-c", "issuer=https://a.example/x=1", "--verbose"}, {"--context=issuer=https://a.example/x=1"},
		{"--context", "issuer=https://a.example/x=1", "-c"},
	} {
		s, err = readSettings(path, "prod", flags)
		require.NoError(t, err)
		require.Equal(t, "https://a.example/x=1", s.Text("issuer"))
	}
	s, err = readSettings(path, "dev", []string{"-c", "protected=true", "-c", "reserve=effects=80,walk=12"})
	require.NoError(t, err)
	require.True(t, s.Flag("protected"))
	require.Equal(t, map[string]int{"effects": 80, "walk": 12}, s.Numbers("reserve"))
	_, err = readSettings(path, "test", nil)
	require.ErrorContains(t, err, "no stage test")
}
