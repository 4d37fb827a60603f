package mutants_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/simulate/mutants"
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
		fmt.Println(logic(i&1 > 0, i&2 > 0, i&4 > 0), compare(i, float64(i)-1, "x"), compare(i, 0.5, "k"), most > time.Duration(i)*time.Second)
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
				"ARITHMETIC_BASE", "CONDITIONALS_BOUNDARY", "CONDITIONALS_NEGATION", "INCREMENT_DECREMENT", "INVERT_LOGICAL", "INVERT_LOOPCTRL", "INVERT_NEGATIVES",
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

// A mutant that is switched on does what the same mutant does when it alone is built.
func TestAWovenMutantDoesWhatItDoesAlone(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds a program for each mutant")
	}
	write := func(text string, more map[string]string) string {
		root := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(root, "go.mod"), []byte("module p\n\ngo 1.26\n"), 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(root, "p.go"), []byte(text), 0o600))
		for name, text := range more {
			require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o600))
		}
		return root
	}
	run := func(root string, env ...string) (string, error) {
		build := exec.CommandContext(t.Context(), "go", "build", "-o", "p", ".")
		build.Dir = root
		if text, err := build.CombinedOutput(); err != nil {
			return string(text), err
		}
		cmd := exec.CommandContext(t.Context(), filepath.Join(root, "p"))
		cmd.Env, cmd.WaitDelay = append(os.Environ(), env...), time.Second
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	all := every(t, "p.go", loomed)
	require.Greater(t, len(all), 30)
	woven, err := mutants.Weave(write(loomed, nil), all)
	require.NoError(t, err)
	root := write(loomed, woven.Files)
	plain, err := run(write(loomed, nil))
	require.NoError(t, err)
	log := filepath.Join(root, "reached")
	off, err := run(root, "NEXUS_REACHED="+log)
	require.NoError(t, err, off)
	require.Equal(t, plain, off)
	met, err := os.ReadFile(log)
	require.NoError(t, err)
	alone, seen := 0, map[string]bool{}
	for i, m := range all {
		text, err := m.Apply([]byte(loomed))
		require.NoError(t, err)
		if !woven.In[i] {
			require.Contains(t, []int{9, 22, 37, 44}, m.Line, "a constant, a text, and a sign: %s", m)
			alone++
			continue
		}
		require.Contains(t, strings.Fields(string(met)), strconv.Itoa(i+1), m)
		operator := m.Type + strings.Split(loomed, "\n")[m.Line-1][m.Column-1:][:2]
		if seen[operator] {
			continue
		}
		seen[operator] = true
		want, wrong := run(write(string(text), nil))
		got, failed := run(root, "NEXUS_MUTANT="+strconv.Itoa(i+1))
		require.Equal(t, wrong == nil, failed == nil, "%s: %s %s", m, want, got)
		if wrong == nil {
			require.Equal(t, want, got, m)
		}
	}
	require.LessOrEqual(t, alone, 8)
}
