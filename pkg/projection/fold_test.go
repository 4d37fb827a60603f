package projection_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/projection"
)

// The ledger rows of releases before hold what package encoding/json wrote.
func TestAmounts_areWrittenAsPackageJSONWritesThem(t *testing.T) {
	t.Parallel()
	draw := rand.New(rand.NewPCG(1, 2))
	letters := []string{
		"a", "Z", " ", "~", "\"", "\\", "<", ">", "&", "\n", "\x00", "\x7f", "é", "\u2028", "\xff", "{", ":",
	}
	text := func() (out string) {
		for range draw.IntN(4) {
			out += letters[draw.IntN(len(letters))]
		}
		return out
	}
	require.Empty(t, projection.Amounts{}.Text())
	for range 5_000 {
		a := projection.Amounts{Add: map[string]int64{}, Max: map[string]string{}, Open: text()}
		for range draw.IntN(4) {
			a.Add[text()] = draw.Int64() >> draw.IntN(63) * int64(1-2*draw.IntN(2))
		}
		for range draw.IntN(3) {
			a.Max[text()] = text()
		}
		if want, err := json.Marshal(a); string(want) != "{}" {
			require.NoError(t, err)
			require.Equal(t, string(want), a.Text())
		}
	}
}
