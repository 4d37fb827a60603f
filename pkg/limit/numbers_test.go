package limit_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/limit"
)

// shown writes a number with commas.
func shown(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

func TestLines_areTheTableOfTheDocument(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "limits.md"))
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(text), "| limit | number | of what | why |\n| --- | --- | --- | --- |\n")
	require.True(t, found)
	table, _, _ := strings.Cut(rest, "\n\n")
	var want []string
	for _, line := range limit.Lines() {
		number := shown(line.Number)
		switch line.Window {
		case time.Minute:
			number += " a minute"
		case time.Hour:
			number += " an hour"
		default:
			require.Zero(t, line.Window)
		}
		want = append(want, fmt.Sprintf("| `%s` | %s | %s | %s |", line.Name, number, line.What, line.Why))
	}
	require.Equal(t, strings.Join(want, "\n"), table)
}

func TestNumbers_takeThoseOfAStage(t *testing.T) {
	t.Parallel()
	n, err := limit.Default().With(map[string]int{limit.Content: 7})
	require.NoError(t, err)
	require.Equal(t, 7, n[limit.Content])
	require.Equal(t, 10_000, n[limit.Notes])
	require.Equal(t, 100_000, limit.Default()[limit.Content])
	for name, number := range map[string]int{"contents": 7, limit.Content: 0, limit.Notes: -1, limit.User: 2_000_000_000} {
		_, err := limit.Default().With(map[string]int{name: number})
		require.ErrorContains(t, err, strconv.Quote(name))
	}
}

func TestParse_readsWhatFormatWrites(t *testing.T) {
	t.Parallel()
	n, err := limit.Parse("")
	require.NoError(t, err)
	require.Equal(t, limit.Default(), n)
	stage := map[string]int{limit.Content: 7, limit.User: 9}
	require.Equal(t, "content=7,user=9", limit.Format(stage))
	n, err = limit.Parse(limit.Format(stage))
	require.NoError(t, err)
	want, err := limit.Default().With(stage)
	require.NoError(t, err)
	require.Equal(t, want, n)
	for _, wrong := range []string{"content", "content=", "content=x", "=7", "content=7,", "other=7", "content=7 "} {
		_, err := limit.Parse(wrong)
		require.Error(t, err, wrong)
	}
}
