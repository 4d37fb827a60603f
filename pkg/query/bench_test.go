package query_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/query"
)

// BenchmarkAgenda reads a week of a user with 10,000 items, JSON included.
func BenchmarkAgenda(b *testing.B) {
	bench := setup(b)
	for i := range 10_000 {
		start := item.FormatInstant(noon.Add(time.Duration(i-5000) * time.Hour))
		switch i % 4 {
		case 0:
			bench.add(ann, product.Task(), fmt.Sprintf(`{"title":"task","dueUtc":%q,"dueTzid":"Europe/Paris"}`, start), nil)
		default:
			bench.add(ann, product.Event(),
				fmt.Sprintf(`{"title":"event","startUtc":%q,"startTzid":"Europe/Paris","tags":["work"]}`, start), nil)
		}
	}
	var body []byte
	for b.Loop() {
		page, err := bench.service.Agenda(ctx, ann, query.AgendaQuery{
			From: noon, To: noon.AddDate(0, 0, 7), Zone: "Europe/Paris",
		})
		require.NoError(b, err)
		require.Len(b, page.Entries, query.DefaultLimit)
		body = body[:0]
		for _, e := range page.Entries {
			body = e.AppendMembers(body)
		}
	}
}

// BenchmarkAgenda_ofSeries reads a week of a user with 60 series, a third of them with an exception, JSON included.
func BenchmarkAgenda_ofSeries(b *testing.B) {
	bench := setup(b)
	for i := range 60 {
		start := noon.Add(time.Duration(i) * time.Hour)
		master := bench.series(fmt.Sprintf(`"location":"room","tags":["work"],"startUtc":%q,"endUtc":%q,`+
			`"startTzid":"UTC","rrule":"FREQ=DAILY;INTERVAL=%d","reminderMinutes":[10]`,
			item.FormatInstant(start), item.FormatInstant(start.Add(time.Hour)), 1+i%7))
		if i%3 == 0 {
			date := item.CompactDate(start.AddDate(0, 0, 1+i%7))
			bench.except(ann, master, date, item.Item{"title": item.String("other")})
		}
	}
	var body []byte
	for b.Loop() {
		page, err := bench.service.Agenda(ctx, ann, query.AgendaQuery{
			From: noon, To: noon.AddDate(0, 0, 7), Zone: "Europe/Paris", Limit: 100,
		})
		require.NoError(b, err)
		require.Len(b, page.Entries, 100)
		body = body[:0]
		for _, e := range page.Entries {
			body = e.AppendMembers(body)
		}
	}
}
