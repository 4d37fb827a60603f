package account_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/account"
	"nexus/pkg/entity"
	"nexus/pkg/entity/departure"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// wrote gives the user settings that were written now.
func (w *fixture) wrote(user string) {
	w.Helper()
	row := entity.MetaKey(user).Item()
	row.SetTime(entity.AttrUpdatedAt, w.now)
	require.NoError(w, w.store.Put(w.Context(), table.Put{Item: row}))
}

// setBackAfter erases a user, and sets the table back after a while.
func setBackAfter(t *testing.T, while time.Duration) *fixture {
	return restored(t, func(w *fixture) { w.wrote("ann") }, func(w *fixture) {
		require.NoError(t, w.service().LeaveNow(t.Context(), "ann"))
		w.erased("ann")
		w.now = noon.Add(while)
	})
}

const day = 24 * time.Hour

func TestAgain_failsOnAUserWhoseEntryIsTooOld(t *testing.T) {
	t.Parallel()
	w := setBackAfter(t, 37*day)
	require.Equal(t, 1, w.again().Erased)
	require.NoError(t, w.again().Check())

	for _, age := range []time.Duration{39 * day, 41 * day} { // S3 ends objects late
		w = setBackAfter(t, age)
		w.wrote("ben") // of the present, so that the table is not old
		before := w.digest("ann")
		a := w.again()
		require.Zero(t, a.Erased)
		require.Equal(t, []string{w.pepper.Erasure("ann")}, a.TooOld, age)
		require.ErrorIs(t, a.Check(), account.ErrTooOld)
		require.ErrorContains(t, a.Check(), a.TooOld[0])
		require.Equal(t, before, w.digest("ann"), "nothing says that it is not a stranger's")
	}

	w.wrote("ann") // a stranger has the id
	require.Empty(t, w.again().TooOld)
	require.NoError(t, w.again().Check())
}

func TestAgain_failsOnATableThatIsOlderThanTheList(t *testing.T) {
	t.Parallel()
	w := setBackAfter(t, 37*day)
	require.False(t, w.again().IsOld)
	w = setBackAfter(t, 41*day)
	_, err := w.archive.Purge(t.Context(), account.ErasedPrefix)
	require.NoError(t, err)
	a := w.again()
	require.True(t, a.IsOld)
	require.True(t, noon.Equal(a.Newest))
	require.ErrorIs(t, a.Check(), account.ErrTooOld)
	require.ErrorContains(t, a.Check(), "no row was written after "+item.FormatInstant(noon))
	require.NoError(t, account.Again{}.Check(), "an empty table")
}

func TestAgain_putsEachRowOnce(t *testing.T) {
	t.Parallel()
	w := setBackAfter(t, day)
	require.Equal(t, 1, w.again().Put)
	require.Zero(t, w.again().Put, "the row is there")
}

func TestEraser_noticesATableThatIsOlderThanTheList(t *testing.T) {
	t.Parallel()
	needs := func(w *fixture, wasSetBack bool) bool {
		needs, err := w.eraser().NeedsAgain(t.Context(), wasSetBack)
		require.NoError(t, err)
		return needs
	}
	w := populated(t)
	require.False(t, needs(w, true), "no account has ever left")
	require.NoError(t, w.service().LeaveNow(t.Context(), "ann"))
	require.False(t, needs(w, false))
	require.True(t, needs(w, true))
	w.erased("ann")
	require.False(t, needs(w, false), "the table knows")
	names, err := w.eraser().ErasedNames(t.Context())
	require.NoError(t, err)
	require.Equal(t, map[string]bool{w.pepper.Erasure("ann"): true}, names)
	require.NoError(t, w.store.Delete(t.Context(),
		table.Delete{Key: departure.StateKey(w.pepper.Erasure("ann"))}))
	require.True(t, needs(w, false))
	names, err = w.eraser().ErasedNames(t.Context())
	require.NoError(t, err)
	require.Empty(t, names)
	w.now = noon.Add(account.Remembered)
	require.False(t, needs(w, false), "the row has ended as the object does")
}
