package verify_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/verify"
)

// Rows of the release whose index partition had no user: a repair moves them.
func TestVerifier_movesEachEdgeToItsUsersIndexPartition(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.populate(ann)
	w.populate("ben")
	require.True(t, w.drain())
	want := append(w.rows(ann, "LINK#"), w.rows("ben", "LINK#")...)
	require.NotEmpty(t, want)
	old := 0
	for _, row := range want {
		_, target, err := entity.ParseLink(row.Str(item.AttrSK))
		require.NoError(t, err)
		w.set(row.Key(), item.AttrGSI4PK, item.String("LINKED#"+target.Type+"#"+target.ID))
		old++
	}
	w.lose()
	found, sum := w.verify(verify.Options{})
	require.EqualValues(t, old, sum.Remaining)
	for _, d := range found {
		require.Equal(t, verify.Edge, d.Kind)
	}
	found, sum = w.verify(verify.Options{Repair: true})
	require.Len(t, found, old)
	require.Zero(t, sum.Remaining)
	require.Equal(t, want, append(w.rows(ann, "LINK#"), w.rows("ben", "LINK#")...))
	found, _ = w.verify(verify.Options{})
	require.Empty(t, found)
}
