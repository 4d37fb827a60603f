package query_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/query"
)

func TestRules_followAChangeAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	m := b.series(daily)
	q := query.AgendaQuery{From: at("2025-12-03T00:00:00Z"), To: at("2025-12-10T00:00:00Z")}
	for _, c := range []struct {
		rule string
		want int
	}{{"FREQ=DAILY", 7}, {"FREQ=DAILY;INTERVAL=2", 4}, {"FREQ=WEEKLY", 1}} {
		after := m.Clone()
		after["rrule"] = item.String(c.rule)
		m = product.Master().NextVersion(entity.ByUser, ann, m, after, b.now, nil)
		b.put(m)
		for range 2 {
			require.Len(t, b.allEntries(q), c.want, c.rule)
		}
	}
}

func TestRules_separateTheSameSeriesOfTwoUsers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for user, rule := range map[string]string{ann: "FREQ=DAILY", bob: "FREQ=WEEKLY"} {
		b.ids = 0 // a client may choose an id that another user also has
		b.add(user, product.Master(),
			fmt.Sprintf(`{"title":"s","startUtc":"2025-12-01T14:00:00Z","startTzid":"UTC","rrule":%q}`, rule), nil)
	}
	q := query.AgendaQuery{From: at("2025-12-01T00:00:00Z"), To: at("2025-12-08T00:00:00Z")}
	for range 2 {
		for user, want := range map[string]int{ann: 7, bob: 1} {
			page, err := b.service.Agenda(ctx, user, q)
			require.NoError(t, err)
			require.Len(t, page.Entries, want)
		}
	}
}

func TestRules_stayRightForMoreSeriesThanAreKept(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i := range 4500 {
		b.series(
			fmt.Sprintf(`"isAllDay":true,"startDate":"2025-12-01","rrule":"FREQ=YEARLY;BYMONTHDAY=%d;BYMONTH=12"`, 1+i%28))
	}
	q := query.AgendaQuery{From: at("2025-12-10T00:00:00Z"), To: at("2025-12-11T00:00:00Z"), Limit: 100}
	for range 2 {
		require.Len(t, b.allEntries(q), 161)
	}
}
