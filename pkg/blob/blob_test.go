package blob_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/blob"
)

// long is a name of n bytes in segments of the greatest length.
func long(n int) string {
	var b strings.Builder
	for b.Len() < n {
		if b.Len()%(blob.MaxSegment+1) == blob.MaxSegment {
			b.WriteByte('/')
			continue
		}
		b.WriteByte('a')
	}
	return b.String()
}

func TestCheckName_takesSegmentsOfHarmlessCharacters(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"a", "A-z_0.9=", "archive/user_1/task_x/3.json", "...", "a/..b/c..", ".hidden", strings.Repeat("a", blob.MaxSegment),
		long(blob.MaxName),
	} {
		require.NoError(t, blob.CheckName(name), name)
	}
	for _, name := range []string{
		"", "/", "/a", "a/", "a//b", ".", "..", "../a", "a/../b", "a/.", "a b", "a\\b", "a\x00", "ä", "a+b", "a,b", "a:b",
		"a%2fb", "a\n", strings.Repeat("a", blob.MaxSegment+1), long(blob.MaxName + 1),
	} {
		err := blob.CheckName(name)
		require.ErrorIs(t, err, blob.ErrInvalid, name)
		var invalid *blob.InvalidError
		require.ErrorAs(t, err, &invalid)
		require.Equal(t, "name", invalid.Argument)
	}
}

func TestCheckList_letsArgumentsEndAnywhere(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"", "a", "a/", "a/b", "a/b/"} {
		require.NoError(t, blob.CheckList(path, 1, path), path)
	}
	tests := []struct {
		prefix   string
		limit    int
		after    string
		argument string
	}{
		{"/", 1, "", "prefix"}, {"../", 1, "", "prefix"}, {"a//", 1, "", "prefix"}, {"a*", 1, "", "prefix"},
		{"", 1, "..", "after"}, {"", 0, "", "limit"}, {"", -1, "", "limit"}, {"", blob.MaxList + 1, "", "limit"},
	}
	for _, tt := range tests {
		var invalid *blob.InvalidError
		require.ErrorAs(t, blob.CheckList(tt.prefix, tt.limit, tt.after), &invalid)
		require.Equal(t, tt.argument, invalid.Argument)
	}
}

func TestCheckBody_boundsTheBody(t *testing.T) {
	t.Parallel()
	require.NoError(t, blob.CheckBody(make([]byte, blob.MaxBody)))
	require.ErrorIs(t, blob.CheckBody(make([]byte, blob.MaxBody+1)), blob.ErrInvalid)
}
