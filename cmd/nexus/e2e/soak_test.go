package e2e_test

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	// soakVariable set to anything asks for the long form of tests: `make soak`.
	soakVariable = "NEXUS_SOAK"
	// seedVariable is the seed of all chance in the tests.
	seedVariable = "NEXUS_SEED"
)

func soaking() bool { return os.Getenv(soakVariable) != "" }

// amount is how much of something a test does: all of it in a soak. It says so when that is less.
func amount(t testing.TB, what string, short, long int) int {
	t.Helper()
	if soaking() {
		return long
	}
	t.Logf("shortened: %d of %d %s; %s=1 runs all", short, long, what, soakVariable)
	return short
}

// seed returns the one from the environment or a new one, and logs it.
func seed(t testing.TB) uint64 {
	t.Helper()
	chosen := rand.Uint64()
	if given := os.Getenv(seedVariable); given != "" {
		parsed, err := strconv.ParseUint(given, 10, 64)
		require.NoError(t, err, seedVariable)
		chosen = parsed
	}
	t.Logf("%s=%d repeats the clients' choices; their interleaving stays the machine's", seedVariable, chosen)
	return chosen
}
