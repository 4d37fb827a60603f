package mutants_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/internal/long"
	"nexus/internal/simulate/mutants"
)

// loomed is a file with every operator that has mutants; its program prints what each function answers.
const loomed = `// Command p prints.
package main

import (
	"fmt"
	"time"
)

const most = 3 * time.Second

func logic(a, b, c bool) bool { return a && b || c }

func compare(a int, b float64, s string) string {
	switch {
	case a == 1 && s != "x":
		return "one"
	case a < 3, b >= 2.5:
		return "few"
	case s > "m" || b <= 0:
		return "late"
	}
	return "other" + s
}

func count(list []int64) (sum int64) {
	for i := 0; i < len(list); i++ {
		if list[i] < 0 {
			break
		}
		switch {
		case list[i] == 7:
			continue
		}
		sum += list[i]*2 - 1 + list[i]/2
	}
	sum--
	return -sum
}

func main() {
	for i := range 8 {
		fmt.Println(logic(i&1 > 0, i&2 > 0, i&4 > 0), compare(i, float64(i)-1, "x"), compare(i, 0.5, "k"),
			most > time.Duration(i)*time.Second)
	}
	fmt.Println(count([]int64{1, 7, 3, -1, 5}), count(nil))
}
`

// every mutant that the operators of the file have.
func every(t *testing.T, name, source string) []mutants.Mutant {
	t.Helper()
	var all []mutants.Mutant
	for i, line := range strings.Split(source, "\n") {
		for column := range len(line) {
			for _, kind := range []string{
				"ARITHMETIC_BASE", "CONDITIONALS_BOUNDARY", "CONDITIONALS_NEGATION", "INCREMENT_DECREMENT", "INVERT_LOGICAL",
				"INVERT_LOOPCTRL", "INVERT_NEGATIVES",
			} {
				m := mutants.Mutant{File: name, Type: kind, Line: i + 1, Column: column + 1}
				if _, err := m.Apply([]byte(source)); err == nil {
					all = append(all, m)
				}
			}
		}
	}
	return all
}

// built is a program of these files, by their names.
func built(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	files["go.mod"] = "module p\n\ngo 1.26\n"
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", "p", ".")
	build.Dir = root
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return root
}

func answer(t *testing.T, root string, env ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(root, "p"))
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.Output()
	return string(out), err
}

// alone are the answers of programs that hold one mutant each; "" of one that panics.
func alone(t *testing.T, all []mutants.Mutant) []string {
	t.Helper()
	files := map[string]string{}
	var imports, calls strings.Builder
	for i, m := range all {
		text, err := m.Apply([]byte(loomed))
		require.NoError(t, err)
		one := strings.NewReplacer("package main", fmt.Sprintf("package m%d", i), "func main()",
			"func Main()").Replace(string(text))
		files[fmt.Sprintf("m%d/p.go", i)] = one
		fmt.Fprintf(&imports, "\t\"p/m%d\"\n", i)
		fmt.Fprintf(&calls, "\tcall(m%d.Main)\n", i)
	}
	files["main.go"] = "package main\n\nimport (\n\t\"fmt\"\n" + imports.String() + ")\n\n" + `
func call(f func()) {
	defer func() {
		if recover() != nil {
			fmt.Print("\x00")
		}
		fmt.Print("\x01")
	}()
	f()
}

func main() {
` + calls.String() + "}\n"
	out, err := answer(t, built(t, files))
	require.NoError(t, err)
	answers := strings.Split(strings.TrimSuffix(out, "\x01"), "\x01")
	require.Len(t, answers, len(all))
	for i, a := range answers {
		if strings.HasSuffix(a, "\x00") {
			answers[i] = ""
		}
	}
	return answers
}

// A mutant that is switched on does what the same mutant does when it alone is built.
func TestWeave_switchesOnAMutantThatActsAsItDoesAlone(t *testing.T) {
	t.Parallel()
	long.Only(t, "builds programs")
	plain := built(t, map[string]string{"p.go": loomed})
	var all []mutants.Mutant
	texts := 0
	for _, m := range every(t, "p.go", loomed) {
		if m.Line != 22 { // a text: the mutant does not compile
			all = append(all, m)
			continue
		}
		woven, err := mutants.Weave(plain, []mutants.Mutant{m})
		require.NoError(t, err)
		require.Equal(t, []bool{true}, woven.Texts)
		texts++
	}
	require.Equal(t, 1, texts)
	require.Greater(t, len(all), 30)
	woven, err := mutants.Weave(plain, all)
	require.NoError(t, err)
	require.NotContains(t, woven.Texts, true)
	root := built(t, woven.Files)
	want, err := answer(t, plain)
	require.NoError(t, err)
	log := filepath.Join(root, "reached")
	got, err := answer(t, root, "NEXUS_REACHED="+log)
	require.NoError(t, err)
	require.Equal(t, want, got)
	met, err := os.ReadFile(log)
	require.NoError(t, err)
	for i, want := range alone(t, all) {
		if !woven.In[i] {
			require.Contains(t, []int{9, 37, 45}, all[i].Line, "a constant, or a sign: %s", all[i])
			continue
		}
		require.Contains(t, strings.Fields(string(met)), strconv.Itoa(i+1), all[i])
		got, err := answer(t, root, "NEXUS_MUTANT="+strconv.Itoa(i+1))
		require.Equal(t, want == "", err != nil, all[i])
		if err == nil {
			require.Equal(t, want, got, all[i])
		}
	}
}
