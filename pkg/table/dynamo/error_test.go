package dynamo_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"nexus/pkg/item"
	"nexus/pkg/table"
	"nexus/pkg/table/dynamo"
)

var sentinels = []error{
	table.ErrNotFound, table.ErrConflict, table.ErrThrottled, table.ErrUnavailable, table.ErrInvalid, dynamo.ErrNoTable,
}

// requireOnly checks that err is want and no other of the sentinels; nil means none of them.
func requireOnly(t *testing.T, want, err error) {
	t.Helper()
	require.Error(t, err)
	for _, sentinel := range sentinels {
		if sentinel == want {
			require.ErrorIs(t, err, sentinel)
		} else {
			require.NotErrorIs(t, err, sentinel)
		}
	}
}

func TestVerdict_hasAMeaningForUnlistedErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		code   string
		status int
		want   error
	}{
		{"ThrottlingError", 400, table.ErrThrottled},
		{"LimitExceededException", 400, table.ErrThrottled},
		{"RequestEntityTooLarge", 413, table.ErrInvalid},
		{"RequestTimeout", 408, table.ErrUnavailable},
		{"Whatever", 502, table.ErrUnavailable},
		{"Whatever", 400, nil},
	}
	for _, test := range tests {
		t.Run(fmt.Sprint(test.code, test.status), func(t *testing.T) {
			t.Parallel()
			store := newWire(t, refusal(test.status, test.code)).store()
			err := store.Put(t.Context(), table.Put{Item: row(1, "x")})
			requireOnly(t, test.want, err)
			var cause smithy.APIError
			require.ErrorAs(t, err, &cause)
			require.Equal(t, test.code, cause.ErrorCode())
			require.ErrorContains(t, err, rowKey(1).String())
			_, err = store.Query(t.Context(), table.Query{Partition: "p"})
			requireOnly(t, test.want, err)
		})
	}
}

func TestStore_isUnavailableIfTheServiceDoesNotAnswer(t *testing.T) {
	t.Parallel()
	tests := map[string]answer{
		"closed connection": {},
		"no JSON":           ok(`{"Item":`),
		"a proxy's page":    {http.StatusBadGateway, "<html>"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWire(t, test)
			_, err := w.store().Get(t.Context(), rowKey(1))
			requireOnly(t, table.ErrUnavailable, err)
		})
	}
	_, err := dynamo.New(client("http://127.0.0.1:1", nil)).Get(t.Context(), rowKey(1))
	requireOnly(t, table.ErrUnavailable, err)
}

func TestStore_makesAnEndedContextRecognisable(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	transport := roundTripper(func(r *http.Request) (*http.Response, error) {
		cancel()
		<-r.Context().Done()
		return nil, r.Context().Err()
	})
	store := dynamo.New(client("http://127.0.0.1:1", transport))
	err := store.Put(ctx, table.Put{Item: row(1, "x")})
	require.ErrorIs(t, err, context.Canceled)
	requireOnly(t, nil, err)
	_, err = store.Get(ctx, rowKey(1))
	require.ErrorIs(t, err, context.Canceled)
}

func TestStore_doubtsARefusalAfterALostAnswer(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"ThrottlingException", "TransactionConflictException", "ValidationException"} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			put := table.Put{Item: row(1, "x")}
			requireOnly(t, table.ErrUnavailable, newWire(t, answer{}, refusal(400, code)).store().Put(t.Context(), put))
			requireOnly(t, table.ErrUnavailable,
				newWire(t, answer{}, refusal(400, code)).store().Transact(t.Context(), put, table.Check{Key: rowKey(2)}))
		})
	}
}

func TestTransact_decidesByTheReasonsOfItsCancellation(t *testing.T) {
	t.Parallel()
	const (
		none      = `{"Code":"None"}`
		failed    = `{"Code":"ConditionalCheckFailed","Message":"no","Item":{"PK":{"S":"p"},"n":{"N":"7"}}}`
		noRow     = `{"Code":"ConditionalCheckFailed","Message":"no"}`
		conflict  = `{"Code":"TransactionConflict","Message":"no"}`
		capacity  = `{"Code":"ProvisionedThroughputExceeded","Message":"no"}`
		throttled = `{"Code":"ThrottlingError","Message":"no"}`
		invalid   = `{"Code":"ValidationError","Message":"no"}`
		tooLarge  = `{"Code":"ItemCollectionSizeLimitExceeded","Message":"no"}`
	)
	old := item.Item{"PK": item.String("p"), "n": item.Int(7)}
	tests := map[string]struct {
		first, second string
		want          error
		failures      []table.Failure
	}{
		"conflict":                {none, conflict, table.ErrConflict, nil},
		"conflict and condition":  {failed, conflict, table.ErrConflict, nil},
		"conflict and throttling": {throttled, conflict, table.ErrConflict, nil},
		"throttling":              {throttled, none, table.ErrThrottled, nil},
		"capacity and condition":  {failed, capacity, table.ErrThrottled, nil},
		"condition":               {none, failed, nil, []table.Failure{{Index: 1, Old: old}}},
		"two conditions":          {noRow, failed, nil, []table.Failure{{Index: 0}, {Index: 1, Old: old}}},
		"condition and invalid":   {failed, invalid, nil, []table.Failure{{Index: 0, Old: old}}},
		"invalid":                 {none, invalid, table.ErrInvalid, nil},
		"too large":               {tooLarge, none, table.ErrInvalid, nil},
		"something new":           {none, `{"Code":"SomethingNew"}`, nil, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWire(t, refusal(400, "TransactionCanceledException",
				`,"CancellationReasons":[`+test.first+`,`+test.second+`]`))
			err := w.store().Transact(t.Context(), table.Check{Key: rowKey(1)}, table.Delete{Key: rowKey(2)})
			requireOnly(t, test.want, err)
			var condition *table.ConditionError
			if test.failures == nil {
				require.NotErrorAs(t, err, &condition)
				return
			}
			require.ErrorAs(t, err, &condition)
			require.Equal(t, test.failures, condition.Failures)
		})
	}
}
