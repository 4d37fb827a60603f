package dynamo_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/item"
	"nexus/pkg/table"
	"nexus/pkg/table/dynamo"
)

// noPause counts the waits and does not wait.
func noPause(count *int) dynamo.Option {
	return dynamo.WithPause(func(context.Context, time.Duration) error { *count++; return nil })
}

func keyJSON(n int) string {
	return fmt.Sprintf(`{"PK":{"S":"USER#ada"},"SK":{"S":"TASK#task_%d"}}`, n)
}

func keysJSON(from, to int) string {
	var keys []string
	for n := from; n < to; n++ {
		keys = append(keys, keyJSON(n))
	}
	return strings.Join(keys, ",")
}

func keys(n int) []item.Key {
	out := make([]item.Key, n)
	for i := range out {
		out[i] = rowKey(i)
	}
	return out
}

func sentKeys(r request) int {
	return len(r.body["RequestItems"].(map[string]any)["Data"].(map[string]any)["Keys"].([]any))
}

func sentRows(r request) int { return len(r.body["RequestItems"].(map[string]any)["Data"].([]any)) }

func TestBatchGet_splitsAndAsksAgainForWhatIsLeft(t *testing.T) {
	t.Parallel()
	w := newWire(t,
		ok(`{"Responses":{"Data":[`+keyJSON(7)+`,`+keyJSON(3)+`]},"UnprocessedKeys":{"Data":{"Keys":[`+keysJSON(0, 2)+`]}}}`),
		ok(`{"Responses":{"Data":[`+keyJSON(1)+`]}}`),
		ok(`{"Responses":{"Data":[`+keyJSON(120)+`]}}`))
	pauses := 0
	items, err := w.store(dynamo.WithTable("Data"), noPause(&pauses)).BatchGet(t.Context(), keys(130))
	require.NoError(t, err)
	require.Equal(t, []item.Item{rowKey(1).Item(), rowKey(3).Item(), rowKey(7).Item(), rowKey(120).Item()}, items)
	require.Equal(t, 1, pauses)
	var sizes []int
	for _, r := range w.sent() {
		sizes = append(sizes, sentKeys(r))
	}
	require.Equal(t, []int{100, 2, 30}, sizes)
}

func TestBatchGet_isThrottledIfItGetsNowhere(t *testing.T) {
	t.Parallel()
	w := newWire(t, ok(`{"UnprocessedKeys":{"Data":{"Keys":[`+keysJSON(0, 2)+`]}}}`))
	pauses := 0
	_, err := w.store(dynamo.WithTable("Data"), noPause(&pauses)).BatchGet(t.Context(), keys(2))
	require.ErrorIs(t, err, table.ErrThrottled)
	require.Len(t, w.sent(), pauses+1)
	require.Less(t, pauses, 10)
}

func TestBatchGet_goesOnAsLongAsItMovesOn(t *testing.T) {
	t.Parallel()
	var answers []answer
	for n := 29; n > 0; n-- {
		answers = append(answers, ok(`{"UnprocessedKeys":{"Data":{"Keys":[`+keysJSON(0, n)+`]}}}`))
	}
	w := newWire(t, append(answers, ok(`{}`))...)
	pauses := 0
	_, err := w.store(dynamo.WithTable("Data"), noPause(&pauses)).BatchGet(t.Context(), keys(30))
	require.NoError(t, err)
	require.Equal(t, 29, pauses)
}

func TestBatchGet_stopsWaitingWhenItsContextEnds(t *testing.T) {
	t.Parallel()
	w := newWire(t, ok(`{"UnprocessedKeys":{"Data":{"Keys":[`+keysJSON(0, 2)+`]}}}`))
	ctx, cancel := context.WithCancelCause(t.Context())
	pause := dynamo.WithPause(func(ctx context.Context, _ time.Duration) error {
		cancel(errors.New("enough"))
		return ctx.Err()
	})
	_, err := w.store(dynamo.WithTable("Data"), pause).BatchGet(ctx, keys(2))
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, table.ErrThrottled)
}

func TestLoad_splitsAndSendsAgainWhatIsLeft(t *testing.T) {
	t.Parallel()
	w := newWire(t,
		ok(`{}`), ok(`{"UnprocessedItems":{"Data":[{"PutRequest":{"Item":`+keyJSON(30)+`}}]}}`), ok(`{}`))
	pauses := 0
	require.NoError(t, w.store(dynamo.WithTable("Data"), noPause(&pauses)).Load(t.Context(), rows(60)))
	var sizes []int
	for _, r := range w.sent() {
		sizes = append(sizes, sentRows(r))
	}
	require.Equal(t, []int{25, 25, 1, 10}, sizes)
	require.Equal(t, 1, pauses)
}

func TestLoad_isThrottledIfItGetsNowhere(t *testing.T) {
	t.Parallel()
	w := newWire(t, ok(`{"UnprocessedItems":{"Data":[{"PutRequest":{"Item":`+keyJSON(0)+`}}]}}`))
	pauses := 0
	err := w.store(dynamo.WithTable("Data"), noPause(&pauses)).Load(t.Context(), rows(1))
	require.ErrorIs(t, err, table.ErrThrottled)
	require.Less(t, pauses, 10)
}

func TestCount_addsUpAllPages(t *testing.T) {
	t.Parallel()
	w := newWire(t,
		ok(`{"Count":40,"ScannedCount":50,"LastEvaluatedKey":`+keyJSON(1)+`}`), ok(`{"Count":2,"ScannedCount":2}`))
	n, err := w.store().Count(t.Context(), table.Query{Partition: "p"})
	require.NoError(t, err)
	require.Equal(t, 42, n)
	require.Equal(t, parse(t, keyJSON(1)), w.sent()[1].body["ExclusiveStartKey"])
}

func TestWithPause_isRealTimeByDefault(t *testing.T) {
	t.Parallel()
	left := ok(`{"UnprocessedKeys":{"Data":{"Keys":[` + keysJSON(0, 2) + `]}}}`)
	w := newWire(t, left, left, ok(`{}`))
	_, err := w.store(dynamo.WithTable("Data")).BatchGet(t.Context(), keys(2))
	require.NoError(t, err)
	require.Len(t, w.sent(), 3)
}
