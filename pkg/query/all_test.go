package query_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/query"
)

func TestAll_returnsATypeInTheOrderOfIDs(t *testing.T) {
	t.Parallel()
	b := setup(t)
	want := map[string][]string{}
	for i := range 9 {
		title := fmt.Sprint(i)
		when := noon.AddDate(i-4, 0, 0).Format("2006-01-02T15:04:05Z")
		b.add(ann, product.Event(), `{"title":"`+title+`","startUtc":"`+when+`","startTzid":"UTC"}`, nil)
		b.add(ann, product.Reminder(), `{"title":"`+title+`","triggerUtc":"`+when+`","tzid":"UTC"}`, nil)
		master := b.add(ann, product.Master(),
			`{"title":"`+title+`","startUtc":"`+when+`","startTzid":"UTC","rrule":"FREQ=DAILY"}`, nil)
		b.differ(ann, master, noon.AddDate(i-4, 0, 1).Format("20060102"), `{"title":"an occurrence"}`)
		for _, typ := range []string{"EVENT", "MASTER", "REMINDER"} {
			want[typ] = append(want[typ], title)
		}
	}
	b.add(bob, product.Event(), `{"title":"another's","startUtc":"2025-12-01T09:00:00Z","startTzid":"UTC"}`, nil)
	ended := b.add(ann, product.Event(), `{"title":"ended","startUtc":"2025-12-01T09:00:00Z","startTzid":"UTC"}`, nil)
	b.set(ended, item.Item{"ttl": item.Int(noon.Add(-time.Hour).Unix())})
	for _, typ := range []*entity.Type{product.Event(), product.Master(), product.Reminder()} {
		for _, limit := range []int{1, 2, 4, 8, 9, 10, 100} {
			b.rows()
			got, _ := pages(b, func(cursor string) (query.Page, error) {
				return b.service.All(ctx, ann, query.AllQuery{Type: typ, Limit: limit, Cursor: cursor})
			})
			require.Equal(t, want[typ.Name], got, "%s in pages of %d", typ.Name, limit)
		}
		b.trips()
		b.rows()
		_, err := b.service.All(ctx, ann, query.AllQuery{Type: typ, Limit: 3})
		require.NoError(t, err)
		require.Equal(t, map[string]int{"Query": 1}, b.trips())
		require.Equal(t, 4, b.rows())
	}
	page, err := b.service.All(ctx, ann, query.AllQuery{Type: product.Event(), Limit: 1})
	require.NoError(t, err)
	for name, q := range map[string]struct {
		user string
		typ  *entity.Type
	}{"another user": {bob, product.Event()}, "another type": {ann, product.Reminder()}} {
		_, err := b.service.All(ctx, q.user, query.AllQuery{Type: q.typ, Cursor: page.Next})
		require.ErrorIs(t, err, query.ErrCursor, name)
	}
	for _, typ := range []*entity.Type{nil, product.Instance(), product.UserMeta()} {
		_, err := b.service.All(ctx, ann, query.AllQuery{Type: typ})
		require.ErrorIs(t, err, query.ErrNotFound)
	}
}
