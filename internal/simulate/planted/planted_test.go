package planted_test

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"nexus/internal/long"
	"nexus/internal/simulate/planted"
)

// least is how many mistakes the simulation has to be held to (docs/correctness.md, "How it is proven").
const least = 25

func root(t *testing.T) string {
	dir, err := filepath.Abs(filepath.Join("..", "..", ".."))
	require.NoError(t, err)
	return dir
}

func TestMistake_eachFitsTheCodeAsItIs(t *testing.T) {
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
		if m.Test != (planted.Test{}) {
			require.True(t, hasTest(t, m.Test), "%s: there is no %v", m.Name, m.Test)
		}
	}
}

// hasTest reports whether the package's folder has a file with the test.
func hasTest(t *testing.T, wanted planted.Test) bool {
	files, err := filepath.Glob(filepath.Join(root(t), filepath.FromSlash(wanted.Package), "*_test.go"))
	require.NoError(t, err)
	return slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		return strings.Contains(string(text), "\nfunc "+wanted.Name+"(t *testing.T)")
	})
}

func TestHunter_runsTheTestOfAMistake(t *testing.T) {
	t.Parallel()
	module := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module m\n\ngo 1.24\n", "one.go": "package one\n\nfunc one() int { return 1 }\n",
		"one_test.go": "package one\n\nimport \"testing\"\n\n" +
			"func TestOne(t *testing.T) {\n\tif one() != 1 {\n\t\tt.Fatal(one())\n\t}\n}\n\n" +
			"func TestBlind(t *testing.T) { one() }\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(module, name), []byte(text), 0o600))
	}
	hunter := planted.Hunter{Root: module, Folder: t.TempDir()}
	m := planted.Mistake{Name: "m", Test: planted.Test{Package: ".", Name: "TestOne"}, Edits: []planted.Edit{
		{"one.go", "return 1", "return 2"},
	}}
	c, err := hunter.Hunt(t.Context(), m)
	require.NoError(t, err)
	require.True(t, c.Caught)
	require.Equal(t, "TestOne", c.Invariant)
	require.Contains(t, planted.Table([]planted.Mistake{m}, map[string]planted.Catch{"m": c}, ""), "| TestOne |  |  | ")
	m.Test.Name = "TestBlind"
	c, err = hunter.Hunt(t.Context(), m)
	require.NoError(t, err)
	require.False(t, c.Caught)
	m.Test.Name = "TestNone"
	_, err = hunter.Hunt(t.Context(), m)
	require.ErrorIs(t, err, planted.ErrOutdated)
	m.Edits[0].New = "return two"
	_, err = hunter.Hunt(t.Context(), m)
	require.ErrorContains(t, err, "undefined: two", "what does not compile is no catch")
}

// quick are mistakes of each kind that a few histories show; make planted plants all.
var quick = []string{
	"ledger-no-hour-rule", "reminders-deletion-forgotten", "archive-without-cold-row", "loop-parks-throttling",
}

func TestHunter_catchesMistakesOfEachKind(t *testing.T) {
	t.Parallel()
	long.Only(t, "builds nexus several times")
	byName := map[string]planted.Mistake{}
	for _, m := range planted.All() {
		byName[m.Name] = m
	}
	hunter := planted.Hunter{Root: root(t), Folder: t.TempDir(), Limit: 10 * time.Second}
	for _, name := range quick {
		require.Contains(t, byName, name)
		c, err := hunter.Hunt(t.Context(), byName[name])
		require.NoError(t, err)
		require.True(t, c.Caught, "%s: %s", name, c)
	}
}

func TestTable_hasEveryMistake(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root(t), "docs", "planted.md"))
	require.NoError(t, err)
	rows := 0
	for _, m := range planted.All() {
		require.Contains(t, string(text), "| "+m.Name+" | ", "make planted writes it")
		rows++
	}
	require.Equal(t, rows, strings.Count(string(text), "\n| ")-2, "and nothing else is in it")
	require.NotContains(t, string(text), "| **nothing** |")
}

func TestTable_keepsWhatWasNotPlantedThisTime(t *testing.T) {
	t.Parallel()
	mistakes := []planted.Mistake{
		{Name: "a", Rule: "x|y", Edits: []planted.Edit{{File: "pkg/b/c.go"}}}, {Name: "b", Rule: "z"}, {Name: "new"},
	}
	former := planted.Table(mistakes, map[string]planted.Catch{"a": {Caught: true, Invariant: "I1", Seed: 7},
		"b": {Caught: true, Invariant: "I2", Seed: 8}}, "")
	require.Contains(t, former, "| a | x\\|y | b/c.go | I1 | 7 | 0 | 0.0 |\n| b | z |  | I2 | 8 | 0 | 0.0 |\n")
	now := planted.Table(mistakes, map[string]planted.Catch{"b": {Histories: 9, Took: time.Second}}, former)
	require.Contains(t, now, "| a | x\\|y | b/c.go | I1 | 7 | 0 | 0.0 |\n| b | z |  | **nothing** |  | 9 | 1.0 |\n")
	require.NotContains(t, now, "| new |")
}

func TestMistake_plantsACopyAndLeavesTheCodeAlone(t *testing.T) {
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

func TestMistake_refusesTextThatIsNotThereExactlyOnce(t *testing.T) {
	t.Parallel()
	from := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(from, "a.go"), []byte("one one two"), 0o600))
	for _, e := range []planted.Edit{
		{"a.go", "one", "1"}, {"a.go", "three", "3"}, {"a.go", "two", "two"}, {"b.go", "one", "1"},
	} {
		_, err := planted.Mistake{Name: "m", Edits: []planted.Edit{e}}.Edited(from)
		require.ErrorIs(t, err, planted.ErrOutdated, e.Old)
	}
}
