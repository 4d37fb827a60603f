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
