package beside_test

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"nexus/internal/long"
	"nexus/internal/simulate/beside"
)

// beforeSingleWrites did not know the pending entry, and is not to be mixed with what came after it
// (docs/operations.md).
const beforeSingleWrites = "5ebc848af139158d23eadd74b1a80fd22dee50dc"

// tally is the answer of nexus simulate --json.
type tally struct {
	Histories  int
	Happened   map[string]int
	Violations []struct{ Invariant, Detail, Command string }
}

func TestBuild_playsThisReleaseBesideOneBefore(t *testing.T) {
	t.Parallel()
	played := play(t, build(t, beside.Before), "--seeds", "1000")
	require.Empty(t, played.Violations)
	require.Equal(t, 1000, played.Histories)
	for _, what := range []string{
		"before: projections", "before: effects", "before: notify", "before: parked without a user",
		"parked record taken up", "reminder due", "task archived",
	} {
		require.Positive(t, played.Happened[what], what)
	}
}

// What docs/operations.md says is not to be mixed is mixed here: if it were exact, the document would be wrong.
func TestBuild_findsThatAReleaseBeforeSingleWritesIsNotToBeMixed(t *testing.T) {
	t.Parallel()
	program := build(t, beforeSingleWrites)
	for from := 0; from < 400; from += 40 { // a play ends with its first violation, of whatever invariant
		played := play(t, program, "--seeds", "40", "--from", strconv.Itoa(from), "--no-shrink")
		if len(played.Violations) > 0 && played.Violations[0].Invariant == "I1" {
			return
		}
	}
	t.Fatal("the sums are exact")
}

// build builds nexus with the commit inside.
func build(t *testing.T, commit string) (program string) {
	t.Helper()
	long.Only(t, "builds nexus")
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	require.NoError(t, err)
	folder := t.TempDir()
	program = filepath.Join(folder, "nexus")
	err = beside.Build(t.Context(), root, commit, folder, program)
	if errors.Is(err, beside.ErrNoHistory) {
		t.Skipf("SKIPPED: this release was not played beside commit %s: %v (git fetch --unshallow)", commit, err)
	}
	require.NoError(t, err)
	return program
}

// play plays histories with a program.
func play(t *testing.T, program string, args ...string) tally {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), program, append([]string{"simulate", "--json"}, args...)...).Output()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 1 {
		require.NoError(t, err)
	}
	var played tally
	require.NoError(t, json.Unmarshal(out, &played, json.MatchCaseInsensitiveNames(true)))
	return played
}

func TestBuild_refusesAnUnknownCommit(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	require.NoError(t, err)
	_, err = beside.Overlay(t.Context(), root, "0000000000000000000000000000000000000000", t.TempDir())
	require.Error(t, err)
	require.True(t, errors.Is(err, beside.ErrCommit) || errors.Is(err, beside.ErrNoHistory), "%v", err)
	_, err = beside.Overlay(t.Context(), t.TempDir(), beside.Before, t.TempDir())
	require.ErrorIs(t, err, beside.ErrNoHistory, "where there is no git")
}
