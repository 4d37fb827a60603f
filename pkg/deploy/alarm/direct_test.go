package alarm_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/deploy/alarm"
	"nexus/pkg/deploy/readers"
	"nexus/pkg/product"
)

// direct is an alarm of a stage with function URLs.
func direct(t *testing.T, name string) alarm.Alarm {
	t.Helper()
	of := alarm.Direct(alarm.All(readers.Table(product.Registry())))
	i := slices.IndexFunc(of, func(a alarm.Alarm) bool { return a.Name == name })
	require.GreaterOrEqual(t, i, 0, name)
	return of[i]
}

func TestDirect_countsRefusedUsersAgainstAllRequests(t *testing.T) {
	t.Parallel()
	for limited, want := range map[float64]string{40: ok, 120: ok, 140: alarmed} {
		// The HTTP API serves next to nothing.
		s := scenario{all: busy(), later: map[string]float64{"RequestsLimited": limited, "Count": 30}}
		for _, fillsNone := range []bool{true, false} {
			require.Equal(t, want, s.state(t, direct(t, "nexus-limited"), false, fillsNone), "%v", limited)
		}
	}
}

func TestDirect_ringsWhenMostRequestsByURLAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		refused, asked float64
		want           string
	}{{2900, 2900, ok}, {3100, 3200, alarmed}, {3100, 9000, ok}} {
		s := scenario{all: busy(), later: map[string]float64{
			"Url4xxCount of query": c.refused, "UrlRequestCount of query": c.asked,
			"Url4xxCount of command": 0, "UrlRequestCount of command": 0,
		}}
		require.Equal(t, c.want, s.state(t, direct(t, "nexus-direct-refused"), false, false), "%v", c)
	}
}
