package alarm_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/deploy/alarm"
	"nexus/pkg/deploy/env"
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

// An issuer that does not give its keys is no fault of a new version, and an operator has to know.
func TestDirect_seesErrorsAtURLsThatNoFunctionCounts(t *testing.T) {
	t.Parallel()
	s := scenario{all: busy(), later: map[string]float64{"Url5xxCount of command": 4, "Url5xxCount of query": 3}}
	all := alarm.Direct(alarm.All(readers.Table(product.Registry())))
	for _, fillsNone := range []bool{true, false} {
		var rings []string
		for _, a := range all {
			if s.state(t, a, false, fillsNone) == alarmed {
				rings = append(rings, a.Name)
			}
		}
		require.Equal(t, []string{"nexus-api-server-errors"}, rings)
	}
	for _, f := range []env.Function{env.Command, env.Query} {
		require.NotContains(t, alarm.Reverting(f, all), "nexus-api-server-errors")
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
