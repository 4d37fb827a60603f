package release_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/deploy/release"
)

// history returns the changelog of a tree whose newest release is the last of these; a plus adds unreleased changes.
func history(versions ...string) string {
	text := "# Changelog\n\nWhat changes.\n\n## [Unreleased]\n"
	for i := len(versions) - 1; i >= 0; i-- {
		version, isNew := strings.CutSuffix(versions[i], "+")
		if isNew {
			text += "\n### Added\n\n- Something.\n"
		}
		text += "\n## [" + version + "] - 2026-11-23\n\n- Something.\n"
	}
	return text
}

func TestRead_listsTheReleasesOfAChangelog(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		versions, want []string
	}{
		{[]string{"0.1.0"}, []string{"0.1.0"}},
		{[]string{"0.1.0", "0.2.0"}, []string{"0.2.0", "0.1.0"}},
		{[]string{"0.1.0", "0.2.0+"}, []string{"0.2.0+unreleased", "0.2.0", "0.1.0"}},
	} {
		got, err := release.Read(history(tt.versions...))
		require.NoError(t, err)
		require.Equal(t, tt.want, got)
	}
	_, err := release.Read("# Changelog\n\n- Something.\n")
	require.Error(t, err)

	text, err := os.ReadFile(filepath.Join("..", "..", "..", "CHANGELOG.md"))
	require.NoError(t, err)
	own, err := release.Read(string(text))
	require.NoError(t, err)
	require.Equal(t, "0.1.0", own[len(own)-1])
}

func TestCheck_letsADeploymentGoBackByOneReleaseAtMost(t *testing.T) {
	t.Parallel()
	trees := [][]string{
		{"0.1.0"}, {"0.1.0+"}, {"0.1.0", "0.2.0"}, {"0.1.0", "0.2.0+"}, {"0.1.0", "0.2.0", "0.3.0"},
		{"0.1.0", "0.2.0", "0.3.0+"},
	}
	for from, tree := range trees {
		deployed, err := release.Read(history(tree...))
		require.NoError(t, err)
		for to, other := range trees {
			ours, err := release.Read(history(other...))
			require.NoError(t, err)
			err = release.Check(release.Newest(deployed), ours)
			// Two trees stand for each release: with changes after it and without. From one with changes, the release
			// itself is the one before.
			back := from - to
			allowed := back <= 1 || from%2 == 0 && back <= 2
			require.Equal(t, allowed, err == nil, "from %v to %v: %v", tree, other, err)
		}
	}
	require.NoError(t, release.Check(release.Release{}, []string{"0.1.0"}), "no stack, or one before releases")
	require.ErrorContains(t, release.Check(release.Release{Name: "0.4.0", Before: "0.3.0"}, []string{"0.2.0", "0.1.0"}),
		"0.2.0 is further back")
}
