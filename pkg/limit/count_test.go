package limit_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/limit"
)

func TestNumbers_judgeHowFarACountMayBeOff(t *testing.T) {
	t.Parallel()
	n, err := limit.Default().With(map[string]int{limit.Exceptions: 1000, limit.Schedules: 3})
	require.NoError(t, err)
	for _, c := range []struct {
		kept, now limit.Counts
		isOff     bool
	}{
		{limit.Counts{}, limit.Counts{}, false},
		{limit.Counts{Exceptions: 500}, limit.Counts{Exceptions: 510}, false},
		{limit.Counts{Exceptions: 500}, limit.Counts{Exceptions: 511}, true},
		{limit.Counts{Exceptions: 511}, limit.Counts{Exceptions: 500}, true},
		{limit.Counts{}, limit.Counts{Exceptions: 499}, false}, {limit.Counts{}, limit.Counts{Exceptions: 500}, true},
		{limit.Counts{Exceptions: 500}, limit.Counts{}, true},
		{limit.Counts{}, limit.Counts{Schedules: 1}, false}, {limit.Counts{}, limit.Counts{Schedules: 2}, true},
		{limit.Counts{Schedules: 3}, limit.Counts{Schedules: 2}, true},
	} {
		require.Equal(t, c.isOff, n.IsOff(c.kept, c.now), "%s, %s", c.kept, c.now)
	}
}
