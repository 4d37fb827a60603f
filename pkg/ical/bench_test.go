package ical_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/ical"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

// BenchmarkFromSeries drafts a weekly series of which twelve occurrences are excluded and to which twelve are added.
func BenchmarkFromSeries(b *testing.B) {
	fields := texts("title", "t", "status", "CONFIRMED", "rrule", "FREQ=WEEKLY",
		"startUtc", "2025-01-06T08:00:00Z", "startTzid", berlin)
	first := time.Date(2025, 2, 3, 0, 0, 0, 0, time.UTC)
	var excluded, added item.List
	for week := range 12 {
		day := first.AddDate(0, 0, 7*week)
		excluded = append(excluded, item.String(item.CompactDate(day)))
		added = append(added, item.String(item.CompactDate(day.AddDate(0, 0, 1))))
	}
	fields[product.AttrIsAllDay] = item.Bool(false)
	fields[product.AttrExDate], fields[product.AttrRDate] = excluded, added
	it := product.Master().NewItem("user", "mst_bench", fields, stamp, nil)
	require.Empty(b, product.Master().Validate(it))
	b.ReportAllocs()
	for b.Loop() {
		drafts, err := ical.FromSeries(it, nil)
		require.NoError(b, err)
		require.Len(b, drafts[0].ExDates, 12)
		require.Len(b, drafts[0].RDates, 12)
	}
}
