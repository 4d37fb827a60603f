package stats_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/item"
	"nexus/pkg/product"
)

// The record that made an item may be parked: then the record that removes it is the only one that knows when it was
// made.
func TestLatest_isTakenFromTheImageBeforeARemoval(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event := someItem(t, product.Event(), "evt_1", `{"title":"x","startUtc":"2025-12-02T14:00:00Z","startTzid":"UTC"}`)
	b.apply(product.Event(), event, nil)
	require.Equal(t, item.FormatInstant(noon), b.totals().Str("lastEventCreated"))
	require.Zero(t, b.totals().Int("totalEvents"))
}

func TestOpenEvent_isOpenUntilItStarts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ fields, open string }{
		"zoned": {`"startUtc":"2025-12-02T14:00:00Z","startTzid":"America/New_York"`,
			"OPEN#EVENT#Z#2025-12-02T14:00:00Z"},
		"floating":    {`"startUtc":"2025-12-02T09:00:00"`, "OPEN#EVENT#F#2025-12-02T09:00:00Z"},
		"a whole day": {`"isAllDay":true,"startDate":"2025-12-02"`, "OPEN#EVENT#F#2025-12-02T00:00:00Z"},
		"cancelled":   {`"startUtc":"2025-12-02T14:00:00Z","startTzid":"UTC","status":"CANCELLED"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.apply(product.Event(), nil, someItem(t, product.Event(), "evt_1", `{"title":"x",`+c.fields+`}`))
			require.Equal(t, c.open, b.open("evt_1"))
			require.Equal(t, int64(1), b.totals().Int("totalEvents"))
			require.Equal(t, item.FormatInstant(noon), b.totals().Str("lastEventCreated"))
		})
	}
}

func TestOpenTask_isOpenUntilItIsDone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ fields, open, done string }{
		"zoned":       {`"dueUtc":"2025-12-02T14:00:00Z","dueTzid":"UTC"`, "OPEN#TASK#Z#2025-12-02T14:00:00Z", ""},
		"in progress": {`"dueUtc":"2025-12-02T09:00:00","status":"IN_PROGRESS"`, "OPEN#TASK#F#2025-12-02T09:00:00Z", ""},
		"not due":     {`"status":"BACKLOG"`, "", ""},
		"completed":   {`"dueUtc":"2025-12-02T14:00:00Z","dueTzid":"UTC","status":"COMPLETED"`, "", item.FormatInstant(noon)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.apply(product.Task(), nil, someItem(t, product.Task(), "task_1", `{"title":"x",`+c.fields+`}`))
			require.Equal(t, c.open, b.open("task_1"))
			require.Equal(t, int64(1), b.totals().Int("totalTasks"))
			require.Equal(t, c.done, b.totals().Str("lastTaskCompleted"))
		})
	}
}
