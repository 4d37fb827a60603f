package mutants_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/internal/long"
	"nexus/internal/simulate/mutants"
)

func TestRead_skipsMutantsThatDoNotCompile(t *testing.T) {
	t.Parallel()
	all, err := mutants.Read([]byte(`{"go_module":"nexus","files":[{"file_name":"a.go","mutations":[
		{"type":"INVERT_LOGICAL","status":"LIVED","line":3,"column":9},
		{"type":"ARITHMETIC_BASE","status":"NOT VIABLE","line":4,"column":9},
		{"type":"ARITHMETIC_BASE","status":"KILLED","line":5,"column":9}]}]}`))
	require.NoError(t, err)
	require.Equal(t,
		[]mutants.Mutant{{"a.go", "INVERT_LOGICAL", 3, 9}, {"a.go", "ARITHMETIC_BASE", 5, 9}}, all)
	for _, text := range []string{"", "{}", `{"files":[]}`, `[1]`} {
		_, err := mutants.Read([]byte(text))
		require.ErrorIs(t, err, mutants.ErrReport, text)
	}
}

func TestApply_changesOneOperator(t *testing.T) {
	t.Parallel()
	const source = "package p\n\nfunc f(a, b int) bool {\n\tfor {\n\t\tbreak\n\t}\n\treturn a < b && a+b > -1\n}\n"
	for _, c := range []struct {
		kind         string
		line, column int
		want         string
	}{
		{"CONDITIONALS_BOUNDARY", 7, 11, "a <= b && a+b > -1"},
		{"CONDITIONALS_NEGATION", 7, 11, "a >= b && a+b > -1"},
		{"INVERT_LOGICAL", 7, 15, "a < b || a+b > -1"},
		{"ARITHMETIC_BASE", 7, 19, "a < b && a-b > -1"},
		{"INVERT_NEGATIVES", 7, 24, "a < b && a+b > +1"},
		{"INVERT_LOOPCTRL", 5, 3, "continue"},
	} {
		m := mutants.Mutant{File: "a.go", Type: c.kind, Line: c.line, Column: c.column}
		out, err := m.Apply([]byte(source))
		require.NoError(t, err, m)
		require.Contains(t, string(out), c.want)
	}
	_, err := mutants.Mutant{File: "a.go", Type: "INVERT_LOGICAL", Line: 7, Column: 11}.Apply([]byte(source))
	require.ErrorIs(t, err, mutants.ErrPlace)
}

func TestApply_keepsTheOperandsOfAnOperator(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		condition string
		column    int
		want      string
	}{
		{"a && b && c", 11, "(a || b) && c"},
		{"a && b && c", 16, "a && b || c"},
		{"a || b || c", 16, "(a || b) && c"},
		{"a && b || c", 11, "a || b || c"},
		{"a && b || c", 16, "a && b && c"},
	} {
		source := "package p\n\nfunc f(a, b, c bool) bool {\n\treturn " + c.condition + "\n}\n"
		m := mutants.Mutant{File: "a.go", Type: "INVERT_LOGICAL", Line: 4, Column: c.column}
		out, err := m.Apply([]byte(source))
		require.NoError(t, err, c.condition)
		require.Contains(t, string(out), "return "+c.want+"\n", "%s at %d", c.condition, c.column)
	}
	_, err := mutants.Mutant{File: "a.go", Type: "INVERT_LOGICAL", Line: 1, Column: 1}.Apply([]byte("no Go"))
	require.ErrorContains(t, err, "mutate a.go:1:1")
}

// tree is a module with a function and a test that knows one side of it alone.
func tree(t *testing.T) string {
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":     "module nexus\n\ngo 1.26\n",
		"pkg/p/p.go": "package p\n\n// F is positive, or not.\nfunc F(n int) bool { return n > 0 }\n",
		"pkg/p/p_test.go": "package p\n\nimport \"testing\"\n\nfunc TestF(t *testing.T) {\n\tif !F(1) {\n\t\tt.Fatal()\n" +
			"\t}\n}\n",
		"cmd/nexus/main.go": "package main\n\nimport (\n\t\"fmt\"\n\t\"os\"\n\n\t\"nexus/pkg/p\"\n)\n\nfunc main() {\n" +
			"\tif os.Args[1] == \"simulate\" && p.F(0) {\n\t\tfmt.Println(`{\"violations\":[{}]}`)\n\t\tos.Exit(1)\n\t}\n}\n",
	} {
		path := filepath.Join(root, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return root
}

func TestHunter_playsTheSimulationAgainstWhatPassesTheTests(t *testing.T) {
	t.Parallel()
	long.Only(t, "builds a program several times")
	h := mutants.Hunter{
		Root: tree(t), Folder: t.TempDir(), Seeds: 1, Tests: []string{"./pkg/p"}, Patience: 2 * time.Minute,
	}
	mutant := func(kind string) mutants.Mutant { return mutants.Mutant{File: "p.go", Type: kind, Line: 4, Column: 31} }
	fate, err := h.Fate(t.Context(), "p", mutant("CONDITIONALS_NEGATION"))
	require.NoError(t, err)
	require.Equal(t, mutants.ByTests, fate)
	fate, err = h.Fate(t.Context(), "p", mutant("CONDITIONALS_BOUNDARY"))
	require.NoError(t, err)
	require.Equal(t, mutants.BySimulation, fate)
	h.Seeds = 0
	fate, err = h.Fate(t.Context(), "p", mutant("CONDITIONALS_BOUNDARY"))
	require.NoError(t, err)
	require.Equal(t, mutants.Survived, fate)
}

// The command go takes whatever follows a flag after a package for an argument of the tests.
func TestHunter_runsTheTestsOfAPackageThatAFlagPrecedes(t *testing.T) {
	t.Parallel()
	long.Only(t, "builds a program")
	root := tree(t)
	require.NoError(t, os.Mkdir(filepath.Join(root, "pkg", "q"), 0o700))
	test := "package q\n\nimport (\n\t\"testing\"\n\n\t\"nexus/pkg/p\"\n)\n\n" +
		"func TestF(t *testing.T) {\n\tif p.F(0) {\n\t\tt.Fatal()\n\t}\n}\n"
	require.NoError(t, os.WriteFile(filepath.Join(root, "pkg", "q", "q_test.go"), []byte(test), 0o600))
	h := mutants.Hunter{
		Root: root, Folder: t.TempDir(), Tests: []string{"./pkg/p", "-short", "./pkg/q"}, Patience: 2 * time.Minute,
	}
	fate, err := h.Fate(t.Context(), "p", mutants.Mutant{File: "p.go", Type: "CONDITIONALS_BOUNDARY", Line: 4, Column: 31})
	require.NoError(t, err)
	require.Equal(t, mutants.ByTests, fate)
}

// A program that cannot be started has judged nothing: its mutant is not killed.
func TestHunter_killsNoMutantWithAProgramThatCannotBeStarted(t *testing.T) {
	t.Parallel()
	long.Only(t, "builds a program")
	mutant := mutants.Mutant{File: "p.go", Type: "CONDITIONALS_BOUNDARY", Line: 4, Column: 31}
	root := tree(t)
	h := mutants.Hunter{
		Root: root, Folder: t.TempDir(), Seeds: 1, Tests: []string{"./pkg/p"}, Patience: 2 * time.Minute, Least: time.Minute,
	}
	together, err := h.Together(t.Context(), "p", []mutants.Mutant{mutant})
	require.NoError(t, err)
	fate, err := together.Fate(t.Context(), 0, mutant, false)
	require.NoError(t, err)
	require.Equal(t, mutants.BySimulation, fate)
	for _, program := range []string{"together-nexus", "together-0.test"} { // the tests are asked first
		require.NoError(t, os.Remove(filepath.Join(h.Folder, program)))
		fate, err = together.Fate(t.Context(), 0, mutant, false)
		require.ErrorIs(t, err, os.ErrNotExist, "%s: %v", program, fate)
	}
}

// The command go is not there, so that each of its calls fails before a test runs.
func TestHunter_killsNoMutantWithoutTheGoCommand(t *testing.T) {
	root := tree(t)
	t.Setenv("PATH", t.TempDir())
	h := mutants.Hunter{Root: root, Folder: t.TempDir(), Tests: []string{"./pkg/p"}, Patience: time.Minute}
	_, err := h.Fate(t.Context(), "p", mutants.Mutant{File: "p.go", Type: "CONDITIONALS_NEGATION", Line: 4, Column: 31})
	require.ErrorIs(t, err, exec.ErrNotFound)
}

// A program that does not come to an end within the time is one that a mutant has stopped.
func TestHunter_killsAMutantWhoseProgramDoesNotEnd(t *testing.T) {
	t.Parallel()
	long.Only(t, "builds a program")
	root := tree(t)
	endless := "package p\n\nimport \"testing\"\n\nfunc TestF(*testing.T) {\n\tfor F(0) {\n\t}\n}\n"
	require.NoError(t, os.WriteFile(filepath.Join(root, "pkg", "p", "p_test.go"), []byte(endless), 0o600))
	h := mutants.Hunter{
		Root: root, Folder: t.TempDir(), Tests: []string{"./pkg/p"}, Patience: 2 * time.Minute, Least: time.Second,
	}
	mutant := mutants.Mutant{File: "p.go", Type: "CONDITIONALS_BOUNDARY", Line: 4, Column: 31}
	together, err := h.Together(t.Context(), "p", []mutants.Mutant{mutant})
	require.NoError(t, err)
	for name, fate := range map[string]func() (mutants.Fate, error){
		"woven": func() (mutants.Fate, error) { return together.Fate(t.Context(), 0, mutant, false) },
		"alone": func() (mutants.Fate, error) { return h.Fate(t.Context(), "p", mutant) },
	} {
		begin := time.Now()
		fate, err := fate()
		require.NoError(t, err, name)
		require.Equal(t, mutants.ByTests, fate, name)
		require.Less(t, time.Since(begin), time.Minute, "%s: the time does not go by what the tests take", name)
	}
}

func TestTogether_refusesTestsThatFailWithoutAMutant(t *testing.T) {
	t.Parallel()
	long.Only(t, "builds a program")
	root := tree(t)
	failing := "package p\n\nimport \"testing\"\n\nfunc TestF(t *testing.T) { t.Fatal(F(1)) }\n"
	require.NoError(t, os.WriteFile(filepath.Join(root, "pkg", "p", "p_test.go"), []byte(failing), 0o600))
	h := mutants.Hunter{Root: root, Folder: t.TempDir(), Tests: []string{"./pkg/p"}, Patience: 2 * time.Minute}
	mutant := mutants.Mutant{File: "p.go", Type: "CONDITIONALS_BOUNDARY", Line: 4, Column: 31}
	_, err := h.Together(t.Context(), "p", []mutants.Mutant{mutant})
	require.ErrorContains(t, err, "without a mutant")
}

// A mutant is looked for by every test once, whether the test is slow or quick.
func TestTogether_runsSlowTestsOneByOne(t *testing.T) {
	t.Parallel()
	long.Only(t, "builds a program")
	root := tree(t)
	log := filepath.Join(t.TempDir(), "log")
	one := func(name string, more string) string {
		return "func Test" + name + "(t *testing.T) {\n\tnote(\"" + name + "\")\n\t" + more + "\n\tF(1)\n}\n\n"
	}
	tests := "package p\n\nimport (\n\t\"os\"\n\t\"testing\"\n\t\"time\"\n)\n\n" +
		"func note(name string) {\n\tf, _ := os.OpenFile(`" + log + "`, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)\n" +
		"\tf.WriteString(name + \" \")\n\tf.Close()\n}\n\n" +
		one("Slowest", "<-time.After(1200 * time.Millisecond)") + one("Slow", "<-time.After(600 * time.Millisecond)") +
		one("Slowly", "if !F(1) {\n\t\tt.Fatal()\n\t}") + one("Last", "")
	require.NoError(t, os.WriteFile(filepath.Join(root, "pkg", "p", "p_test.go"), []byte(tests), 0o600))
	h := mutants.Hunter{
		Root: root, Folder: t.TempDir(), Tests: []string{"./pkg/p"}, Patience: 2 * time.Minute, Least: time.Minute,
	}
	all := []mutants.Mutant{
		{File: "p.go", Type: "CONDITIONALS_BOUNDARY", Line: 4, Column: 31},
		{File: "p.go", Type: "CONDITIONALS_NEGATION", Line: 4, Column: 31},
	}
	together, err := h.Together(t.Context(), "p", all)
	require.NoError(t, err)
	for i, want := range []string{"Slowly Last Slow Slowest ", "Slowly "} {
		require.NoError(t, os.Remove(log))
		_, err := together.Fate(t.Context(), i, all[i], false)
		require.NoError(t, err)
		ran, err := os.ReadFile(log)
		require.NoError(t, err)
		require.Equal(t, want, string(ran))
	}
}

func TestMatching_picksMutantsByAPattern(t *testing.T) {
	t.Parallel()
	all := []mutants.Mutant{
		{File: "a.go", Type: "INVERT_LOGICAL", Line: 3, Column: 9},
		{File: "a.go", Type: "INVERT_LOGICAL", Line: 31, Column: 9},
		{File: "b.go", Type: "INVERT_LOOPCTRL", Line: 3, Column: 2},
	}
	for pattern, want := range map[string][]mutants.Mutant{
		"":               all,
		`^a\.go:(3|7):`:  all[:1],
		"^a|LOOPCTRL$":   all,
		"^b|CONDITIONAL": all[2:],
	} {
		got, err := mutants.Matching(all, pattern)
		require.NoError(t, err)
		require.Equal(t, want, got, pattern)
	}
	_, err := mutants.Matching(all, "^c")
	require.ErrorContains(t, err, `none of 3 mutants matches "^c"`)
	_, err = mutants.Matching(all, "(")
	require.ErrorContains(t, err, "the pattern of mutants")
}

func TestTally_leavesEquivalentMutantsOut(t *testing.T) {
	t.Parallel()
	source := []byte("a\n\tif x || y {\nb")
	m := mutants.Mutant{File: "a.go", Type: "INVERT_LOGICAL", Line: 2, Column: 7}
	head := "| mutant | line | why it does what the code does |\n| --- | --- | --- |\n"
	row := mutants.Row("p", m, source)
	require.Equal(t, "| p/a.go INVERT_LOGICAL: | `if x \\|\\| y {` |  |", row)
	_, err := mutants.ReadEquivalent(head + row)
	require.ErrorIs(t, err, mutants.ErrReport, "it has no reason")
	list, err := mutants.ReadEquivalent(head + row[:len(row)-2] + "both are the same |\n")
	require.NoError(t, err)
	require.True(t, list.Has("p", m, source))
	require.False(t, list.Has("p", mutants.Mutant{File: "a.go", Type: "INVERT_LOGICAL", Line: 3}, source))

	tally := mutants.Tally{Package: "p"}
	tally.Count(m, mutants.Survived, true)
	tally.Count(m, mutants.ByTests, false)
	tally.Count(m, mutants.BySimulation, false)
	tally.Count(m, mutants.Survived, false)
	tally.Count(m, mutants.NoMutant, false)
	require.Equal(t, "| p | 4 | 1 | 1 | 1 | 1 | 66.7 % |", tally.Line())

	nothing := mutants.Tally{Package: "p"}
	nothing.Count(m, mutants.NoMutant, false)
	require.Equal(t, "| p | 0 | 0 | 0 | 0 | 0 | - |", nothing.Line(), "no share of nothing")
}

// A row whose line is no longer in its file excuses no mutant.
func TestReadEquivalent_knowsLinesOfTheCodeAsItIs(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..", "..")
	text, err := os.ReadFile(filepath.Join(root, "docs", "simulation.md"))
	require.NoError(t, err)
	list, err := mutants.ReadEquivalent(string(text))
	require.NoError(t, err)
	require.NotEmpty(t, list)
	var stale []string
	for mutant := range list {
		name, line, _ := strings.Cut(mutant, ": ")
		file, _, _ := strings.Cut(name, " ")
		source, err := os.ReadFile(filepath.Join(root, "pkg", filepath.FromSlash(file)))
		require.NoError(t, err, mutant)
		if !slices.Contains(strings.Split(strings.ReplaceAll(string(source), "\t", ""), "\n"), line) {
			stale = append(stale, mutant)
		}
	}
	require.Empty(t, stale)
}
