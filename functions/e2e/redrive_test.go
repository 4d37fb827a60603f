package e2e_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/consume"
	"nexus/pkg/deploy/env"
	"nexus/pkg/eventsource"
)

// jq runs a program of docs/operations.md.
func jq(t *testing.T, in []byte, args ...string) []byte {
	t.Helper()
	if _, err := exec.LookPath("jq"); err != nil {
		t.Skip("no jq")
	}
	command := exec.CommandContext(t.Context(), "jq", args...)
	command.Stdin = bytes.NewReader(in)
	out, err := command.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		t.Fatalf("jq %q: %s", args, failed.Stderr)
	}
	require.NoError(t, err)
	return out
}

// manual is docs/operations.md.
func manual(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "operations.md"))
	require.NoError(t, err)
	return string(text)
}

func TestFunctions_redriveAParkedRecordAsTheManualSays(t *testing.T) {
	t.Parallel()
	w := setup(t)
	const program = "{Records: [.record]}"
	require.Contains(t, manual(t), "jq -c '"+program+"'")
	payload := w.happen("stream-task-created")
	records, err := consume.Records(payload)
	require.NoError(t, err)
	parked := consume.Parked{
		Consumer: "stats", Reason: "the code had a mistake", ParkedAt: time.Now(), Record: records[1],
	}.Body()

	f := w.start(env.Projections)
	f.handled(jq(t, parked, "-c", program))
	w.requireTotals(1, 0, 0)
	f.handled(jq(t, parked, "-c", program)) // once more does no harm
	w.requireTotals(1, 0, 0)
}

func TestFunctions_redriveAFailureObjectAsTheManualSays(t *testing.T) {
	t.Parallel()
	w := setup(t)
	const program = ".payload | fromjson"
	require.Contains(t, manual(t), "jq -c '"+program+"'")
	var failure eventsource.Failure
	raw, err := consume.Records(w.happen("stream-task-created"))
	require.NoError(t, err)
	for _, text := range raw {
		rec, err := change.Parse(text)
		require.NoError(t, err)
		failure.Records = append(failure.Records, rec)
	}
	object, err := failure.Object()
	require.NoError(t, err)
	f := w.start(env.Projections)
	f.handled(jq(t, object, "-c", program))
	w.requireTotals(1, 1, 0)
}

func TestFunctions_haveSettingsThatTheToolTakesAsTheManualSays(t *testing.T) {
	t.Parallel()
	w := setup(t)
	const program = `.Environment.Variables | del(.PEPPER) | to_entries[] | "export \(.key)=\(.value | @sh)"`
	require.Contains(t, manual(t), "jq -r '"+program+"'")
	variables := map[string]string{}
	for _, name := range env.Effects.Variables() {
		variables[name] = w.settings[name]
	}
	configuration, err := json.Marshal(map[string]any{"Environment": map[string]any{"Variables": variables}})
	require.NoError(t, err)
	script := jq(t, configuration, "-r", program)
	require.NotContains(t, string(script), spice, "the pepper stands in no file")
	require.Contains(t, variables, env.Pepper)
	delete(variables, env.Pepper)
	for name, value := range variables {
		out, err := exec.CommandContext(t.Context(), "sh", "-c", string(script)+`printf %s "$`+name+`"`).Output()
		require.NoError(t, err)
		require.Equal(t, value, string(out))
	}
}
