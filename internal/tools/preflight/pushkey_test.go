package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/internal/tools/stacks"
	"nexus/pkg/deliver/webpush"
	"nexus/pkg/webhook"
)

// parameters are those of a push key.
var parameters = sync.OnceValue(func() map[string]string {
	key, err := webpush.NewKey(rand.Reader)
	if err != nil {
		panic(err)
	}
	return map[string]string{
		"/nexus/push": key.Text(), "/nexus/push-public:1": key.Public(), "/nexus/webhooks": strings.Repeat("m", 42) + "k",
	}
})

func TestCheckPushKey_comparesTheParametersAndPrintsNoValue(t *testing.T) {
	t.Parallel()
	other, err := webpush.NewKey(rand.Reader)
	require.NoError(t, err)
	for _, one := range []struct{ name, value, says string }{
		{"", "", "the parameters of the push key belong together"},
		{"/nexus/push", "", "refused: parameter /nexus/push: ParameterNotFound"},
		{"/nexus/push-public:1", "", "refused: parameter /nexus/push-public:1: ParameterNotFound"},
		{"/nexus/push", "hush", "refused: push key: /nexus/push: the key is not 32 bytes"},
		{"/nexus/push", other.Text(), "refused: push key: /nexus/push is not the secret of /nexus/push-public"},
	} {
		kept := maps.Clone(parameters())
		if one.name != "" {
			kept[one.name] = one.value
		}
		f := flight{settings: values{}.read(), stacks: &stacks.Reader{
			Run: func(_ context.Context, _ []string, args ...string) ([]byte, error) {
				name := args[slices.Index(args, "--name")+1]
				require.Equal(t, name == "/nexus/push", slices.Contains(args, "--with-decryption"))
				if kept[name] == "" {
					return nil, errors.New("ParameterNotFound")
				}
				return []byte(kept[name] + "\n"), nil
			},
		}}
		want(t, one.says, f.checkPushKey)
		says, err := f.checkPushKey(t.Context())
		for _, value := range []string{"hush", other.Text(), parameters()["/nexus/push"]} {
			require.NotContains(t, says, value)
			require.False(t, err != nil && strings.Contains(err.Error(), value))
		}
	}
}

func TestCheckHookKey_asksForASecretAndPrintsNoValue(t *testing.T) {
	t.Parallel()
	for _, one := range []struct{ value, says string }{
		{strings.Repeat("m", 42) + "k", "the secret of webhooks is there"},
		{"", "refused: parameter /nexus/webhooks: ParameterNotFound"},
		{"hush", "refused: secret of webhooks: /nexus/webhooks: " + webhook.ErrMaster.Error()},
	} {
		f := flight{settings: values{}.read(), stacks: &stacks.Reader{
			Run: func(_ context.Context, _ []string, args ...string) ([]byte, error) {
				require.Equal(t, "/nexus/webhooks", args[slices.Index(args, "--name")+1])
				require.Contains(t, args, "--with-decryption")
				if one.value == "" {
					return nil, errors.New("ParameterNotFound")
				}
				return []byte(one.value + "\n"), nil
			},
		}}
		want(t, one.says, f.checkHookKey)
	}
}

// The command of docs/deploy.md makes a secret of webhooks that passes.
func TestCheckHookKey_acceptsWhatTheDocumentMakes(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip("openssl is not installed")
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "deploy.md"))
	require.NoError(t, err)
	_, line, found := strings.Cut(string(text), "--name /nexus/webhooks --type SecureString --value ")
	require.True(t, found)
	line, _, _ = strings.Cut(line, "   #")
	made, err := exec.CommandContext(t.Context(), "sh", "-c", "echo "+line).Output()
	require.NoError(t, err)
	_, err = webhook.ParseMaster(strings.TrimSpace(string(made)))
	require.NoError(t, err)
}

// The commands of docs/deploy.md make a pair of parameters that passes.
func TestCheckPushKey_acceptsWhatTheDocumentMakes(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip("openssl is not installed")
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "deploy.md"))
	require.NoError(t, err)
	var script []string
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, "push.der") {
			script = append(script, line)
		}
	}
	require.Len(t, script, 4)
	// A function in the place of the AWS command line prints what it would store.
	const aws = `set -e
aws() {
  shift 2
  while [ $# -gt 0 ]; do
    case $1 in --name) name=$2 ;; --value) value=$2 ;; esac
    shift 2
  done
  echo "$name $value"
}
`
	cmd := exec.CommandContext(t.Context(), "sh", "-c", aws+strings.Join(script, ""))
	cmd.Dir = t.TempDir()
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	require.NoError(t, cmd.Run(), "%s", &complaints)
	made := map[string]string{}
	for line := range strings.Lines(out.String()) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		made[name] = value
	}
	key, err := webpush.ParseKey(made["/nexus/push"])
	require.NoError(t, err)
	require.Equal(t, key.Public(), made["/nexus/push-public"])
	left, err := os.ReadDir(cmd.Dir)
	require.NoError(t, err)
	require.Empty(t, left, "the secret stays nowhere")
}
