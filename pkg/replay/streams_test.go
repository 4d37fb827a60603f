package replay_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/consume"
	"nexus/pkg/product"
	"nexus/pkg/replay"
)

const streamFolder = "../../testdata/streams"

// rewriting says that golden files are to be rewritten: the flag is the one of the scripts.
func rewriting() bool { return flag.Lookup("rewrite").Value.String() == "true" }

func TestReplay_leadsEveryStreamToTheStateStoredBesideIt(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(streamFolder, "*.ndjson"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			body, err := os.ReadFile(file)
			require.NoError(t, err)
			records, err := consume.Records(body)
			require.NoError(t, err)
			reports, state := replayed(t, records)
			got := shown(reports) + state
			golden := strings.TrimSuffix(file, ".ndjson") + ".state"
			if rewriting() {
				require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), got)

			// Twice the stream, and each record twice, lead there too.
			var doubled []json.RawMessage
			for _, r := range records {
				doubled = append(doubled, r, r)
			}
			for _, other := range [][]json.RawMessage{append(records[:len(records):len(records)], records...), doubled} {
				_, again := replayed(t, other)
				require.Equal(t, withoutTimers(state), withoutTimers(again))
			}
		})
	}
}

// withoutTimers leaves out what a completion that comes again puts back until it is swept.
func withoutTimers(state string) string {
	var out strings.Builder
	for line := range strings.Lines(state) {
		if !strings.HasPrefix(line, "timer ") {
			out.WriteString(line)
		}
	}
	return out.String()
}

// replayed returns the reports and the state of a system of its own after the records.
func replayed(t *testing.T, records []json.RawMessage) ([]replay.Report, string) {
	t.Helper()
	system := newSystem()
	reports, err := system.Replay(t.Context(), system.Feeder, records)
	require.NoError(t, err)
	return reports, stateOf(t, system)
}

func newSystem() *replay.System {
	return replay.NewSystem(replay.Config{Registry: product.Registry(), Begin: time.Unix(0, 0).UTC()})
}

func stateOf(t *testing.T, system *replay.System) string {
	t.Helper()
	state, err := system.View().State(t.Context())
	require.NoError(t, err)
	return state.String()
}

func shown(reports []replay.Report) string {
	var b strings.Builder
	for _, r := range reports {
		fmt.Fprintf(&b, "%s: %d records, %d done, %d parked, %d unfinished, %d not for it\n", r.Consumer, r.Records, r.Done,
			r.Parked, r.Unfinished, r.Filtered)
		for _, trouble := range r.Troubles {
			fmt.Fprintf(&b, "  %s %s %s: %s\n", trouble.Outcome, trouble.Sequence, trouble.Key, trouble.Reason)
		}
	}
	return b.String()
}
