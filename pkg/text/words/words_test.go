package words_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/text"
	"nexus/pkg/text/words"
)

func TestSplit_saysWhereWordsAre(t *testing.T) {
	t.Parallel()
	const s = "Résumé, e-mail (3.14)  👍 \u0301"
	var parts []string
	for _, w := range words.Split(s) {
		parts = append(parts, s[w.From:w.To]+"="+w.Folded)
	}
	require.Equal(t, []string{"Résumé=resume", "e=e", "mail=mail", "3.14=3.14"}, parts)
	require.Equal(t, []text.Word{{Folded: "a", From: 1, To: 2}}, words.Split(" A"))
	require.Empty(t, words.Split("… – \xff"))
}

func TestFold_hasOneFormForOneWord(t *testing.T) {
	t.Parallel()
	for _, same := range [][]string{
		{"resume", "RÉSUMÉ", "re\u0301sume\u0301", "ｒｅｓｕｍｅ"},
		{"strasse", "STRASSE", "Straße"},
		{"회의", "회의"},
		{"σισυφοσ", "Σίσυφος"},
		{"i", "İ"},
	} {
		for _, s := range same {
			require.Equal(t, same[0], words.Fold(s), "%q", s)
			require.Equal(t, same[0], words.Fold(words.Fold(s)), "%q", s)
		}
	}
}
