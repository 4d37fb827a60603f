package account_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/account"
	"nexus/pkg/entity/departure"
	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// restored is a fixture after the table, the schedules and the parked records came back as they were at an instant:
// everything of the users, and of the accounts' rows those of then.
func restored(t *testing.T, then func(w *fixture), since func(w *fixture)) *fixture {
	t.Helper()
	w := populated(t)
	then(w)
	rows := w.rows()
	since(w)
	for _, it := range w.rows() {
		require.NoError(t, w.store.Delete(t.Context(), table.Delete{Key: it.Key()}))
	}
	require.NoError(t, w.store.Load(t.Context(), rows))
	return w
}

func (w *fixture) again() account.Again {
	w.Helper()
	a, err := w.eraser().Again(w.Context(), w.store)
	require.NoError(w, err)
	return a
}

func TestAgain_erasesWhomARestoreBroughtBack(t *testing.T) {
	t.Parallel()
	nothing := func(*fixture) {}
	w := restored(t, nothing, func(w *fixture) {
		require.NoError(t, w.service().LeaveNow(t.Context(), "ann"))
		w.erased("ann")
		w.now = w.now.Add(30 * 24 * time.Hour)
	})
	require.NotEmpty(t, w.dataOf("ann"))
	require.Equal(t, account.Present, w.state("ann"), "the restore took the row away")
	before := w.digest(neighbours...)
	require.Equal(t, 1, w.again().Erased)
	require.Empty(t, w.dataOf("ann"))
	require.Equal(t, before, w.digest(neighbours...), "law E3")
	require.Equal(t, account.Erased, w.state("ann"))
	require.Equal(t, 0, w.again().Erased, "a repetition finds nothing")
	require.Len(t, w.published(), 1, "subscribers know already")

	w.now = noon.Add(account.Remembered + time.Hour)
	require.Equal(t, account.Present, w.state("ann"), "40 days of the erasure, not of the restore")
}

func TestAgain_endsAnErasureThatARestoreBroughtBack(t *testing.T) {
	t.Parallel()
	const never = 1 << 20
	for what, dies := range map[string]func(w *fixture) bool{
		"before the first row goes": func(w *fixture) bool { return w.steps > 10 },
		"when ERASED is missing":    func(w *fixture) bool { return len(w.published()) > 0 },
	} {
		w := restored(t, func(w *fixture) {
			require.NoError(t, w.service().LeaveNow(t.Context(), "ann"))
			w.steps, w.dieAt = 0, never
			w.watching = func() {
				if w.dieAt == never && dies(w) {
					w.dieAt = w.steps + 2
				}
			}
			require.Error(t, w.erase("ann"))
			w.dieAt, w.watching = 0, nil
			require.Equal(t, account.Erasing, w.state("ann"), what)
		}, func(w *fixture) { w.erased("ann") })
		require.Equal(t, account.Erasing, w.state("ann"), what)
		before := w.digest(neighbours...)
		require.Equal(t, 1, w.again().Erased, what)
		require.Empty(t, w.dataOf("ann"), what)
		require.Equal(t, account.Erased, w.state("ann"), what)
		require.Equal(t, before, w.digest(neighbours...), "law E3")
	}
}

func TestAgain_goesByTheInstantAndNotByThePresence(t *testing.T) {
	t.Parallel()
	w := populated(t)
	require.NoError(t, w.service().LeaveNow(t.Context(), "ann"))
	w.erased("ann")
	w.now = w.now.Add(account.Remembered)
	w.populate("ann") // a stranger with the id; S3 has not ended the object yet
	before := w.digest("ann")
	require.Zero(t, w.again().Erased)
	require.Equal(t, before, w.digest("ann"))
}

func TestAgain_findsUsersWhoHaveNoRow(t *testing.T) {
	t.Parallel()
	for what, keep := range map[string]string{
		"a cold copy": "archive archive/", "a parked record": "parking parked/stats/ann/", "a schedule": "schedule reminder-",
	} {
		w := setup(t)
		require.NoError(t, w.service().LeaveNow(t.Context(), "ann"))
		w.erased("ann")
		w.populate("ann")
		for _, it := range w.rows() {
			if _, isAccount := departure.Name(it.Key()); !isAccount && it.Key() != departure.FormKey() &&
				it.Key() != departure.PepperKey() {
				require.NoError(t, w.store.Delete(t.Context(), table.Delete{Key: it.Key()}))
			}
		}
		if keep != "archive archive/" {
			_, err := w.archive.Purge(t.Context(), "archive/")
			require.NoError(t, err)
		}
		if keep != "schedule reminder-" {
			for _, e := range w.calls.Entries() {
				require.NoError(t, w.calls.Delete(t.Context(), e.Name))
			}
		}
		if keep != "parking parked/stats/ann/" {
			_, err := w.parking.Purge(t.Context(), "parked/")
			require.NoError(t, err)
		}
		require.NotEmpty(t, w.dataOf("ann"), what)
		require.Equal(t, 1, w.again().Erased, what)
		require.Empty(t, w.dataOf("ann"), what)
	}
}

func TestAgain_keepsRequestsAndErasesThoseThatAreDue(t *testing.T) {
	t.Parallel()
	leave := func(w *fixture) {
		_, err := w.service().Leave(t.Context(), "ann")
		require.NoError(t, err)
	}
	w := restored(t, func(*fixture) {}, leave)
	a := w.again()
	require.Equal(t, account.Again{Rows: a.Rows, Waits: 1, Put: 1}, a)
	require.Equal(t, account.Leaving, w.state("ann"), "its request counts though the restore took its row away")
	require.NotEmpty(t, w.dataOf("ann"))
	w.now = noon.Add(account.Notice)
	finished, err := w.eraser().Run(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, finished, "its row knows its user again")
	require.Empty(t, w.dataOf("ann"))

	w = restored(t, func(*fixture) {}, leave)
	w.now = noon.Add(account.Notice)
	require.Equal(t, 1, w.again().Erased)
	require.Empty(t, w.dataOf("ann"))
	require.Len(t, w.published(), 1)

	w = restored(t, leave, func(w *fixture) { require.NoError(t, w.service().Return(t.Context(), "ann")) })
	require.Equal(t, account.Leaving, w.state("ann"))
	before := w.digest("ann")
	require.Equal(t, 1, w.again().Undone, "it was taken back since")
	require.Equal(t, account.Present, w.state("ann"))
	require.Equal(t, before, w.digest("ann"))
}

// A death before or after each call ends the same when it is repeated, and the fence stands before the first row goes.
func TestAgain_endsTheSameWhereverItsProcessDies(t *testing.T) {
	t.Parallel()
	for step := 1; ; step += 7 {
		w := setup(t)
		for _, user := range []string{"anna", "ann"} {
			w.populate(user)
		}
		require.NoError(t, w.service().LeaveNow(t.Context(), "ann"))
		w.erased("ann")
		w.populate("ann")
		require.NoError(t, w.store.Delete(t.Context(), table.Delete{Key: departure.StateKey(w.pepper.Erasure("ann"))}))
		whole, beside := len(w.dataOf("ann")), w.digest("anna")
		w.steps, w.dieAt = 0, step
		_, err := w.eraser().Again(t.Context(), w.store)
		w.dieAt = 0
		if len(w.dataOf("ann")) < whole {
			require.Equal(t, account.Erased, w.state("ann"), "step %d", step)
		}
		if err == nil {
			break
		}
		w.again()
		require.Empty(t, w.dataOf("ann"), "step %d", step)
		require.Equal(t, beside, w.digest("anna"), "step %d", step)
	}
}

func TestAgain_refusesAnObjectThatSaysNoInstant(t *testing.T) {
	t.Parallel()
	w := setup(t)
	require.NoError(t, w.archive.Put(t.Context(), "erased/"+w.pepper.Erasure("ann"), []byte(`{"erasedAt":"soon"}`)))
	_, err := w.eraser().Again(t.Context(), w.store)
	require.ErrorContains(t, err, "erased/")
	require.Empty(t, w.dataOf("ann"))
}

// A restore may cut a transaction: each of these is there, and nothing that leads to it.
func TestAgain_findsWhatNothingNames(t *testing.T) {
	t.Parallel()
	tree, plan := repository.Address{User: "ann"}, repository.Address{User: "ann", Date: "2026-03-02"}
	for what, keys := range map[string][]item.Key{
		"a head without the row of its day":      {plan.HeadKey()},
		"revisions of a plan without its head":   {plan.LogKey(revision), plan.LogKey(announced)},
		"a head and revisions":                   {plan.HeadKey(), plan.LogKey(revision)},
		"rows of a plan's snapshot without logs": {plan.TodoKey(revision, 1, "act_1"), plan.TodoKey(revision, 2, "act_2")},
		"rows of a tree's snapshot without logs": {tree.NodeKey(announced, "act_1")},
	} {
		for _, isErased := range []bool{true, false} {
			w := setup(t)
			w.populate("anna")
			beside := w.digest("anna")
			if isErased {
				require.NoError(t, w.service().LeaveNow(t.Context(), "ann"))
				w.erased("ann")
			} else {
				_, err := w.service().Leave(t.Context(), "ann")
				require.NoError(t, err)
				w.now = noon.Add(account.Notice)
			}
			for _, key := range keys {
				w.put(key, "ann")
			}
			a := w.again()
			require.Equal(t, 1, a.Erased, what)
			require.Len(t, a.Accounts, 1, what)
			require.EqualValues(t, len(keys), a.Accounts[0].Removed, what)
			require.Contains(t, w.log.String(), fmt.Sprintf("account erased\" account=%s removed=%d passes=2",
				w.pepper.Erasure("ann"), len(keys)), what)
			require.Empty(t, w.dataOf("ann"), what)
			require.Equal(t, beside, w.digest("anna"), "law E3")
			require.Zero(t, w.again().Erased, what)
		}
	}
}

// The table has the row of a request that was taken back since, and the account was asked for again.
func TestAgain_goesByTheLastRequest(t *testing.T) {
	t.Parallel()
	leave := func(w *fixture) {
		_, err := w.service().Leave(t.Context(), "ann")
		require.NoError(t, err)
	}
	w := restored(t, leave, func(w *fixture) {
		require.NoError(t, w.service().Return(t.Context(), "ann"))
		w.now = noon.Add(48 * time.Hour)
		leave(w)
	})
	w.now = noon.Add(account.Notice)
	require.Equal(t, 1, w.again().Waits)
	finished, err := w.eraser().Run(t.Context())
	require.NoError(t, err)
	require.Zero(t, finished, "the user was promised two more days")
	w.now = w.now.Add(48 * time.Hour)
	finished, err = w.eraser().Run(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, finished)

	w = restored(t, leave, func(w *fixture) {
		w.now = noon.Add(time.Hour)
		require.NoError(t, w.service().LeaveNow(t.Context(), "ann"))
	})
	require.Equal(t, 1, w.again().Erased, "it was hastened")
	require.Empty(t, w.dataOf("ann"))
}
