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
	_, rows, _ := strings.Cut(section, "| --- | --- |\n")
	rows, _, _ = strings.Cut(rows, "\n\n")
	var want []string
	for _, p := range account.Periods() {
		want = append(want, "| "+p.What+" | "+p.Until+" |")
	}
	require.Equal(t, want, strings.Split(rows, "\n"))
}
