package local_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// use is a number of what somebody used of the table.
func use(metrics object, user, name string) float64 {
	store, _ := metrics["store"].(object)
	used, _ := store[user].(object)
	n, _ := used[name].(float64)
	return n
}

func TestMetricsTellWhoUsesHowMuchOfTheTable(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, s *system) {
		s.task("counted")
		s.settle()
		metrics := s.must("GET", "/dev/metrics", nil)
		require.Positive(t, use(metrics, "api", "writeUnits"))
		require.Positive(t, use(metrics, "stats", "writeUnits"))
		require.Positive(t, use(metrics, "stats", "readUnits"))
		require.Zero(t, use(metrics, "links", "calls"), "a task without links costs no call")
		require.Zero(t, use(metrics, "notify", "calls"))
		operations := metrics["store"].(object)["stats"].(object)["operations"].(object)
		require.Equal(t, 1.0, operations["Transact"].(object)["calls"])

		s.must("POST", "/dev/redeliver", object{"consumer": "stats", "from": "start"})
		for _, c := range s.must("GET", "/dev/metrics", nil)["consumers"].([]any) {
			if c := c.(object); c["consumer"] == "stats" {
				require.Equal(t, []any{2.0, 2.0, 1.0}, []any{c["records"], c["done"], c["alreadyDone"]})
			}
		}
		require.Equal(t, 2.0, s.must("GET", "/dev/metrics", nil)["store"].(object)["stats"].(object)["operations"].(object)["Transact"].(object)["calls"])

	})
}
