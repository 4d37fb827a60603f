package span_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/span"
)

// The ids of the documented command line: printf '%s#%s#%s' ... | sha256sum | cut -c 1-16.
func TestID_isWhatTheDocumentedCommandPrints(t *testing.T) {
	t.Parallel()
	const trace = "0123456789abcdef0123456789abcdef"
	require.Equal(t, "95b1524988482cb1", span.ID(trace, span.PartCommand, span.PlaceWrite))
	require.Equal(t, "4314a257a949fca8", span.ID(trace, "stats", "stats"))
	require.NotEqual(t, span.ID(trace, "stats", "stats"), span.ID(trace, "stats", span.Again("stats", 2)))
	require.Equal(t, "stats", span.Again("stats", 1))
}

func TestFrom_returnsTheSpanOfTheContext(t *testing.T) {
	t.Parallel()
	_, ok := span.From(t.Context())
	require.False(t, ok)
	within, ok := span.From(span.With(t.Context(), func() span.Within { return span.Within{Trace: "t", ID: "i"} }))
	require.True(t, ok)
	require.Equal(t, span.Within{Trace: "t", ID: "i"}, within)
}
