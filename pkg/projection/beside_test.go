package projection_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/internal/simulate/beside"
)

// beforeSingleWrites is a commit that did not know the last entry. It is not to be mixed with what came after it.
const beforeSingleWrites = "5ebc848af139158d23eadd74b1a80fd22dee50dc"

func TestThisReleaseIsExactBesideOneBefore(t *testing.T) {
	t.Parallel()
	out, err := runBeside(t, beside.Before)
	require.NoError(t, err, out)
	require.Regexp(t, `\d{3,} plays of \d{2,} worlds`, out)
	t.Log(out)
}

// What docs/operations.md says is not to be mixed is mixed here: if it were exact, the document would be wrong.
func TestReleasesFromBeforeSingleWritesAreNotToBeMixed(t *testing.T) {
	t.Parallel()
	out, err := runBeside(t, beforeSingleWrites)
	require.Error(t, err, out)
	require.Contains(t, out, "the sum is map[")
}

// runBeside builds the engine of another commit as a package of its own, and plays it beside the present one. It skips the test
// where there is no history: without git, and in a shallow clone.
func runBeside(t *testing.T, commit string) (string, error) {
	t.Helper()
	top, err := exec.CommandContext(t.Context(), "git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		t.Skipf("SKIPPED: no history here (%v), so this release was not run beside commit %s", err, commit)
	}
	root := strings.TrimSpace(string(top))
	if err := exec.CommandContext(t.Context(), "git", "-C", root, "cat-file", "-e", commit+"^{commit}").Run(); err != nil {
		isShallow := strings.TrimSpace(command(t, root, "git", "rev-parse", "--is-shallow-repository"))
		require.Equal(t, "true", isShallow, "commit %s is not in the history", commit)
		t.Skipf("SKIPPED: a shallow clone (git fetch --unshallow) does not have commit %s: it was not run beside this release", commit)
	}
	const of = "pkg/projection"
	replace := map[string]string{}
	into := t.TempDir()
	for _, name := range strings.Fields(command(t, root, "git", "ls-tree", "--name-only", commit, of+"/")) {
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		source := command(t, root, "git", "show", commit+":"+name)
		file := filepath.Join(into, path.Base(name))
		source = strings.Replace("\n"+source, "\npackage projection\n", "\npackage predecessor\n", 1)
		require.NoError(t, os.WriteFile(file, []byte(source), 0o600))
		replace[filepath.Join(root, of, "predecessor", path.Base(name))] = file
	}
	require.NotEmpty(t, replace)
	overlay := filepath.Join(into, "overlay.json")
	body, err := json.Marshal(map[string]any{"Replace": replace})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(overlay, body, 0o600))
	run := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-count=1", "-v", "-tags", "predecessor", "-overlay", overlay,
		"-run", "^TestInEveryOrderBesideTheOther$", "./"+of)
	run.Dir = root
	out, err := run.CombinedOutput()
	return string(out), err
}

func command(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	run := exec.CommandContext(t.Context(), name, args...)
	run.Dir = dir
	out, err := run.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		require.NoError(t, err, string(exit.Stderr))
	}
	require.NoError(t, err)
	return string(out)
}
