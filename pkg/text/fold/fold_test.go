package fold_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/text/fold"
)

func TestFold_ignoresCaseAndComposition(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ a, b string }{
		{"Straße", "STRASSE"}, {"É", "e\u0301"}, {"ΣΊΣΥΦΟΣ", "σίσυφος"}, {"", ""},
	} {
		require.Equal(t, fold.String(c.a), fold.String(c.b))
	}
	require.NotEqual(t, fold.String("resume"), fold.String("résumé"))
}
