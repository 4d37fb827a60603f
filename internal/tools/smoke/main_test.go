package main

import (
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

	"nexus/internal/tools/stacks"
)

// told answers for the AWS command line with the outputs of stacks, and with a client's secret.
func told(outputs map[string]map[string]string) *stacks.Reader {
	return &stacks.Reader{Run: func(_ context.Context, _ []string, args ...string) ([]byte, error) {
		if args[0] == "cognito-idp" {
			return []byte("hush\n"), nil
		}
		of, ok := outputs[args[slices.Index(args, "--stack-name")+1]]
		if !ok {
			return nil, errors.New("it does not exist")
		}
		pairs := [][2]string{}
		for name, value := range of {
			pairs = append(pairs, [2]string{name, value})
		}
		return json.Marshal(pairs)
	}}
}

// program writes a program that keeps its arguments and its token in a file, and returns both paths.
func program(t *testing.T) (path, kept string) {
	t.Helper()
	folder := t.TempDir()
	path, kept = filepath.Join(folder, "nexus"), filepath.Join(folder, "kept")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\necho \"$* $NEXUS_TOKEN\" > "+kept+"\n"), 0o755))
	return path, kept
}

func TestSmoke_runsWithATokenOfTheStagesOwnIssuer(t *testing.T) {
	t.Parallel()
	issuer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		client, secret, _ := r.BasicAuth()
		if r.URL.Path != "/oauth2/token" || r.Method != http.MethodPost || client != "canary" || secret != "hush" ||
			r.FormValue("grant_type") != "client_credentials" || r.FormValue("scope") != "nexus/read nexus/write" {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(`{"error":"invalid_client"}`))
			return
		}
		_, _ = w.Write([]byte(`{"access_token":"given","token_type":"Bearer"}`))
	}))
	defer issuer.Close()
	outputs := map[string]map[string]string{
		"nexus-dev":          {"Address": "https://nexus.example.net"},
		"nexus-identity-dev": {"UserPool": "pool", "CanaryClient": "canary", "Login": issuer.URL},
	}
	path, kept := program(t)
	s := smoke{stage: "dev", client: issuer.Client(), stacks: told(outputs)}
	require.NoError(t, s.run(t.Context(), path))
	text, err := os.ReadFile(kept)
	require.NoError(t, err)
	require.Equal(t, "smoke --api https://nexus.example.net given\n", string(text))

	outputs["nexus-identity-dev"]["CanaryClient"] = "another"
	err = s.run(t.Context(), path)
	require.ErrorContains(t, err, "invalid_client")
	require.NotContains(t, err.Error(), "hush")
}

func TestSmoke_takesTheTokenOfTheEnvironmentAndSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	outputs := map[string]map[string]string{"nexus-dev": {"Address": "https://nexus.example.net"}, "nexus-prod": {}}
	path, kept := program(t)
	s := smoke{stage: "dev", own: "mine", stacks: told(outputs)}
	require.NoError(t, s.run(t.Context(), path))
	text, err := os.ReadFile(kept)
	require.NoError(t, err)
	require.Equal(t, "smoke --api https://nexus.example.net mine\n", string(text))

	s.own = ""
	require.ErrorContains(t, s.run(t.Context(), path), "set NEXUS_TOKEN")
	s.stage = "prod"
	require.ErrorContains(t, s.run(t.Context(), path), "it is not deployed")
	s.stage, s.own = "dev", "mine"
	require.Error(t, s.run(t.Context(), filepath.Join(t.TempDir(), "none")))
}
