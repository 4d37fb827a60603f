// Package blobtest is the conformance suite of the object store port. Every adapter runs it, so that the code above the
// port may be tested on any of them.
package blobtest

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/blob"
)

// Run runs the suite; open returns a new empty store for each test.
func Run(t *testing.T, open func(t *testing.T) blob.Store) {
	for name, test := range map[string]func(*testing.T, blob.Store){
		"what is put comes back byte for byte":               roundTrip,
		"a put overwrites":                                   overwrite,
		"a missing object is not found":                      notFound,
		"deleting is final and repeatable":                   deleted,
		"a body is the caller's on both sides":               bodiesAreCopied,
		"names that differ by case are different objects":    caseMatters,
		"a name may begin with another and a slash":          nested,
		"names of the greatest length work":                  longNames,
		"a list is in the order of bytes and of the prefix":  listOrder,
		"pages of a list join without gap or repetition":     listPages,
		"a list of nothing is empty":                         listNothing,
		"invalid names, bodies and lists are refused":        invalid,
		"writers of one name leave one whole body":           concurrentWriters,
		"writers under one new folder do not disturb others": concurrentFolders,
		"a cancelled caller gets an error that says so":      cancelled,
		"a purge of a folder removes what is below it":       purgeFolder,
		"a purge of a name removes that object alone":        purgeName,
		"a purge of nothing in particular is refused":        purgeInvalid,
		"a body of any size is written and read in pieces":   streams,
		"a body that is not finished is not stored":          streamFails,
		"an invalid name of a stream is refused":             streamInvalid,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

func put(t *testing.T, s blob.Store, name, body string) {
	t.Helper()
	require.NoError(t, s.Put(t.Context(), name, []byte(body)))
}

func holds(t *testing.T, s blob.Store, name, body string) {
	t.Helper()
	got, err := s.Get(t.Context(), name)
	require.NoError(t, err, name)
	require.Equal(t, body, string(got), name)
}

func list(t *testing.T, s blob.Store, prefix string, limit int, after string) []string {
	t.Helper()
	names, err := s.List(t.Context(), prefix, limit, after)
	require.NoError(t, err)
	return names
}

func roundTrip(t *testing.T, s blob.Store) {
	bytes256 := make([]byte, 256)
	for i := range bytes256 {
		bytes256[i] = byte(i)
	}
	for name, body := range map[string]string{
		"empty":                  "",
		"archive/u_1/t_1/3.json": `{"title":"ä 😀"}`,
		"parked/raw":             string(bytes256),
		"large":                  strings.Repeat("0123456789abcdef", 1<<16),
	} {
		put(t, s, name, body)
		holds(t, s, name, body)
	}
	require.NoError(t, s.Put(t.Context(), "nil", nil))
	holds(t, s, "nil", "")
}

func overwrite(t *testing.T, s blob.Store) {
	put(t, s, "a/b", "a longer first body")
	put(t, s, "a/b", "second")
	holds(t, s, "a/b", "second")
	require.Equal(t, []string{"a/b"}, list(t, s, "", 10, ""))
}

func notFound(t *testing.T, s blob.Store) {
	put(t, s, "a/b/c", "x")
	for _, name := range []string{"b", "a", "a/b", "a/b/c/d", "a/b/x"} {
		_, err := s.Get(t.Context(), name)
		require.ErrorIs(t, err, blob.ErrNotFound, name)
		require.ErrorContains(t, err, fmt.Sprintf("%q", name))
	}
}

func deleted(t *testing.T, s blob.Store) {
	require.NoError(t, s.Delete(t.Context(), "never/was"))
	put(t, s, "a/b", "x")
	put(t, s, "a/c", "y")
	require.NoError(t, s.Delete(t.Context(), "a/b"))
	require.NoError(t, s.Delete(t.Context(), "a/b"))
	require.NoError(t, s.Delete(t.Context(), "a"), "a folder is no object")
	_, err := s.Get(t.Context(), "a/b")
	require.ErrorIs(t, err, blob.ErrNotFound)
	holds(t, s, "a/c", "y")
	require.Equal(t, []string{"a/c"}, list(t, s, "", 10, ""))
	put(t, s, "a/b", "again")
	holds(t, s, "a/b", "again")
}

func bodiesAreCopied(t *testing.T, s blob.Store) {
	body := []byte("before")
	require.NoError(t, s.Put(t.Context(), "a", body))
	copy(body, "after!")
	got, err := s.Get(t.Context(), "a")
	require.NoError(t, err)
	require.Equal(t, "before", string(got))
	copy(got, "after!")
	holds(t, s, "a", "before")
}

func caseMatters(t *testing.T, s blob.Store) {
	put(t, s, "User/Item.JSON", "upper")
	put(t, s, "user/item.json", "lower")
	holds(t, s, "User/Item.JSON", "upper")
	holds(t, s, "user/item.json", "lower")
	require.Equal(t, []string{"User/Item.JSON", "user/item.json"}, list(t, s, "", 10, ""))
	require.Equal(t, []string{"User/Item.JSON"}, list(t, s, "U", 10, ""))
}

func nested(t *testing.T, s blob.Store) {
	for _, name := range []string{"a", "a/b", "a/b/c", "a.d", "a=/b"} {
		put(t, s, name, "body of "+name)
	}
	for _, name := range []string{"a", "a/b", "a/b/c", "a.d", "a=/b"} {
		holds(t, s, name, "body of "+name)
	}
	require.Equal(t, []string{"a", "a.d", "a/b", "a/b/c", "a=/b"}, list(t, s, "", 10, ""))
	require.NoError(t, s.Delete(t.Context(), "a/b"))
	holds(t, s, "a", "body of a")
	holds(t, s, "a/b/c", "body of a/b/c")
}

func longNames(t *testing.T, s blob.Store) {
	var segments []string
	for _, c := range []string{"a", "B", "c", "D"} {
		segments = append(segments, strings.Repeat(c, blob.MaxSegment))
	}
	name := strings.Join(segments, "/")
	name += "/" + strings.Repeat("E", blob.MaxName-len(name)-1)
	require.Len(t, name, blob.MaxName)
	put(t, s, name, "x")
	holds(t, s, name, "x")
	require.Equal(t, []string{name}, list(t, s, name, 10, ""))
	require.NoError(t, s.Delete(t.Context(), name))
}

// unordered holds names whose order by bytes differs from the order of a walk through folders.
var unordered = []string{
	"x/b", "x/a/z", "x/a-b", "x/a.b", "x/a", "x/a=", "x/A", "x/_", "x/a/0", "x/a0", "x-", "x0/a", "w/a", "x/aa/b", "x",
}

func listOrder(t *testing.T, s blob.Store) {
	for _, name := range unordered {
		put(t, s, name, "")
	}
	for _, prefix := range []string{"", "x", "x/", "x/a", "x/a/", "x/a/z", "x/a.", "w", "y", "x/a/zz", "x/aa/b"} {
		var want []string
		for _, name := range unordered {
			if strings.HasPrefix(name, prefix) {
				want = append(want, name)
			}
		}
		slices.Sort(want)
		got := list(t, s, prefix, blob.MaxList, "")
		require.Equal(t, want, append([]string(nil), got...), "prefix %q", prefix)
	}
}

func listPages(t *testing.T, s blob.Store) {
	for _, name := range unordered {
		put(t, s, name, "")
	}
	sorted := slices.Sorted(slices.Values(unordered))
	for limit := 1; limit <= len(sorted)+1; limit++ {
		var all []string
		for after := ""; ; {
			page := list(t, s, "", limit, after)
			all = append(all, page...)
			if len(page) < limit {
				break
			}
			after = page[len(page)-1]
		}
		require.Equal(t, sorted, all, "limit %d", limit)
	}
	require.Equal(t, []string{"x/a0", "x/a=", "x/aa/b", "x/b"}, list(t, s, "x/", 10, "x/a/zzz"))
	require.Equal(t, []string{"x/a"}, list(t, s, "x/a", 1, "w"), "after need not exist")
	require.Empty(t, list(t, s, "w/", 10, "x"), "after behind the prefix")
}

func listNothing(t *testing.T, s blob.Store) {
	require.Empty(t, list(t, s, "", 10, ""))
	require.Empty(t, list(t, s, "a/b/", 10, "a/b/c"))
}

func invalid(t *testing.T, s blob.Store) {
	for _, name := range []string{
		"", "/a", "a/", "../a", "a/../../b", "a//b", "a\\b", "a\x00b", strings.Repeat("a", blob.MaxSegment+1),
	} {
		require.ErrorIs(t, s.Put(t.Context(), name, nil), blob.ErrInvalid, name)
		require.ErrorIs(t, s.Delete(t.Context(), name), blob.ErrInvalid, name)
		_, err := s.Get(t.Context(), name)
		require.ErrorIs(t, err, blob.ErrInvalid, name)
	}
	require.ErrorIs(t, s.Put(t.Context(), "a", make([]byte, blob.MaxBody+1)), blob.ErrInvalid)
	for _, call := range []struct {
		prefix, after string
		limit         int
	}{{"../", "", 1}, {"", "..", 1}, {"", "", 0}, {"", "", blob.MaxList + 1}} {
		_, err := s.List(t.Context(), call.prefix, call.limit, call.after)
		require.ErrorIs(t, err, blob.ErrInvalid)
	}
	require.Empty(t, list(t, s, "", 10, ""))
}

func concurrentWriters(t *testing.T, s blob.Store) {
	const writers, size = 6, 1 << 16
	var group sync.WaitGroup
	errs := make([]error, writers)
	for i := range writers {
		group.Go(func() {
			errs[i] = s.Put(context.Background(), "a/b", bytes.Repeat([]byte{byte('0' + i)}, size-i))
		})
	}
	group.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	got, err := s.Get(t.Context(), "a/b")
	require.NoError(t, err)
	require.Equal(t, bytes.Repeat(got[:1], size-int(got[0]-'0')), got)
}

func concurrentFolders(t *testing.T, s blob.Store) {
	const writers = 6
	var group sync.WaitGroup
	errs := make([]error, writers)
	for i := range writers {
		group.Go(func() {
			name := fmt.Sprintf("new/folder/of/all/%d", i)
			if errs[i] = s.Put(context.Background(), name, []byte(name)); errs[i] == nil && i%2 == 1 {
				errs[i] = s.Delete(context.Background(), name)
			}
		})
	}
	group.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	require.Equal(t, []string{"new/folder/of/all/0", "new/folder/of/all/2", "new/folder/of/all/4"},
		list(t, s, "new/", 10, ""))
}

func cancelled(t *testing.T, s blob.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, getErr := s.Get(ctx, "a")
	_, listErr := s.List(ctx, "", 1, "")
	for _, err := range []error{s.Put(ctx, "a", nil), s.Delete(ctx, "a"), getErr, listErr} {
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, err, blob.ErrUnavailable)
	}
}
