package functions_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/functions/env"
	"nexus/pkg/change"
	"nexus/pkg/consume"
	"nexus/pkg/entity"
	"nexus/pkg/eventsource"
	"nexus/pkg/reminders"
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
	text, err := os.ReadFile(filepath.Join("..", "docs", "operations.md"))
	require.NoError(t, err)
	return string(text)
}

func TestAParkedRecordIsRedrivenAsTheManualSays(t *testing.T) {
	t.Parallel()
	w := setup(t)
	const program = "{Records: [.record]}"
	require.Contains(t, manual(t), "jq -c '"+program+"'")
	payload := w.happen("stream-task-created")
	records, err := consume.Records(payload)
	require.NoError(t, err)
	parked := consume.Parked{Consumer: "stats", Reason: "the code had a mistake", ParkedAt: time.Now(), Record: records[1]}.Body()

	f := w.start(env.Projections)
	f.handled(jq(t, parked, "-c", program))
	w.requireTotals(1, 0, 0)
	f.handled(jq(t, parked, "-c", program)) // once more does no harm
	w.requireTotals(1, 0, 0)
}

func TestAFailureObjectIsRedrivenAsTheManualSays(t *testing.T) {
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

func TestSchedulesAreRebuiltFromAnExportAsTheManualSays(t *testing.T) {
	t.Parallel()
	w := setup(t)
	_, program, found := strings.Cut(manual(t), "```jq\n")
	require.True(t, found)
	program, _, _ = strings.Cut(program, "```")
	w.happen("stream-task-created")
	w.happen("stream-reminder-created")

	var export bytes.Buffer
	for _, name := range []string{"stream-task-created", "stream-reminder-created"} {
		var event struct {
			Records []struct {
				DynamoDB struct{ NewImage json.RawMessage } `json:"dynamodb"`
			}
		}
		require.NoError(t, json.Unmarshal(w.now(name), &event))
		for _, r := range event.Records {
			export.WriteString(`{"Item":`)
			require.NoError(t, json.Compact(&export, r.DynamoDB.NewImage))
			export.WriteString("}\n")
		}
	}
	file := filepath.Join(t.TempDir(), "items.jq")
	require.NoError(t, os.WriteFile(file, []byte(program), 0o600))
	require.Contains(t, manual(t), `jq -sc "{Records: .}"`)

	f := w.start(env.Effects)
	f.handled(jq(t, jq(t, export.Bytes(), "-c", "-f", file), "-sc", "{Records: .}"))
	w.requireSchedules(map[string]time.Time{
		reminders.ScheduleName(user, taskID, 30):    w.moved(present.Add(2*time.Hour + 30*time.Minute)),
		reminders.ScheduleName(user, fixedID, 0):    w.moved(present.Add(2 * time.Hour)),
		reminders.ScheduleName(user, floatingID, 0): w.moved(present.Add(20 * time.Hour)),
	})
	require.Empty(t, w.services.events(""))
	require.Nil(t, w.row(entity.ColdKey(user, taskID)))
}
