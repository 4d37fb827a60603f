package projection_test

import (
	"errors"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/internal/simulate/beside"
)

// beforeSingleWrites is a commit that did not know the pending entry. It is not to be mixed with what came after it.
const beforeSingleWrites = "5ebc848af139158d23eadd74b1a80fd22dee50dc"

func TestConsumer_isExactBesideTheReleaseBefore(t *testing.T) {
	t.Parallel()
	out, err := runBeside(t, beside.Before)
	require.NoError(t, err, out)
	require.Regexp(t, `\d{3,} plays of \d{2,} worlds`, out)
	t.Log(out)
}

// What docs/operations.md says is not to be mixed is mixed here: if it were exact, the document would be wrong.
func TestConsumer_isNotExactMixedWithReleasesBeforeSingleWrites(t *testing.T) {
	t.Parallel()
	out, err := runBeside(t, beforeSingleWrites)
	require.Error(t, err, out)
	require.Contains(t, out, "the sum is map[")
}

// runBeside builds the packages of another commit into the test, and plays its engine beside the present one. It skips
// the test where there is no history: without git, and in a shallow clone.
func runBeside(t *testing.T, commit string) (string, error) {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	require.NoError(t, err)
	overlay, err := beside.Overlay(t.Context(), root, commit, t.TempDir())
	if errors.Is(err, beside.ErrNoHistory) {
		t.Skipf("SKIPPED: this release was not run beside commit %s (git fetch --unshallow): %v", commit, err)
	}
	require.NoError(t, err)
	run := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-count=1", "-v", "-tags", beside.Tag,
		"-overlay", overlay,
		"-run", "^TestConsumer_isExactInEveryOrderBesideTheOther$", "./pkg/projection")
	run.Dir = root
	out, err := run.CombinedOutput()
	return string(out), err
}
