package blobtest

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/blob"
)

func purger(t *testing.T, s blob.Store) blob.Purger {
	t.Helper()
	p, is := s.(blob.Purger)
	require.True(t, is, "every adapter can purge")
	return p
}

func purge(t *testing.T, s blob.Store, name string) int {
	t.Helper()
	removed, err := purger(t, s).Purge(t.Context(), name)
	require.NoError(t, err)
	return removed
}

func purgeFolder(t *testing.T, s blob.Store) {
	beside := []string{"a", "a/ann", "a/ann-2/x", "a/ann.json", "a/anna/x", "ann/x"}
	for _, name := range beside {
		put(t, s, name, "stays")
	}
	for i := range 11 { // several pages
		put(t, s, fmt.Sprintf("a/ann/evt_%02d/1.json", i), "goes")
	}
	put(t, s, "a/ann/x", "goes")
	require.GreaterOrEqual(t, purge(t, s, "a/ann/"), 12)
	require.Equal(t, beside, list(t, s, "", 100, ""))
	require.Zero(t, purge(t, s, "a/ann/"), "a repetition finds nothing")
	put(t, s, "a/ann/x", "again")
	require.NotZero(t, purge(t, s, "a/ann/"))
	require.Equal(t, beside, list(t, s, "", 100, ""))
}

func purgeName(t *testing.T, s blob.Store) {
	for _, name := range []string{"a/b", "a/b/c", "a/b.json", "a/bc"} {
		put(t, s, name, name)
	}
	require.NotZero(t, purge(t, s, "a/b"))
	require.Equal(t, []string{"a/b.json", "a/b/c", "a/bc"}, list(t, s, "", 10, ""))
	require.Zero(t, purge(t, s, "a/b"))
	require.Zero(t, purge(t, s, "never"))
}

func purgeInvalid(t *testing.T, s blob.Store) {
	put(t, s, "a/b", "stays")
	for _, name := range []string{"", "/", "a//", "../", "/a", "a/../b/"} {
		_, err := purger(t, s).Purge(t.Context(), name)
		require.ErrorIs(t, err, blob.ErrInvalid, name)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, name := range []string{"a/", "a/b"} {
		_, err := purger(t, s).Purge(ctx, name)
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, err, blob.ErrUnavailable)
	}
	holds(t, s, "a/b", "stays")
}
