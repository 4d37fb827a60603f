package account_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/account"
	"nexus/pkg/entity/departure"
	"nexus/pkg/item"
	"nexus/pkg/pepper"
	"nexus/pkg/table"
)

func TestService_letsAnAccountLeaveAndReturn(t *testing.T) {
	t.Parallel()
	w := populated(t)
	before := w.digest("ann")
	eraseAt, err := w.service().Leave(t.Context(), "ann")
	require.NoError(t, err)
	w.now = w.now.Add(time.Hour)
	again, err := w.service().Leave(t.Context(), "ann")
	require.NoError(t, err)
	require.Equal(t, eraseAt, again, "a repetition does not put the erasure off")
	require.Equal(t, account.Leaving, w.state("ann"))
	require.Equal(t, account.Present, w.state("ben"))

	require.NoError(t, w.service().Return(t.Context(), "ann"))
	require.ErrorIs(t, w.service().Return(t.Context(), "ann"), account.ErrPresent)
	require.Equal(t, account.Present, w.state("ann"))
	require.Empty(t, w.objects("leaving/"))
	require.Equal(t, before, w.digest("ann"), "law E2")
	w.now = eraseAt.Add(time.Hour)
	finished, err := w.eraser().Run(t.Context())
	require.NoError(t, err)
	require.Zero(t, finished)
	require.Equal(t, before, w.digest("ann"), "law E2")
}

func TestService_takesNothingBackOfAnErasure(t *testing.T) {
	t.Parallel()
	w := populated(t)
	require.NoError(t, w.service().LeaveNow(t.Context(), "ann"))
	w.steps, w.dieAt = 0, 20
	require.Error(t, w.erase("ann"))
	w.dieAt = 0
	for range 2 {
		require.ErrorIs(t, w.service().Return(t.Context(), "ann"), account.ErrErased)
		_, err := w.service().Leave(t.Context(), "ann")
		require.ErrorIs(t, err, account.ErrErased)
		require.ErrorIs(t, w.service().LeaveNow(t.Context(), "ann"), account.ErrErased)
		w.erased("ann")
	}
	w.now = w.now.Add(account.Remembered)
	require.Equal(t, account.Present, w.state("ann"), "the id is a stranger's, though TTL has not removed the row")
	_, err := w.service().Leave(t.Context(), "ann")
	require.NoError(t, err)
	require.Equal(t, account.Leaving, w.state("ann"))
}

// A death before or after each call of a request or a return leaves a state from which a repetition ends the same.
func TestService_endsTheSameWhereverItsProcessDies(t *testing.T) {
	t.Parallel()
	for step := 1; ; step++ {
		w := populated(t)
		w.steps, w.dieAt = 0, step
		if _, err := w.service().Leave(t.Context(), "ann"); err == nil {
			break
		}
		w.dieAt = 0
		if w.state("ann") == account.Leaving {
			require.Len(t, w.objects("leaving/"), 1, "step %d: no row is without its object", step)
		}
		_, err := w.service().Leave(t.Context(), "ann")
		require.NoError(t, err)
		require.Len(t, w.objects("leaving/"), 1, "step %d", step)
		require.Equal(t, account.Leaving, w.state("ann"), "step %d", step)
	}
	for step := 1; ; step++ {
		w := populated(t)
		_, err := w.service().Leave(t.Context(), "ann")
		require.NoError(t, err)
		w.steps, w.dieAt = 0, step
		if err := w.service().Return(t.Context(), "ann"); err == nil {
			break
		}
		w.dieAt = 0
		if err := w.service().Return(t.Context(), "ann"); err != nil {
			require.ErrorIs(t, err, account.ErrPresent)
		}
		require.Equal(t, account.Present, w.state("ann"), "step %d", step)
		w.now = w.now.Add(time.Hour)
		_, err = w.eraser().Run(t.Context())
		require.NoError(t, err)
		require.Empty(t, w.objects("leaving/"), "step %d", step)
	}
}

func TestService_refusesAnotherPepper(t *testing.T) {
	t.Parallel()
	w := populated(t)
	_, err := w.service().Leave(t.Context(), "ann")
	require.NoError(t, err)
	other, err := pepper.New(rand.NewChaCha8([32]byte{2}))
	require.NoError(t, err)
	own := w.pepper
	w.pepper = other
	_, err = w.service().Leave(t.Context(), "ben")
	require.ErrorIs(t, err, account.ErrPepper, "by the object")
	require.NoError(t, w.archive.Delete(t.Context(), account.PepperObject))
	_, err = w.service().Leave(t.Context(), "ben")
	require.ErrorIs(t, err, account.ErrPepper, "by the row")
	w.pepper = own
	require.Equal(t, account.Leaving, w.state("ann"))
}

func (w *fixture) fence(memory time.Duration) *account.Fence {
	return account.NewFence(account.FenceConfig{
		Store: w.store, Pepper: w.pepper, Now: func() time.Time { return w.now }, Memory: memory,
	})
}

// asked returns a fence, and a function that asks it for ann's state.
func (w *fixture) asked(memory time.Duration) (*account.Fence, func() account.State) {
	f := w.fence(memory)
	return f, func() account.State {
		state, _, err := f.State(w.Context(), "ann")
		require.NoError(w, err)
		return state
	}
}

func TestFence_remembersAStateForAMinute(t *testing.T) {
	t.Parallel()
	w := populated(t)
	f, state := w.asked(account.Memory)
	require.Equal(t, account.Present, state())
	_, err := w.service().Leave(t.Context(), "ann")
	require.NoError(t, err)
	w.now = w.now.Add(account.Memory - time.Second)
	w.steps = 0
	require.Equal(t, account.Present, state())
	require.Zero(t, w.steps, "no call")
	fresh, err := f.Fresh(t.Context(), "ann")
	require.NoError(t, err)
	require.Equal(t, account.Leaving, fresh)
	w.now = w.now.Add(time.Second)
	require.Equal(t, account.Leaving, state())
	w.now = w.now.Add(-time.Hour)
	require.NoError(t, w.service().Return(t.Context(), "ann"))
	require.Equal(t, account.Present, state(), "a clock that went back makes no answer young")
}

func TestFence_forgetsWhatWasReadBeforeAChange(t *testing.T) {
	t.Parallel()
	w := populated(t)
	f, state := w.asked(account.Memory)
	require.Equal(t, account.Present, state())
	_, err := w.service().Leave(t.Context(), "ann")
	require.NoError(t, err)
	f.Forget()
	require.Equal(t, account.Leaving, state())

	f.Forget()
	w.watching = func() { f.Forget() } // the state changes while it is read
	require.Equal(t, account.Leaving, state())
	w.watching, w.steps = nil, 0
	require.Equal(t, account.Leaving, state())
	require.NotZero(t, w.steps, "an answer from before the change is not remembered")
	w.steps = 0
	require.Equal(t, account.Leaving, state())
	require.Zero(t, w.steps)
}

func TestFence_countsAgeFromBeforeTheRead(t *testing.T) {
	t.Parallel()
	w := populated(t)
	f := w.fence(account.Memory)
	w.watching = func() { w.now = w.now.Add(20 * time.Second) } // the read takes 40
	_, _, err := f.State(t.Context(), "ann")
	require.NoError(t, err)
	w.watching, w.steps = nil, 0
	w.now = w.now.Add(20 * time.Second)
	_, _, err = f.State(t.Context(), "ann")
	require.NoError(t, err)
	require.NotZero(t, w.steps)
}

func TestFence_refusesAnotherPepperThanTheTables(t *testing.T) {
	t.Parallel()
	w := populated(t)
	_, err := w.service().Leave(t.Context(), "ann")
	require.NoError(t, err)
	w.pepper, err = pepper.New(rand.NewChaCha8([32]byte{2}))
	require.NoError(t, err)
	for range 2 {
		_, _, err = w.fence(account.Memory).State(t.Context(), "ben")
		require.ErrorIs(t, err, account.ErrPepper)
	}
}

func TestFence_readsHalfAUnit(t *testing.T) {
	t.Parallel()
	w := populated(t)
	_, err := w.service().Leave(t.Context(), "ann")
	require.NoError(t, err)
	units := 0.0
	f := account.NewFence(account.FenceConfig{
		Store:  w.store.Observed(func(u table.Consumption) { units += u.ReadUnits }),
		Pepper: w.pepper, Now: func() time.Time { return w.now }, Memory: account.Memory,
	})
	for _, user := range []string{"ann", "ben", "ann"} {
		_, _, err := f.State(t.Context(), user)
		require.NoError(t, err)
	}
	require.InDelta(t, 1.5, units, 0, "two rows for the first, one for the second, none for the third")
}

func TestFence_asksOnceForAllUsersOfABatch(t *testing.T) {
	t.Parallel()
	w := populated(t)
	row := departure.StateKey(w.pepper.Erasure("ann")).Item()
	row["state"] = item.String("ERASED")
	require.NoError(t, w.store.Put(t.Context(), table.Put{Item: row}))
	_, err := w.service().Leave(t.Context(), "ben")
	require.NoError(t, err)
	calls := 0
	f := account.NewFence(account.FenceConfig{
		Store:  w.store.Observed(func(table.Consumption) { calls++ }),
		Pepper: w.pepper, Now: func() time.Time { return w.now }, Memory: account.Memory,
	})
	for range 2 {
		gone, err := f.Gone(t.Context(), []string{"ben", "ann", "cleo"})
		require.NoError(t, err)
		require.Equal(t, map[string]bool{"ann": true}, gone, "one who is leaving is still there")
		require.Equal(t, 1, calls)
	}
	gone, err := f.Gone(t.Context(), []string{"ann", "dora"})
	require.NoError(t, err)
	require.Equal(t, map[string]bool{"ann": true}, gone)
	require.Equal(t, 2, calls)

	state, _, err := w.fence(0).State(t.Context(), "ben")
	require.NoError(t, err)
	require.Equal(t, account.Leaving, state)
}

// A later release may know a state that this one does not: nothing works for such an account, and nothing erases it.
func TestState_isReadFromTheRow(t *testing.T) {
	t.Parallel()
	w := setup(t)
	row := departure.StateKey(w.pepper.Erasure("ann")).Item()
	row["state"] = item.String("ERASED")
	row["ttl"] = item.Int(w.now.Unix() + 1)
	require.NoError(t, w.store.Put(t.Context(), table.Put{Item: row}))
	require.Equal(t, account.Erased, w.state("ann"))
	require.True(t, w.state("ann").IsGone())
	w.now = w.now.Add(time.Second)
	require.Equal(t, account.Present, w.state("ann"))
	require.False(t, account.Leaving.IsGone())
	require.True(t, account.Erasing.IsGone())
}
