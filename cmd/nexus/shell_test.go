package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExamples_areAcceptedByTheirCommands(t *testing.T) {
	t.Parallel()
	_, top, _ := nexus(t, "--help")
	commands := 0
	for line := range strings.Lines(top) {
		name, _, found := strings.Cut(strings.TrimSpace(line), " ")
		if !found || !strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "   ") || strings.HasPrefix(name, "-") {
			continue
		}
		commands++
		code, help, _ := nexus(t, name, "--help")
		require.Equal(t, exitDone, code, name)
		_, shown, found := strings.Cut(help, "Examples:")
		require.True(t, found, "%s has no examples:\n%s", name, help)
		require.Contains(t, shown, "nexus "+name)
	}
	require.Equal(t, 17, commands, top)
}

func TestNexus_doesNotShowAlternativesAsNeededTogether(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"verify", "record"} {
		_, help, _ := nexus(t, command, "--help")
		usage, _, _ := strings.Cut(help, "\n")
		require.NotContains(t, usage, "--dev", "the usage shows what is always needed")
		require.Contains(t, help, "Either this or --")
		code, _, messages := nexus(t, command)
		require.Equal(t, exitUsage, code)
		require.Regexp(t, `^nexus: either --dev or --`, messages)
	}
}

func TestBearer_comesFromTheEnvironmentAlone(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"smoke", "--api", "http://127.0.0.1:1", "--token", "secret"},
		{"smoke", "--api", "http://127.0.0.1:1"},
		{"export", "--url", "https://nexus.example", "--user", "secret"}, // which is no local system
		{"import", "--url", "https://nexus.example", "--user", "secret", "x.ics"},
		{"export", "--url", "http://127.0.0.1:1"},
	} {
		code, _, messages := nexus(t, args...)
		require.Equal(t, exitUsage, code, "%v: %s", args, messages)
		require.NotContains(t, messages, "secret")
		require.NotContains(t, messages, "local platform", "%v: the command starts none", args)
	}
	code, _, messages := nexusAs(t, "secret", "export", "--url", "http://127.0.0.1:1")
	require.Equal(t, exitFailed, code, "it asks, and no server is there: %s", messages)
}

// offered returns what bash offers for a command line.
func offered(t *testing.T, script string, words ...string) []string {
	t.Helper()
	bash, err := exec.LookPath("bash")
	require.NoError(t, err)
	ask := `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _nexus; printf '%s\n' "${COMPREPLY[@]}"`
	command := exec.CommandContext(t.Context(), bash, append([]string{"--norc", "-c", ask, "bash", script}, words...)...)
	command.Dir = t.TempDir()
	out, err := command.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return strings.Fields(string(out))
}

func TestBashCompletion_offersCommandsFlagsAndValues(t *testing.T) {
	t.Parallel()
	_, text, _ := nexus(t, "completion", "bash")
	script := filepath.Join(t.TempDir(), "nexus.bash")
	require.NoError(t, os.WriteFile(script, []byte(text), 0o600))
	require.ElementsMatch(t, []string{"demo", "dev"}, offered(t, script, "nexus", "de"))
	require.Equal(t, []string{"--version"}, offered(t, script, "nexus", "--v"))
	require.ElementsMatch(t, []string{"--show-endpoint", "--store", "--sync-form"},
		offered(t, script, "nexus", "dev", "--s"))
	require.ElementsMatch(t, []string{"dynamodb", "memory"}, offered(t, script, "nexus", "dev", "--store", ""))
	require.Equal(t, []string{"--repair"}, offered(t, script, "nexus", "verify", "--dev", "http://x", "--rep"))
	require.Equal(t, []string{"fish"}, offered(t, script, "nexus", "completion", "f"))
	require.Empty(t, offered(t, script, "nexus", "dev", "--nothing"))
}

func TestCompletionCommand_writesAScriptThatEachShellTakes(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish"} {
		code, script, _ := nexus(t, "completion", shell)
		require.Equal(t, exitDone, code, shell)
		for _, word := range []string{"simulate", "show-endpoint", "schedule-dead-letter", "dynamodb memory"} {
			require.Contains(t, script, word, shell)
		}
		path, err := exec.LookPath(shell)
		if err != nil {
			t.Logf("%s is not installed: its script was not run through it", shell)
			continue
		}
		check := exec.CommandContext(t.Context(), path, "-n")
		check.Stdin = strings.NewReader(script)
		out, err := check.CombinedOutput()
		require.NoError(t, err, "%s -n: %s", shell, out)
	}
	code, _, _ := nexus(t, "completion", "tcsh")
	require.Equal(t, exitUsage, code)
}
