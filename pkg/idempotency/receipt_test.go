package idempotency_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/idempotency"
	"nexus/pkg/item"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

var noon = time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC)

func TestNew_refusesAKeyThatIsNotPrintable(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]error{
		"a": nil, strings.Repeat("ä", 255): nil, strings.Repeat("a", 256): idempotency.ErrKey,
		"a\nb": idempotency.ErrKey, "a\xff": idempotency.ErrKey, "\x00": idempotency.ErrKey,
	} {
		r, err := idempotency.New("ann", key, 0, nil)
		require.ErrorIs(t, err, want, "%q", key)
		require.Equal(t, want == nil, r != nil)
	}
	r, err := idempotency.New("ann", "", 0, nil)
	require.NoError(t, err)
	require.Nil(t, r)
}

// receiptOf is the receipt of a request under the key k.
func receiptOf(t *testing.T, request ...any) *idempotency.Receipt {
	t.Helper()
	r, err := idempotency.New("ann", "k", 0, request)
	require.NoError(t, err)
	return r
}

func TestReceipt_holdsForADay(t *testing.T) {
	t.Parallel()
	now := noon
	store := memory.New(func() time.Time { return now }, memory.Options{})
	r, other := receiptOf(t, "create", 1), receiptOf(t, "create", 2)
	require.Equal(t, r.Key, other.Key)
	own := item.Item{"itemId": item.String("note_1")}
	require.NoError(t, store.Put(t.Context(), r.Put(own, now)))
	row, err := store.Get(t.Context(), r.Key)
	require.NoError(t, err)
	require.Equal(t, "note_1", row.Str("itemId"))

	for _, at := range []time.Duration{0, time.Minute, idempotency.Retention - time.Second} {
		now = noon.Add(at)
		var replay *idempotency.ReplayError
		require.ErrorAs(t, r.Check(row, now), &replay)
		require.Equal(t, row, replay.Receipt)
		require.ErrorIs(t, other.Check(row, now), idempotency.ErrKeyReused)
		var failed *table.ConditionError
		require.ErrorAs(t, store.Put(t.Context(), other.Put(nil, now)), &failed)
	}
	now = noon.Add(idempotency.Retention) // TTL has not removed the row
	require.NoError(t, r.Check(row, now))
	require.NoError(t, other.Check(row, now))
	require.NoError(t, store.Put(t.Context(), other.Put(nil, now)))
	require.NoError(t, r.Check(nil, now))
	require.Contains(t, row, entity.AttrTTL)
}
