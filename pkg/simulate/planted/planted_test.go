package planted_test

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"nexus/pkg/simulate/planted"
)

// least is how many mistakes the simulation has to be held to (docs/correctness.md, "How it is proven").
const least = 25

func root(t *testing.T) string {
	dir, err := filepath.Abs(filepath.Join("..", "..", ".."))
	require.NoError(t, err)
	return dir
}

func TestEachMistakeFitsTheCodeAsItIs(t *testing.T) {
	t.Parallel()
	all := planted.All()
	require.GreaterOrEqual(t, len(all), least)
	names := map[string]bool{}
	for _, m := range all {
		require.False(t, names[m.Name], m.Name)
		names[m.Name] = true
		require.NotEmpty(t, m.Rule, m.Name)
		edited, err := m.Edited(root(t))
		require.NoError(t, err)
		for file, text := range edited {
			_, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
			require.NoError(t, err, m.Name)
		}
	}
}

func TestAnOverlayNamesACopyAndLeavesTheCodeAlone(t *testing.T) {
	t.Parallel()
	from, folder := t.TempDir(), t.TempDir()
	file := filepath.Join(from, "a.go")
	require.NoError(t, os.WriteFile(file, []byte("one two three"), 0o600))
	m := planted.Mistake{Name: "m", Edits: []planted.Edit{{"a.go", "two", "2"}, {"a.go", "three", "3"}}}
	path, err := m.Plant(from, folder)
	require.NoError(t, err)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var overlay struct{ Replace map[string]string }
	require.NoError(t, json.Unmarshal(text, &overlay))
	copied, err := os.ReadFile(overlay.Replace[file])
	require.NoError(t, err)
	require.Equal(t, "one 2 3", string(copied))
	original, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "one two three", string(original))
}

func TestTextThatIsNotThereOnceIsRefused(t *testing.T) {
	t.Parallel()
	from := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(from, "a.go"), []byte("one one two"), 0o600))
	for _, e := range []planted.Edit{{"a.go", "one", "1"}, {"a.go", "three", "3"}, {"a.go", "two", "two"}, {"b.go", "one", "1"}} {
		_, err := planted.Mistake{Name: "m", Edits: []planted.Edit{e}}.Edited(from)
		require.ErrorIs(t, err, planted.ErrOutdated, e.Old)
	}
}
