package query_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/query"
)

func TestMe_isOneReadWithDefaultsBeforeTheFirstChange(t *testing.T) {
	t.Parallel()
	b := setup(t)
	me, err := b.service.Me(ctx, ann)
	require.NoError(t, err)
	require.Equal(t, map[string]int{"Get": 1}, b.trips())
	require.Equal(t, int64(0), me.Int("version"))
	require.Equal(t, "UTC", me.Str("defaultTzid"))
	meta := product.NewUserMeta(ann, noon)
	meta["version"], meta["defaultTzid"] = item.Int(4), item.String("Asia/Tokyo")
	b.put(meta)
	me, err = b.service.Me(ctx, ann)
	require.NoError(t, err)
	require.Equal(t, int64(4), me.Int("version"))
}

func TestStats_countByTheUsersClock(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		typ               *entity.Type
		fields            string
		upcoming, overdue int
	}{
		// It is 12:00 UTC, and 07:00 on the wall in New York.
		"event after now": {product.Event(), `{"title":"e","startUtc":"2025-12-01T12:00:01Z","startTzid":"UTC"}`, 1, 0},
		"event now":       {product.Event(), `{"title":"e","startUtc":"2025-12-01T12:00:00Z","startTzid":"UTC"}`, 0, 0},
		"cancelled event": {product.Event(),
			`{"title":"e","startUtc":"2025-12-02T12:00:00Z","startTzid":"UTC","status":"CANCELLED"}`, 0, 0},
		"floating event after":   {product.Event(), `{"title":"e","startUtc":"2025-12-01T07:00:01"}`, 1, 0},
		"floating event now":     {product.Event(), `{"title":"e","startUtc":"2025-12-01T07:00:00"}`, 0, 0},
		"all-day event today":    {product.Event(), `{"title":"e","isAllDay":true,"startDate":"2025-12-01"}`, 0, 0},
		"all-day event tomorrow": {product.Event(), `{"title":"e","isAllDay":true,"startDate":"2025-12-02"}`, 1, 0},
		"series without end": {product.Master(),
			`{"title":"e","startUtc":"2020-01-01T09:00:00Z","startTzid":"UTC","rrule":"FREQ=DAILY"}`, 1, 0},
		"series with one after now": {product.Master(),
			`{"title":"e","startUtc":"2025-11-30T12:00:01Z","startTzid":"UTC","rrule":"FREQ=DAILY;COUNT=2"}`, 1, 0},
		"series whose last is now": {product.Master(),
			`{"title":"e","startUtc":"2025-11-30T12:00:00Z","startTzid":"UTC","rrule":"FREQ=DAILY;COUNT=2"}`, 0, 0},
		"cancelled series": {product.Master(),
			`{"title":"e","startUtc":"2020-01-01T09:00:00Z","startTzid":"UTC","rrule":"FREQ=DAILY","status":"CANCELLED"}`, 0, 0},
		"floating series, one after": {product.Master(),
			`{"title":"e","startUtc":"2025-11-30T07:00:01","rrule":"FREQ=DAILY;COUNT=2"}`, 1, 0},
		"floating series, last is now": {product.Master(),
			`{"title":"e","startUtc":"2025-11-30T07:00:00","rrule":"FREQ=DAILY;COUNT=2"}`, 0, 0},
		"all-day series that goes on": {product.Master(),
			`{"title":"e","isAllDay":true,"startDate":"2020-02-29","rrule":"FREQ=YEARLY"}`, 1, 0},
		"task due before":           {product.Task(), `{"title":"t","dueUtc":"2025-12-01T11:59:59Z","dueTzid":"UTC"}`, 0, 1},
		"task due now":              {product.Task(), `{"title":"t","dueUtc":"2025-12-01T12:00:00Z","dueTzid":"UTC"}`, 0, 1},
		"task due after":            {product.Task(), `{"title":"t","dueUtc":"2025-12-01T12:00:01Z","dueTzid":"UTC"}`, 0, 0},
		"floating task due before":  {product.Task(), `{"title":"t","dueUtc":"2025-12-01T06:59:00"}`, 0, 1},
		"floating task due after":   {product.Task(), `{"title":"t","dueUtc":"2025-12-01T07:01:00"}`, 0, 0},
		"all-day task of yesterday": {product.Task(), `{"title":"t","isAllDay":true,"dueDate":"2025-11-30"}`, 0, 1},
		"all-day task of today":     {product.Task(), `{"title":"t","isAllDay":true,"dueDate":"2025-12-01"}`, 0, 0},
		"completed task": {product.Task(),
			`{"title":"t","dueUtc":"2025-11-01T12:00:01","status":"COMPLETED"}`, 0, 0},
		"begun task of the last minute": {product.Task(),
			`{"title":"t","dueUtc":"2025-12-01T06:59:00","status":"IN_PROGRESS"}`, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			meta := product.NewUserMeta(ann, noon)
			meta["defaultTzid"] = item.String("America/New_York")
			meta["stats"] = item.Map{"totalTasks": item.Int(3)}
			b.put(meta)
			b.add(ann, c.typ, c.fields, nil)
			b.add(bob, c.typ, c.fields, nil)
			b.now = noon.Add(300 * time.Millisecond)
			stats, err := b.service.Stats(ctx, ann)
			require.NoError(t, err)
			require.Equal(t, map[string]int{"Get": 1, "Count": 4}, b.trips())
			require.Equal(t, noon, stats.AsOf)
			require.Equal(t, c.upcoming, stats.UpcomingEvents)
			require.Equal(t, c.overdue, stats.OverdueTasks)
			require.Equal(t, int64(3), stats.Totals.Int("totalTasks"))
			require.True(t, stats.Totals.Has("totalEvents"))
		})
	}
}

// At the end of summer time New York's clocks show the hour from one to two twice. A reading means the first.
func TestStats_whatHasComeStaysSoWhileReadingsRepeat(t *testing.T) {
	t.Parallel()
	b := setup(t)
	meta := product.NewUserMeta(ann, noon)
	meta["defaultTzid"] = item.String("America/New_York")
	b.put(meta)
	b.add(ann, product.Task(), `{"title":"t","dueUtc":"2025-11-02T01:30:00"}`, nil)
	b.add(ann, product.Event(), `{"title":"e","startUtc":"2025-11-02T01:30:00"}`, nil)
	for at, has := range map[string]bool{
		"2025-11-02T05:29:59Z": false, "2025-11-02T05:30:00Z": true, "2025-11-02T05:59:59Z": true,
		"2025-11-02T06:00:00Z": true, "2025-11-02T06:29:59Z": true, "2025-11-02T07:00:00Z": true,
	} {
		var err error
		b.now, err = time.Parse(time.RFC3339, at)
		require.NoError(t, err)
		stats, err := b.service.Stats(ctx, ann)
		require.NoError(t, err)
		require.Equal(t, has, stats.OverdueTasks == 1, at)
		require.Equal(t, has, stats.UpcomingEvents == 0, at)
		page, err := b.service.Column(ctx, ann, query.ColumnQuery{Due: query.DueOverdue})
		require.NoError(t, err)
		require.Equal(t, has, len(page.Items) == 1, at)
	}
}
