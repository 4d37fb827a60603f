package change_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
)

func TestParseIsTheInverseOfAppendRecord(t *testing.T) {
	t.Parallel()
	for _, rec := range batch(2) {
		raw := change.AppendRecord(nil, rec)
		t.Log(len(raw))
		got, err := change.Parse(raw)
		require.NoError(t, err)
		require.Equal(t, rec, got)
	}
}
