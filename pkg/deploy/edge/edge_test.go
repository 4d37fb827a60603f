package edge_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/deploy/edge"
	"nexus/pkg/limit"
)

func TestRules_areThoseOfTheDocument(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "limits.md"))
	require.NoError(t, err)
	_, section, found := strings.Cut(string(text), "\n## The edge\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	var listed, want []string
	for line := range strings.Lines(section) {
		if cells := strings.Split(line, "|"); len(cells) > 3 && strings.Contains(cells[1], "`") {
			listed = append(listed, strings.Trim(cells[1], " `")+" "+strings.ReplaceAll(strings.TrimSpace(cells[2]), ",", ""))
		}
	}
	for _, rule := range edge.Rules(limit.Default()) {
		want = append(want, fmt.Sprint(rule.By, " ", rule.Limit))
	}
	require.Equal(t, want, listed)
}

func TestRules_letAUserPassWithinTheStagesOwnLimit(t *testing.T) {
	t.Parallel()
	for user, want := range map[int]int{1: 100, 19: 100, 21: 105, 600: 3000, 1_000_000_000: 2_000_000_000} {
		numbers, err := limit.Default().With(map[string]int{limit.User: user})
		require.NoError(t, err)
		for _, rule := range edge.Rules(numbers) {
			if rule.By == edge.Token {
				require.Equal(t, want, rule.Limit, "five minutes at %d a minute, as far as WAF takes it", user)
			}
		}
	}
}
