package simulate_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/internal/simulate"
)

// few histories are played by the long tests; `make sim` plays many.
const few = 200

func TestReplay_findsNoViolationInHistoriesThatOnceFailed(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "seeds", "*.txt"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, line := range strings.Split(string(text), "\n") {
			if line, _, _ = strings.Cut(line, "#"); strings.TrimSpace(line) == "" {
				continue
			}
			spec, err := simulate.ParseSpec(line)
			require.NoError(t, err, file)
			t.Run(spec.String(), func(t *testing.T) {
				t.Parallel()
				r := simulate.Run(spec)
				require.Nil(t, r.Violation, "%s: %v", file, r.Violation)
			})
		}
	}
}

func TestRun_playsOneHistoryPerSeed(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		spec := simulate.Spec{Seed: seed, Steps: simulate.DefaultSteps}
		first, second := simulate.Replay(spec), simulate.Replay(spec)
		require.Equal(t, first.Trace, second.Trace)
		require.Equal(t, first.Operations, second.Operations)
		require.Equal(t, first.Operations, simulate.Run(spec).Operations, "whether it is observed or not")
	}
}

func TestParseSpec_readsASpecAsStringWritesIt(t *testing.T) {
	t.Parallel()
	spec := simulate.Spec{Seed: 7, Steps: 40, Skip: []int{0, 1, 2, 3, 9, 11, 12}, Calm: []int{13}}
	require.Equal(t, "seed=7 steps=40 skip=0-3,9,11-12 calm=13", spec.String())
	again, err := simulate.ParseSpec(spec.String())
	require.NoError(t, err)
	require.Equal(t, spec, again)
	require.Equal(t, "nexus simulate --from 7 --seeds 1 --steps 40 --skip 0-3,9,11-12 --calm 13", spec.Command())
	for _, text := range []string{"seed=x", "steps=0", "skip=4-2", "skip=9999999999", "calm=", "other=1"} {
		_, err := simulate.ParseSpec(text)
		require.ErrorIs(t, err, simulate.ErrSpec, text)
	}
}
