package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/internal/cost"
)

func TestCapacityCommand_takesAStagesSettings(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "stage.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"ratePerSecond": 7, "reserve": {"notify": 11}}`), 0o600))
	code, results, messages := nexus(t, "capacity", "--users", "10", "--scale", "0.0001", "--settings", file, "--json")
	require.Equal(t, exitDone, code, messages)
	var got cost.Capacity
	require.NoError(t, json.Unmarshal([]byte(results), &got))
	limits := map[string]float64{}
	for _, b := range got.Bounds {
		limits[b.What] = b.Limit
	}
	require.InDelta(t, 7, limits["requests a second, of the stage"], 0)
	require.InDelta(t, 11, limits["notify at a time, in that minute"], 0)
	require.InDelta(t, 50, limits["effects at a time"], 0, "not set, and so the default")

	require.NoError(t, os.WriteFile(file, []byte(`{"ratePerSecond": "much"}`), 0o600))
	for _, wrong := range [][]string{
		{"--users", "0"}, {"--users", "10", "--peak", "0.5"}, {"--users", "10", "--settings", file}, {},
	} {
		code, _, messages = nexus(t, append([]string{"capacity", "--scale", "0.0001"}, wrong...)...)
		require.Equal(t, exitUsage, code, "%v: %s", wrong, messages)
	}
}
