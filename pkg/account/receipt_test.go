package account_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/account"
	"nexus/pkg/idempotency"
	"nexus/pkg/item"
)

// A late repetition of a request under its key undoes no later one, wherever the process of the first died.
func TestService_carriesARequestUnderAKeyOutOnce(t *testing.T) {
	t.Parallel()
	for step := 0; ; step++ { // at step 0 no process dies
		w := populated(t)
		w.steps, w.dieAt = 0, step
		_, _, err := w.service().LeaveOnce(t.Context(), "ann", "leave")
		died := err != nil
		w.dieAt = 0
		if died {
			_, _, err = w.service().LeaveOnce(t.Context(), "ann", "leave")
			require.NoError(t, err, "step %d", step)
		} else if step > 0 {
			break
		}
		eraseAt, replayed, err := w.service().LeaveOnce(t.Context(), "ann", "leave")
		require.NoError(t, err)
		require.True(t, replayed)
		require.Equal(t, w.now.Add(account.Notice), eraseAt)

		w.steps, w.dieAt = 0, step
		_, err = w.service().ReturnOnce(t.Context(), "ann", "return")
		if w.dieAt = 0; err != nil {
			_, err = w.service().ReturnOnce(t.Context(), "ann", "return")
			if err != nil {
				require.ErrorIs(t, err, account.ErrPresent)
			}
		}
		require.Equal(t, account.Present, w.state("ann"), "step %d", step)
		w.now = w.now.Add(time.Hour)
		eraseAt, replayed, err = w.service().LeaveOnce(t.Context(), "ann", "leave")
		require.NoError(t, err)
		require.True(t, replayed)
		require.Zero(t, eraseAt, "the request was taken back")
		require.Equal(t, account.Present, w.state("ann"), "step %d", step)

		_, replayed, err = w.service().LeaveOnce(t.Context(), "ann", "leave again")
		require.NoError(t, err)
		require.False(t, replayed)
		replayed, err = w.service().ReturnOnce(t.Context(), "ann", "return")
		require.NoError(t, err)
		require.True(t, replayed)
		require.Equal(t, account.Leaving, w.state("ann"), "step %d", step)
	}
}

// A request that changes nothing takes its key, and so does no other request.
func TestService_takesTheKeyOfARequestThatChangesNothing(t *testing.T) {
	t.Parallel()
	w := populated(t)
	_, err := w.service().ReturnOnce(t.Context(), "ann", "return")
	require.ErrorIs(t, err, account.ErrPresent)
	first, _, err := w.service().LeaveOnce(t.Context(), "ann", "leave")
	require.NoError(t, err)
	again, replayed, err := w.service().LeaveOnce(t.Context(), "ann", "again")
	require.NoError(t, err)
	require.False(t, replayed)
	require.Equal(t, first, again)
	replayed, err = w.service().ReturnOnce(t.Context(), "ann", "return")
	require.NoError(t, err)
	require.True(t, replayed)
	require.Equal(t, account.Leaving, w.state("ann"))
	require.NoError(t, w.service().Return(t.Context(), "ann"))
	for _, key := range []string{"leave", "again"} {
		_, replayed, err = w.service().LeaveOnce(t.Context(), "ann", key)
		require.NoError(t, err)
		require.True(t, replayed)
	}
	require.Equal(t, account.Present, w.state("ann"))

	_, _, err = w.service().LeaveOnce(t.Context(), "ann", "return")
	require.ErrorIs(t, err, idempotency.ErrKeyReused)
	_, err = w.service().ReturnOnce(t.Context(), "ann", "leave")
	require.ErrorIs(t, err, idempotency.ErrKeyReused)
	_, err = w.service().ReturnOnce(t.Context(), "ann", "a\nb")
	require.ErrorIs(t, err, idempotency.ErrKey)
	w.now = w.now.Add(idempotency.Retention)
	_, replayed, err = w.service().LeaveOnce(t.Context(), "ann", "leave")
	require.NoError(t, err)
	require.False(t, replayed, "a key is kept for a day")
}

// Of two deliveries of one request one is carried out, also beside a return.
func TestService_answersTwinsAlike(t *testing.T) {
	t.Parallel()
	w := populated(t)
	inner, between := w.service(), 0
	w.watching = func() {
		if between++; between == 3 { // the first has read the account's row
			w.watching = nil
			_, replayed, err := inner.LeaveOnce(t.Context(), "ann", "leave")
			require.NoError(t, err)
			require.False(t, replayed)
			require.NoError(t, inner.Return(t.Context(), "ann"))
		}
	}
	_, replayed, err := w.service().LeaveOnce(t.Context(), "ann", "leave")
	require.NoError(t, err)
	require.True(t, replayed)
	require.Equal(t, account.Present, w.state("ann"))
}

// What remains of a request is a row of the user, and the erasure removes it.
func TestEraser_removesTheReceiptOfTheRequest(t *testing.T) {
	t.Parallel()
	w := populated(t)
	_, _, err := w.service().LeaveOnce(t.Context(), "ann", "leave")
	require.NoError(t, err)
	require.NotEmpty(t, w.receipts())
	w.now = w.now.Add(account.Notice)
	finished, err := w.eraser().Run(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, finished)
	require.Empty(t, w.receipts())
	_, _, err = w.service().LeaveOnce(t.Context(), "ann", "leave")
	require.ErrorIs(t, err, account.ErrErased)
}

// receipts returns the receipts of ann's requests about the account.
func (w *fixture) receipts() (found []item.Item) {
	require.NoError(w, w.store.Walk(w.Context(), 0, 1, func(row item.Item) error {
		if row.Str("PK") == "USER#ann" && row.Str("status") == "ACCOUNT" {
			found = append(found, row)
		}
		return nil
	}))
	return found
}
