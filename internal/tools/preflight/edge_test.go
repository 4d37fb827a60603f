package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/internal/tools/stacks"
)

func TestCheckSecret_comparesBothRegionsAndPrintsNoValue(t *testing.T) {
	t.Parallel()
	kept := map[string]string{"/nexus/edge:1": "hush", "/nexus/edge:1 us-east-1": "hush",
		"/nexus/edge:2": "quiet", "/nexus/edge:2 us-east-1": "loud", "/nexus/edge:3": "quiet"}
	for _, one := range []struct {
		settings values
		says     string
	}{
		{values{"edge": true}, "is the same in both regions"},
		{values{"edge": "true", "edgeSecret": "1"}, "is the same in both regions"},
		{values{"edge": true, "edgeSecret": 2.0}, "refused: edge: /nexus/edge:2 differs between the stage's region and us-"},
		{values{"edge": true, "edgeSecret": 3.0}, "refused: edge: /nexus/edge:3 in us-east-1: ParameterVersionNotFound"},
		{values{"edge": true, "edgeSecret": 4.0}, "refused: edge: /nexus/edge:4 in the stage's region: Parameter"},
		{values{"edgeSecret": 2.0}, "no edge"},
	} {
		f := flight{settings: one.settings.read(), stacks: &stacks.Reader{
			Run: func(_ context.Context, _ []string, args ...string) ([]byte, error) {
				name := args[slices.Index(args, "--name")+1]
				if i := slices.Index(args, "--region"); i >= 0 {
					name += " " + args[i+1]
				}
				if kept[name] == "" {
					return nil, errors.New("ParameterVersionNotFound")
				}
				return []byte(kept[name]), nil
			},
		}}
		want(t, one.says, f.checkSecret)
		says, err := f.checkSecret(t.Context())
		for value := range maps.Values(kept) {
			require.NotContains(t, says, value)
			require.False(t, err != nil && strings.Contains(err.Error(), value))
		}
	}
}

// The shell of the page puts the parameter once into each region: a second time, without --overwrite, is refused.
func TestCheckSecret_findsWhatTheDocumentPuts(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "deploy.md"))
	require.NoError(t, err)
	block := regexp.MustCompile("(?s)```\n( *secret=.*?)```").FindSubmatch(page)
	require.NotNil(t, block)
	bin := t.TempDir()
	for name, does := range map[string]string{"aws": `echo "$*"`, "openssl": "echo hush"} {
		require.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+does+"\n"), 0o700))
	}
	for region, puts := range map[string]int{"eu-central-1": 2, "us-east-1": 1} {
		shell := exec.CommandContext(t.Context(), "bash", "-euc", strings.ReplaceAll(string(block[1]), "REGION", region))
		shell.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH")}
		out, err := shell.Output()
		require.NoError(t, err)
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		require.Len(t, lines, puts)
		for _, line := range lines {
			require.Regexp(t, `^ssm put-parameter --region (us-east-1|`+region+`) --name /nexus/edge --type String `+
				`--value hush$`, line)
		}
		require.Len(t, slices.Compact(lines), puts)
	}
}

// signing returns an issuer whose set has one key with these members besides.
func signing(t *testing.T, more map[string]any) *httptest.Server {
	t.Helper()
	modulus := new(big.Int).Lsh(big.NewInt(3), 2046) // 2,048 bits
	key := map[string]any{
		"kty": "RSA", "kid": "k1", "e": "AQAB",
		"n": base64.RawURLEncoding.EncodeToString(modulus.Add(modulus, big.NewInt(1)).Bytes()),
	}
	maps.Copy(key, more)
	set, err := json.Marshal(map[string]any{"keys": []any{key}})
	require.NoError(t, err)
	var server *httptest.Server
	server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := set
		if r.URL.Path != "/keys" {
			text = []byte(whole(server.URL))
		}
		_, _ = w.Write(text)
	}))
	t.Cleanup(server.Close)
	return server
}

func TestCheckKeys_looksForOneThatAFunctionTakes(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		more map[string]any
		says string
	}{
		{nil, "can check tokens: 1"},
		{map[string]any{"alg": "RS256", "use": "sig"}, "can check tokens: 1"},
		{map[string]any{"kid": nil}, "refused: keys, with which functions check tokens: the issuer has no key for RS256"},
		{map[string]any{"alg": "ES256"}, "refused: keys"}, {map[string]any{"use": "enc"}, "refused: keys"},
		{map[string]any{"kty": "oct", "k": "AAAA"}, "refused: keys"},
	} {
		f := ready(t, signing(t, one.more), nil, log)
		want(t, "no function needs keys", f.checkKeys)
		f.settings.Values["door"] = "direct"
		want(t, one.says, f.checkKeys)
		require.Equal(t, strings.HasPrefix(one.says, "refused"), f.check(t.Context(), &bytes.Buffer{}) != nil)
		f.settings.Values["identity"] = "cognito"
		want(t, "no function needs keys that are not there", f.checkKeys)
	}
}
