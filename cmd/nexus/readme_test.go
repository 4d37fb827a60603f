package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/local"
)

// fromReadme returns the block of code in README.md that begins with that line, without the line.
func fromReadme(t *testing.T, first string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(text), "\n```\n"+first+"\n")
	require.True(t, found, "README.md has no block that begins with %q", first)
	block, _, found := strings.Cut(rest, "\n```\n")
	require.True(t, found)
	return block + "\n"
}

// took is the one part of the demo's output that no clock of the test decides.
var took = regexp.MustCompile(`It took \d+\.\d s`)

// README.md shows the output of a demo that was started on a certain Sunday, with … for the lines that it leaves out.
func TestReadme_showsWhatTheDemoPrints(t *testing.T) {
	t.Parallel()
	began, sunday := time.Now(), time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	demo := demoCommand{Store: string(local.Memory), machine: func() time.Time { return sunday.Add(time.Since(began)) }}
	var out, messages bytes.Buffer
	require.NoError(t, demo.Run(t.Context(), outputs{results: &out, messages: &messages}), "%s%s", &out, &messages)
	mask := func(text string) string { return took.ReplaceAllString(text, "It took …") }
	rest := mask("\n" + out.String())
	parts := strings.Split(mask("\n"+fromReadme(t, "$ go run ./cmd/nexus demo --store memory")), "\n…")
	require.Greater(t, len(parts), 2)
	for _, part := range parts {
		_, after, found := strings.Cut(rest, part)
		require.True(t, found, "the demo does not print, after what stands before it in README.md:\n%s\nbut:\n%s", part, rest)
		rest = after
	}
	require.Empty(t, rest, "the last line is shown")
}

// The commands of README.md that call the system are run as they stand, against a system at another address.
func TestReadme_showsRequestsThatWork(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	require.NoError(t, err)
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("SKIPPED: curl is not installed, so the requests of README.md were not made")
	}
	p, err := local.Start(t.Context(), local.Options{Store: local.Memory, Addr: "127.0.0.1:0"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Stop(context.Background())) })
	const title = "curl -s -H 'Authorization: Bearer ann' -H 'Content-Type: application/json' \\"
	script := strings.ReplaceAll(title+"\n"+fromReadme(t, title), "http://127.0.0.1:8080", p.URL())
	require.Equal(t, 2, strings.Count(script, p.URL()), script)
	answers, err := exec.CommandContext(t.Context(), bash, "-euc", script).CombinedOutput()
	require.NoError(t, err, "%s", answers)
	const made = `"title":"Write the report"`
	require.Equal(t, 2, strings.Count(string(answers), made), "answered, and on the board: %s", answers)
}
