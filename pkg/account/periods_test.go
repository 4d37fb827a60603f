package account_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/account"
)

func TestPeriods_areThoseOfTheDocument(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/operations.md")
	require.NoError(t, err)
	_, section, _ := strings.Cut(string(text), "\n### What remains, and until when\n")
	for _, periods := range [][]account.Period{account.Periods(), account.LocalPeriods()} {
		var rows string
		_, section, _ = strings.Cut(section, "| --- | --- |\n")
		rows, section, _ = strings.Cut(section, "\n\n")
		var want []string
		for _, p := range periods {
			want = append(want, "| "+p.What+" | "+p.Until+" |")
		}
		require.Equal(t, want, strings.Split(rows, "\n"))
	}
}
