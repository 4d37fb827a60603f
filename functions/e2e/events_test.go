package e2e_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/readers"
	"nexus/pkg/product"
)

// filesOf returns the names of the files in events/ that fit the pattern.
func filesOf(t *testing.T, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("..", "..", "events", pattern))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for i, path := range paths {
		paths[i] = filepath.Base(path)
	}
	return paths
}

// payloadName is how events/README.md writes a payload's file.
var payloadName = regexp.MustCompile("`([a-z-]+)\\.json`")

// described reads events/README.md: which functions a payload, named without its ending, is for.
func described(t *testing.T) map[string][]env.Function {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "events", "README.md"))
	require.NoError(t, err)
	out := map[string][]env.Function{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 5 {
			continue
		}
		var functions []env.Function
		for _, f := range env.Functions() {
			if slices.Contains(strings.Split(strings.TrimSpace(cells[3]), ", "), string(f)) {
				functions = append(functions, f)
			}
		}
		for _, name := range payloadName.FindAllStringSubmatch(cells[1], -1) {
			require.NotEmpty(t, functions, "%s is for no function", name[1])
			out[name[1]] = functions
		}
	}
	return out
}

func TestFunctions_describeEveryPayloadOfEvents(t *testing.T) {
	t.Parallel()
	var names []string
	for _, name := range filesOf(t, "*.json") {
		if !strings.HasSuffix(name, ".schema.json") {
			names = append(names, strings.TrimSuffix(name, ".json"))
		}
	}
	require.ElementsMatch(t, names, slices.Collect(maps.Keys(described(t))))
}

func TestFunctions_receiveTheStreamPayloadsOfEventsByTheirFilters(t *testing.T) {
	t.Parallel()
	registry := product.Registry()
	for name, functions := range described(t) {
		if !strings.HasPrefix(name, "stream-") {
			continue
		}
		payload, err := os.ReadFile(filepath.Join("..", "..", "events", name+".json"))
		require.NoError(t, err)
		batch, err := change.Decode(payload, registry)
		require.NoError(t, err)
		var passed []env.Function
		for _, reader := range readers.Table(registry) {
			if !slices.ContainsFunc(batch,
				func(rec change.Decoded) bool { return rec.Err == nil && !reader.Filter.Match(recordOf(rec)) }) {
				passed = append(passed, env.Function(reader.Name))
			}
		}
		require.ElementsMatch(t, functions, passed, "%s", name)
	}
}

// recordOf returns as much of the record as a filter looks at.
func recordOf(rec change.Decoded) change.Record {
	names := map[change.Kind]change.EventName{
		change.Inserted: change.Insert, change.Modified: change.Modify, change.Removed: change.Remove,
		change.Expired: change.Remove,
	}
	return change.Record{Key: rec.Key, Name: names[rec.Change.Kind], Expired: rec.Change.Kind == change.Expired}
}

func TestFunctions_areTheReadersOfTheDeploymentTable(t *testing.T) {
	t.Parallel()
	for _, reader := range readers.Table(product.Registry()) {
		require.Contains(t, env.Functions(), env.Function(reader.Name))
	}
}
