package text_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/text"
)

func TestFold_ignoresCaseAndComposition(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ a, b string }{
		{"Straße", "STRASSE"}, {"É", "e\u0301"}, {"ΣΊΣΥΦΟΣ", "σίσυφος"}, {"", ""},
	} {
		require.Equal(t, text.Fold(c.a), text.Fold(c.b))
	}
	require.NotEqual(t, text.Fold("resume"), text.Fold("résumé"))
}
