package size_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/consume"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/size"
)

func TestSize_isOneThatLambdaTakes(t *testing.T) {
	t.Parallel()
	reserved := 0
	for _, f := range env.Functions() {
		s := size.For(f)
		require.True(t, 128 <= s.MemoryMB && s.MemoryMB <= 10_240, "%s", f)
		require.True(t, time.Second <= s.Timeout && s.Timeout <= 15*time.Minute && s.Timeout%time.Second == 0, "%s", f)
		require.GreaterOrEqual(t, s.Reserved, 0, "%s", f)
		reserved += s.Reserved
	}
	// Of an account's 1,000, Lambda wants 100 left to functions without a reserve.
	require.LessOrEqual(t, reserved, 900/2, "requests have at least as much as what follows from them")
	require.Zero(t, size.For("another"))
}

func TestSize_endsAFunctionBeforeItsCaller(t *testing.T) {
	t.Parallel()
	const api = 30 * time.Second // the longest that an HTTP API waits
	for _, f := range []env.Function{env.Command, env.Query} {
		require.Less(t, size.For(f).Timeout, api, "%s", f)
	}
	for _, f := range []env.Function{env.Projections, env.Effects} {
		require.Greater(t, size.For(f).Timeout, 10*consume.DefaultMargin, "%s: most of its time is for work", f)
	}
}
