package text_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/text"
)

func TestOneLine_makesTextOneLineAndPlainForAnImport(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"": "", "as it is": "as it is", "two\r\nlines": "two lines", "\u202egnp.exe": " gnp.exe",
		"a\x00\x01\u2028b\u2069": "a b ",
	} {
		require.Equal(t, want, text.OneLine(s), "%q", s)
		require.Empty(t, text.CheckLine(text.OneLine(s)))
	}
	for s, want := range map[string]string{
		"a\r\nb\tc": "a\nb\tc", "a\x00b\rc": "a b c", "\u202eas it is": "\u202eas it is",
	} {
		require.Equal(t, want, text.PlainMarkdown(s), "%q", s)
		require.Empty(t, text.CheckMarkdown(text.PlainMarkdown(s)))
	}
}
