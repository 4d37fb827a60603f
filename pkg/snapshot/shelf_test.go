package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/blob"
	"nexus/pkg/blob/memory"
)

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// small returns a shelf whose pieces have 64 bytes.
func small(objects blob.Store) *Shelf {
	s := New(objects, "search", 7)
	s.piece = 64
	return s
}

func names(t *testing.T, objects blob.Store) []string {
	t.Helper()
	all, err := objects.List(t.Context(), "", blob.MaxList, "")
	require.NoError(t, err)
	return all
}

func TestShelf_returnsWhatWasSaved(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, 64 - header, 65 - header, 500} {
		objects := memory.New(nil)
		s, body := small(objects), bytes.Repeat([]byte{1, 2, 3, 4, 5}, size)[:size]
		at := At{N: 12, X: 0xab}
		require.NoError(t, s.Save(t.Context(), "ann", at, body, noon))
		found, err := s.Newest(t.Context(), "ann")
		require.NoError(t, err)
		require.Equal(t, []At{at}, found)
		got, made, err := s.Load(t.Context(), "ann", at)
		require.NoError(t, err)
		require.Equal(t, noon, made)
		require.True(t, bytes.Equal(body, got))
		require.NoError(t, s.Remove(t.Context(), "ann", at))
		require.Empty(t, names(t, objects))
	}
}

func TestShelf_findsTheGreatestRowAndKeepsTwo(t *testing.T) {
	t.Parallel()
	objects := memory.New(nil)
	s := small(objects)
	var found []At
	for _, n := range []int64{1, 9, 10, 200, top - 1} {
		require.NoError(t, s.Save(t.Context(), "ann", At{n, uint64(n)}, make([]byte, 200), noon, found...))
		var err error
		found, err = s.Newest(t.Context(), "ann")
		require.NoError(t, err)
		require.Equal(t, At{n, uint64(n)}, found[0])
	}
	require.Len(t, names(t, objects), 2*4, "of two snapshots, four pieces each")
	for range 2 { // made again
		require.NoError(t, s.Save(t.Context(), "ann", found[0], make([]byte, 200), noon, found...))
		require.Len(t, names(t, objects), 2*4)
	}
	for _, other := range []string{"bob", "an"} { // no user's folder begins another's
		found, err := s.Newest(t.Context(), other)
		require.NoError(t, err)
		require.Empty(t, found)
	}
}

func TestShelf_removesWhatIsNoSnapshot(t *testing.T) {
	t.Parallel()
	objects := memory.New(nil)
	s := small(objects)
	require.NoError(t, s.Save(t.Context(), "ann", At{5, 6}, nil, noon))
	for _, name := range []string{"0", "000000000000-0000000000000000", "1000000000000-0000000000000000", "x-y"} {
		require.NoError(t, objects.Put(t.Context(), "snap/ann/search/"+name, nil))
	}
	found, err := s.Newest(t.Context(), "ann")
	require.NoError(t, err)
	require.Equal(t, []At{{5, 6}}, found)
	require.Len(t, names(t, objects), 1)
}

// TestShelf_tellsDamage changes each byte, cuts at each place and exchanges objects.
func TestShelf_tellsDamage(t *testing.T) {
	t.Parallel()
	objects := memory.New(nil)
	s, body, at := small(objects), bytes.Repeat([]byte("words "), 30), At{5, 6}
	require.NoError(t, s.Save(t.Context(), "ann", at, body, noon))
	refused := func(what string) {
		_, _, err := s.Load(t.Context(), "ann", at)
		require.True(t, errors.Is(err, ErrDamaged) || errors.Is(err, blob.ErrNotFound), "%s: %v", what, err)
	}
	for _, name := range names(t, objects) {
		whole, err := objects.Get(t.Context(), name)
		require.NoError(t, err)
		for i := range whole {
			other := bytes.Clone(whole)
			other[i] ^= 1
			require.NoError(t, objects.Put(t.Context(), name, other))
			refused(fmt.Sprint(name, " byte ", i))
			require.NoError(t, objects.Put(t.Context(), name, whole[:i]))
			refused(fmt.Sprint(name, " cut at ", i))
		}
		require.NoError(t, objects.Delete(t.Context(), name))
		refused(name + " is missing")
		require.NoError(t, objects.Put(t.Context(), name, whole))
	}
	require.NoError(t, s.Save(t.Context(), "bob", at, []byte("bob's"), noon))
	of, err := objects.Get(t.Context(), at.piece("bob", "search", 0))
	require.NoError(t, err)
	require.NoError(t, objects.Put(t.Context(), at.piece("ann", "search", 0), of))
	refused("another user's")
	_, _, err = New(objects, "search", 8).Load(t.Context(), "bob", at)
	require.ErrorIs(t, err, ErrDamaged, "another form")
}

func TestEndOld_removesWhatWasNotReplaced(t *testing.T) {
	t.Parallel()
	objects := memory.New(nil)
	s := small(objects)
	require.NoError(t, s.Save(t.Context(), "ann", At{1, 1}, make([]byte, 200), noon))
	require.NoError(t, s.Save(t.Context(), "bob", At{1, 1}, make([]byte, 200), noon.Add(time.Hour)))
	require.NoError(t, objects.Put(t.Context(), At{1, 1}.piece("cleo", "search", 1), nil)) // of none
	require.NoError(t, objects.Put(t.Context(), "archive/ann/a/1.json", nil))
	removed, err := EndOld(t.Context(), objects, noon.Add(Life))
	require.NoError(t, err)
	require.Equal(t, 5, removed)
	left := names(t, objects)
	require.Len(t, left, 5)
	require.Equal(t, "archive/ann/a/1.json", left[0])
	_, _, err = s.Load(t.Context(), "bob", At{1, 1})
	require.NoError(t, err)
}

func TestShelf_boundsASnapshot(t *testing.T) {
	t.Parallel()
	s := small(memory.New(nil))
	require.ErrorIs(t, s.Save(t.Context(), "ann", At{1, 1}, make([]byte, 64*maxPieces), noon), ErrTooLarge)
}

// TestShelf_leavesNoHalfSnapshot ends Save at each call: what is found then is whole.
func TestShelf_leavesNoHalfSnapshot(t *testing.T) {
	t.Parallel()
	for stop := 1; ; stop++ {
		calls := 0
		objects := memory.New(func(_, _ string, after bool) error {
			if calls++; calls == stop {
				return blob.ErrUnavailable
			}
			return nil
		})
		s := small(objects)
		err := s.Save(t.Context(), "ann", At{3, 4}, make([]byte, 300), noon)
		ended := err != nil
		calls = stop + 1
		found, err := s.Newest(t.Context(), "ann")
		require.NoError(t, err)
		for _, at := range found {
			_, _, err = s.Load(t.Context(), "ann", at)
			require.NoError(t, err, "stopped at call %d", stop)
		}
		if !ended {
			break
		}
	}
}
