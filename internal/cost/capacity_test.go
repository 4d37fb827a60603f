package cost_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/internal/cost"
	"nexus/internal/long"
)

// The capacity for the bill's users is the bill's, within a hundredth.
func TestCapacity_isThatOfTheBill(t *testing.T) {
	t.Parallel()
	m := replayed(t, 3, 7, 1)
	bill := cost.NewBill(m, cost.DefaultPrices(), cost.When{})
	c, err := cost.NewCapacity(m, m.Load.Users, 5, cost.StageSettings{}, cost.NewQuotas())
	require.NoError(t, err)
	bounds := map[string]cost.Bound{}
	for _, b := range c.Bounds {
		bounds[b.What] = b
	}
	seconds := float64(m.Load.Days) * 24 * 60 * 60
	within := func(want float64, what string) {
		require.InEpsilon(t, want, bounds[what].Mean*seconds, 0.01, what)
		require.InEpsilon(t, 5*bounds[what].Mean, bounds[what].Peak, 1e-9, what)
	}
	var requests, reads, calls float64
	for _, part := range bill.Parts() {
		for _, l := range part.Lines {
			switch {
			case l.What == "requests to the HTTP API":
				requests += l.Quantity
			case l.What == "calls by the scheduler":
				calls += l.Quantity
			case strings.HasPrefix(l.What, "searches"), strings.HasPrefix(l.What, "webhooks"): // the replay has none
			case l.Price == "tableReads":
				reads += l.Quantity
			}
		}
	}
	within(requests, "requests a second, of the stage")
	within(reads, "read units a second, of the stage")
	require.InEpsilon(t, calls, bounds["calls of reminders in one minute"].Mean*seconds/60, 0.01)

	require.True(t, slices.IsSortedFunc(c.Bounds, func(a, b cost.Bound) int { return int(a.Users - b.Users) }))
	for _, b := range c.Bounds {
		at, err := cost.NewCapacity(m, int(b.Users), 5, cost.StageSettings{}, cost.NewQuotas())
		require.NoError(t, err)
		i := slices.IndexFunc(at.Bounds, func(other cost.Bound) bool { return other.What == b.What })
		require.InEpsilon(t, b.Limit, at.Bounds[i].Peak, 0.01, b.What)
	}
}

// The tables of docs/capacity.md are what nexus capacity prints.
func TestCapacity_isThatOfTheDocument(t *testing.T) {
	t.Parallel()
	long.Only(t, "replays a month of ten users")
	page, err := os.ReadFile("../../docs/capacity.md")
	require.NoError(t, err)
	m := replayed(t, 10, 30, 1)
	for _, users := range []int{100_000, 1_000_000, 10_000_000} {
		c, err := cost.NewCapacity(m, users, 5, cost.StageSettings{}, cost.NewQuotas())
		require.NoError(t, err)
		var table strings.Builder
		require.NoError(t, c.Print(&table))
		require.Contains(t, string(page), table.String())
	}
}
