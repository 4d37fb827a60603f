package local_test

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/local"
)

const (
	usualHistories = 8
	historySteps   = 24
)

// historiesAsked is how many histories are played: more if NEXUS_SERIES_HISTORIES says so.
func historiesAsked(t *testing.T) int {
	text := os.Getenv("NEXUS_SERIES_HISTORIES")
	if text == "" {
		return usualHistories
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

// eachHistory plays a history for each seed, in a soak on each store.
func eachHistory(t *testing.T, play func(t *testing.T, store local.Store, seed uint64)) {
	for _, store := range soaked() {
		for seed := range historiesAsked(t) {
			t.Run(fmt.Sprintf("seed %d on %s", seed, store), func(t *testing.T) {
				t.Parallel()
				play(t, store, uint64(seed))
			})
		}
	}
}

// again has every record delivered once more: nothing is announced that was not.
func (s *system) again() {
	s.t.Helper()
	deliveries := func() map[string]bool {
		ids := map[string]bool{}
		for _, e := range s.items("/dev/events?limit=1000") {
			ids[e["detail"].(object)["deliveryId"].(string)] = true
		}
		return ids
	}
	before := deliveries()
	s.must("POST", "/dev/redeliver", object{"from": "start"})
	s.waitUntilIdle()
	require.Equal(s.t, before, deliveries())
}
