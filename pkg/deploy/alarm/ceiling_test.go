package alarm_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/deploy/alarm"
)

func TestCeilings_ringAtHalfOfTheTableAndOfEachIndex(t *testing.T) {
	t.Parallel()
	got := alarm.Ceilings(4000, 10)
	require.Len(t, got, 2)
	for i, want := range []struct{ name, metric, half string }{
		{"nexus-table-read-ceiling", "ConsumedReadCapacityUnits", "120000"}, // 2,000 a second, in a minute
		{"nexus-table-write-ceiling", "ConsumedWriteCapacityUnits", "300"},
	} {
		require.Equal(t, want.name, got[i].Name)
		require.Zero(t, got[i].Above)
		require.Len(t, got[i].Of, 5)
		require.Equal(t, 5, strings.Count(got[i].Math(), ", 0) > "+want.half+", 1, 0)"))
		for place, m := range got[i].Of {
			require.Equal(t, want.metric, m.Name)
			require.Contains(t, got[i].Math(), "FILL("+alarm.ID(place)+", 0)")
			require.Len(t, m.Of, map[bool]int{true: 1, false: 2}[place == 0])
		}
	}
	require.Empty(t, alarm.Ceilings(0, 0))
	require.Len(t, alarm.Ceilings(0, 5), 1)
}
