package dynamo_test

import (
	"errors"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/table"
	"nexus/pkg/table/dynamo"
)

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

var errLost = errors.New("connection reset")

// losing performs each request and drops the answers of the first so many. What happens between a lost answer and the
// repetition happens in between.
func losing(answers int64, between func()) http.RoundTripper {
	var seen atomic.Int64
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		response, err := http.DefaultTransport.RoundTrip(r)
		if err != nil || seen.Add(1) > answers {
			return response, err
		}
		if err := response.Body.Close(); err != nil {
			return nil, err
		}
		if between != nil {
			between()
		}
		return nil, errLost
	})
}

// neverSent drops the first request before anybody sees it.
func neverSent() http.RoundTripper {
	var seen atomic.Int64
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		if seen.Add(1) == 1 {
			return nil, errLost
		}
		return http.DefaultTransport.RoundTrip(r)
	})
}

func versioned(n int, version int64) item.Item {
	it := row(n, "x")
	it[entity.AttrVersion] = item.Int(version)
	return it
}

func TestRepeated_succeedsForAWriteWhoseAnswerWasLost(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		write func(t *testing.T, s *dynamo.Store) error
		left  item.Item
	}{
		"put": {
			func(t *testing.T, s *dynamo.Store) error {
				return s.Put(t.Context(), table.Put{Item: versioned(1, 5), If: table.AtVersion(1)})
			}, versioned(1, 5),
		},
		"update": {
			func(t *testing.T, s *dynamo.Store) error {
				it, err := s.Update(t.Context(), table.Update{
					Key: rowKey(1), Set: item.Item{entity.AttrVersion: item.Int(2)}, If: table.AtVersion(1),
				})
				require.Equal(t, versioned(1, 2), it)
				return err
			}, versioned(1, 2),
		},
		"update that removes": {
			func(t *testing.T, s *dynamo.Store) error {
				_, err := s.Update(t.Context(), table.Update{
					Key: rowKey(1), Remove: []string{entity.AttrVersion}, If: table.AtVersion(1),
				})
				return err
			}, row(1, "x"),
		},
		"delete": {
			func(t *testing.T, s *dynamo.Store) error {
				return s.Delete(t.Context(), table.Delete{Key: rowKey(1), If: table.AtVersion(1)})
			}, nil,
		},
		"transaction of one": {
			func(t *testing.T, s *dynamo.Store) error {
				return s.Transact(t.Context(), table.Put{Item: versioned(1, 2), If: table.AtVersion(1)})
			}, versioned(1, 2),
		},
		"transaction": {
			func(t *testing.T, s *dynamo.Store) error {
				return s.Transact(t.Context(), table.Put{Item: row(2, "y"), If: table.NotExists()}, table.Update{
					Key: rowKey(1), Set: item.Item{entity.AttrVersion: item.Int(2)}, If: table.AtVersion(1),
				})
			}, versioned(1, 2),
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			require.NoError(t, b.store.Put(t.Context(), table.Put{Item: versioned(1, 1)}))
			require.NoError(t, test.write(t, b.through(losing(1, nil))))
			require.Equal(t, test.left, b.row(t, 1))
		})
	}
}

func TestSameRow_matchesARowThatTheServiceWroteInAnotherForm(t *testing.T) {
	t.Parallel()
	b := setup(t)
	it := row(1, "x")
	it["n"] = item.Number("-001.50E+1")
	it["zero"] = item.Number("0.0")
	it["list"] = item.List{item.Map{"n": item.Number("2.0")}}
	it["set"] = item.NumberSet{"30", "2.0", "1e1"}
	it["names"] = item.StringSet{"b", "a"}
	it["blobs"] = item.BinarySet{[]byte("b"), []byte("a")}
	require.NoError(t, b.through(losing(1, nil)).Put(t.Context(), table.Put{Item: it, If: table.NotExists()}))
	it["zero"] = item.Number("0.1")
	var failed *table.ConditionError
	err := b.through(neverSent()).Put(t.Context(), table.Put{Item: it, If: table.NotExists()})
	require.ErrorAs(t, err, &failed)
}

func TestStore_failsAConditionWithoutALostAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.NoError(t, b.store.Put(t.Context(), table.Put{Item: row(1, "x")}))
	requireOldRow(t, row(1, "x"), b.store.Put(t.Context(), table.Put{Item: row(1, "x"), If: table.NotExists()}))
	requireOldRow(t, nil, b.store.Delete(t.Context(), table.Delete{Key: rowKey(2), If: table.Exists()}))
	_, err := b.store.Update(t.Context(), table.Update{Key: rowKey(1), Set: titled("x"), If: table.NotExists()})
	requireOldRow(t, row(1, "x"), err)
}

func TestStore_hasNoDoubtAfterAThrottledAttempt(t *testing.T) {
	t.Parallel()
	w := newWire(t, refusal(400, "ThrottlingException"),
		refusal(400, "ConditionalCheckFailedException", `,"Item":{"PK":{"S":"USER#ada"},"SK":{"S":"TASK#task_1"}}`))
	err := w.store().Put(t.Context(), table.Put{Item: rowKey(1).Item(), If: table.NotExists()})
	requireOldRow(t, rowKey(1).Item(), err)
	require.Len(t, w.sent(), 2)
}

func TestRepeated_failsOnAnothersRowIfTheWriteNeverArrived(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.NoError(t, b.store.Put(t.Context(), table.Put{Item: row(1, "another's")}))
	put := table.Put{Item: row(1, "mine"), If: table.NotExists()}
	requireOldRow(t, row(1, "another's"), b.through(neverSent()).Put(t.Context(), put))
	requireOldRow(t, row(1, "another's"), b.through(neverSent()).Transact(t.Context(), put))
	requireOldRow(t, row(1, "another's"), b.through(neverSent()).Transact(t.Context(), put, table.Check{Key: rowKey(2)}))
}

func TestIsUpdated_failsOnARowThatOnlyResemblesTheUpdate(t *testing.T) {
	t.Parallel()
	tests := map[string]table.Update{
		"an attribute to remove is there": {Key: rowKey(1), Set: titled("x"), Remove: []string{entity.AttrVersion}},
		"an attribute to set differs":     {Key: rowKey(1), Set: versioned(1, 9), Remove: []string{"a"}},
		"there is no row":                 {Key: rowKey(2), Remove: []string{"a"}},
	}
	for name, update := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			require.NoError(t, b.store.Put(t.Context(), table.Put{Item: versioned(1, 1)}))
			delete(update.Set, item.AttrPK)
			delete(update.Set, item.AttrSK)
			update.If = table.AtVersion(7)
			_, err := b.through(neverSent()).Update(t.Context(), update)
			var failed *table.ConditionError
			require.ErrorAs(t, err, &failed)
		})
	}
}

func TestRepeated_returnsARowThatChangedSinceTheLostAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	overtake := func() {
		require.NoError(t, b.store.Put(t.Context(), table.Put{Item: row(1, "another's")}))
	}
	store := b.through(losing(1, overtake))
	requireOldRow(t, row(1, "another's"), store.Put(t.Context(), table.Put{Item: row(1, "mine"), If: table.NotExists()}))
	store = b.through(losing(1, overtake))
	err := store.Transact(t.Context(), table.Put{Item: row(1, "mine"), If: table.Exists()}, table.Check{Key: rowKey(2)})
	require.NoError(t, err, "the token distinguishes a transaction's repetition from a new one")
	require.Equal(t, row(1, "another's"), b.row(t, 1))
}

func TestStore_isUnavailableForAWriteWithoutAnyAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	put := table.Put{Item: row(1, "x"), If: table.Exists(table.Missing("a"))}
	require.NoError(t, b.store.Put(t.Context(), table.Put{Item: row(1, "old")}))
	requireOnly(t, table.ErrUnavailable, b.through(losing(100, nil)).Put(t.Context(), put))
	require.Equal(t, row(1, "x"), b.row(t, 1))
}

func requireOldRow(t *testing.T, old item.Item, err error) {
	t.Helper()
	var failed *table.ConditionError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, []table.Failure{{Index: 0, Old: old}}, failed.Failures)
	requireOnly(t, nil, err)
}
