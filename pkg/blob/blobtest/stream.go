package blobtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/blob"
)

func streamer(t *testing.T, s blob.Store) blob.Streamer {
	t.Helper()
	out, is := s.(blob.Streamer)
	require.True(t, is, "every adapter takes and gives objects of any size")
	return out
}

// pieces writes a body of so many bytes, which differ, in uneven pieces.
func pieces(size int) (whole []byte, fill func(io.Writer) error) {
	for i := 0; len(whole) < size; i++ {
		whole = fmt.Appendf(whole, "%08x.", i)
	}
	whole = whole[:size]
	return whole, func(to io.Writer) error {
		for rest, n := whole, 1; len(rest) > 0; n = n*3 + 1 {
			piece := rest[:min(n, len(rest))]
			if _, err := to.Write(piece); err != nil {
				return err
			}
			rest = rest[len(piece):]
		}
		return nil
	}
}

func streams(t *testing.T, s blob.Store) {
	out := streamer(t, s)
	for _, size := range []int{0, 1, 8 << 20, 8<<20 + 1, blob.MaxBody + 3<<20} {
		whole, fill := pieces(size)
		require.NoError(t, out.Write(t.Context(), "a/streamed.zip", fill))
		in, err := out.Open(t.Context(), "a/streamed.zip")
		require.NoError(t, err)
		got, err := io.ReadAll(in)
		require.NoError(t, errors.Join(err, in.Close()))
		require.True(t, bytes.Equal(whole, got), "%d bytes, got %d", size, len(got))
		require.Equal(t, []string{"a/streamed.zip"}, list(t, s, "", 10, ""))
	}
	put(t, s, "a/streamed.zip", "put over it")
	holds(t, s, "a/streamed.zip", "put over it")
	require.NotZero(t, purge(t, s, "a/"))
	_, err := out.Open(t.Context(), "a/streamed.zip")
	require.ErrorIs(t, err, blob.ErrNotFound)
}

func streamFails(t *testing.T, s blob.Store) {
	out, reason := streamer(t, s), errors.New("the reason")
	put(t, s, "a/b", "stays")
	for _, size := range []int{0, 1, 20 << 20} {
		_, fill := pieces(size)
		for _, name := range []string{"a/b", "a/c"} {
			err := out.Write(t.Context(), name, func(to io.Writer) error { return errors.Join(fill(to), reason) })
			require.ErrorIs(t, err, reason)
		}
	}
	holds(t, s, "a/b", "stays")
	require.Equal(t, []string{"a/b"}, list(t, s, "", 10, ""))
	require.Equal(t, 1, purge(t, s, "a/"), "nothing is left of what failed")
}

func streamInvalid(t *testing.T, s blob.Store) {
	out := streamer(t, s)
	_, fill := pieces(10)
	for _, name := range []string{"", "a/", "/a", "a/../b"} {
		require.ErrorIs(t, out.Write(t.Context(), name, fill), blob.ErrInvalid, name)
		_, err := out.Open(t.Context(), name)
		require.ErrorIs(t, err, blob.ErrInvalid, name)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, out.Write(ctx, "a", fill), context.Canceled)
	_, err := out.Open(ctx, "a")
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, list(t, s, "", 10, ""))
}
