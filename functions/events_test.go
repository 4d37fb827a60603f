package functions_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/functions/env"
	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/eventsource"
)

// filesOf returns the names of the files in events/ that fit the pattern.
func filesOf(t *testing.T, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("..", "events", pattern))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for i, path := range paths {
		paths[i] = filepath.Base(path)
	}
	return paths
}

func TestEveryFileOfEventsIsDescribed(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "events", "README.md"))
	require.NoError(t, err)
	for _, name := range filesOf(t, "*.json") {
		if !strings.HasSuffix(name, ".schema.json") {
			require.Contains(t, string(text), "`"+name+"`")
		}
	}
}

func TestEveryStreamPayloadPassesTheFilterOfTheFunctionsItIsDescribedFor(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "events", "README.md"))
	require.NoError(t, err)
	registry := entity.Product()
	for _, name := range filesOf(t, "stream-*.json") {
		var described string
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, "`"+name+"`") {
				cells := strings.Split(line, "|")
				described = strings.TrimSpace(cells[len(cells)-2])
			}
		}
		payload, err := os.ReadFile(filepath.Join("..", "events", name))
		require.NoError(t, err)
		batch, err := change.Decode(payload, registry)
		require.NoError(t, err)
		var passed []string
		for _, reader := range eventsource.Deployment(registry) {
			if !slices.ContainsFunc(batch, func(rec change.Decoded) bool { return rec.Err == nil && !reader.Filter.Match(recordOf(rec)) }) {
				passed = append(passed, reader.Name)
			}
		}
		require.Equal(t, described, strings.Join(passed, ", "), "%s", name)
	}
}

// recordOf returns as much of the record as a filter looks at.
func recordOf(rec change.Decoded) change.Record {
	names := map[change.Kind]change.EventName{
		change.Inserted: change.Insert, change.Modified: change.Modify, change.Removed: change.Remove, change.Expired: change.Remove,
	}
	return change.Record{Key: rec.Key, Name: names[rec.Change.Kind], Expired: rec.Change.Kind == change.Expired}
}

func TestEveryReaderOfTheDeploymentTableIsAFunction(t *testing.T) {
	t.Parallel()
	for _, reader := range eventsource.Deployment(entity.Product()) {
		require.Contains(t, env.Functions(), env.Function(reader.Name))
	}
}
