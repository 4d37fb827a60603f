package text_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/text"
)

func TestClip_cutsBetweenCharacters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		s     string
		limit int
		want  string
	}{
		{"", 0, ""}, {"abc", 3, "abc"}, {"abcd", 3, "abc…"}, {"abü", 4, "abü"}, {"abü", 3, "ab…"},
		{"aü€b", 5, "aü…"},
		{"aü€b", 6, "aü€…"}, {"€", 2, "…"}, {"\x80\x80\x80", 2, "…"}, {"a\xffb", 2, "a\xff…"},
	} {
		require.Equal(t, c.want, text.Clip(c.s, c.limit), "%q to %d", c.s, c.limit)
	}
}
