package query_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/blob"
	blobmemory "nexus/pkg/blob/memory"
	"nexus/pkg/changes/changelog"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/query"
)

// vocabulary has words of a language's size: few are frequent, and many are rare.
func vocabulary() []string {
	var out []string
	for i := range 20_000 {
		out = append(out, fmt.Sprintf("%c%c%s", 'a'+i%26, 'a'+i/26%26, []string{"en", "ing", "tion", "er", ""}[i%5])+
			strings.Repeat("x", i%4)+fmt.Sprint(i/700))
	}
	return out
}

// full gives ann so many items, each with about 40 words, of which every hundredth is a series.
func (b *fixture) full(n int) {
	chance, known := rand.New(rand.NewPCG(1, 2)), vocabulary()
	text := func(words int) string {
		var out []string
		for range words {
			out = append(out, known[min(int(chance.ExpFloat64()*1500), len(known)-1)])
		}
		return strings.Join(out, " ")
	}
	var entries []changelog.Entry
	for i := range n {
		start := item.FormatInstant(noon.Add(time.Duration(i-n/2) * time.Hour))
		body := fmt.Sprintf(`"title":%q,"tags":["t%d"]`, text(6), i%9)
		var it item.Item
		switch i % 100 {
		case 0:
			it = b.add(ann, product.Master(), fmt.Sprintf(`{%s,"description":%q,"startUtc":%q,"startTzid":"Europe/Paris",`+
				`"rrule":"FREQ=WEEKLY"}`, body, text(30), start), nil)
		default:
			switch i % 3 {
			case 0:
				it = b.add(ann, product.Task(), fmt.Sprintf(`{%s,"description":%q,"dueUtc":%q,"dueTzid":"UTC"}`, body, text(30),
					start), nil)
			case 1:
				it = b.add(ann, product.Event(), fmt.Sprintf(`{%s,"description":%q,"startUtc":%q,"startTzid":"UTC"}`, body,
					text(30), start), nil)
			default:
				it = b.add(ann, product.Note(), fmt.Sprintf(`{%s,"body":%q}`, body, text(40)), nil)
			}
		}
		entries = append(entries, entryOf(it))
	}
	row := int64(0)
	for some := range slices.Chunk(entries, changelog.MaxEntries) {
		row++
		b.appendRow(ann, row, some...)
	}
}

// BenchmarkSearch searches the 10,000 items of a user: with the index that the process holds, with one that it loads,
// and with none. It reports the slowest of a hundred, the snapshot's bytes and the heap.
func BenchmarkSearch(b *testing.B) {
	w := setup(b)
	w.full(10_000)
	objects := blobmemory.New(nil)
	questions := []query.SearchQuery{
		{Text: "aaen0"}, {Text: "ab"}, {Text: `"aaen0 baing0"`}, {Text: "aaem0 baing"}, {Is: []string{"today"}},
		{Text: "a", Is: []string{"open"}, Sort: "start"}, {From: noon, To: noon.AddDate(0, 1, 0), Text: "b"},
		{Text: "-aaen0", Tags: []string{"t1"}},
	}
	ask := func(s *query.Service, n int) time.Duration {
		began := time.Now()
		_, err := s.Search(ctx, ann, questions[n%len(questions)])
		require.NoError(b, err)
		return time.Since(began)
	}
	slowest := func(b *testing.B, next func() *query.Service) {
		var took []time.Duration
		n := 0
		for b.Loop() {
			took = append(took, ask(next(), n))
			n++
		}
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
	}
	b.Run("held", func(b *testing.B) {
		s := w.unfailing(objects)
		ask(s, 0)
		slowest(b, func() *query.Service { return s })
	})
	b.Run("loaded", func(b *testing.B) {
		slowest(b, func() *query.Service { return w.unfailing(objects) })
	})
	b.Run("first", func(b *testing.B) {
		slowest(b, func() *query.Service { return w.unfailing(nil) })
	})
	b.Run("memory", func(b *testing.B) {
		names, err := objects.List(ctx, "", blob.MaxList, "")
		require.NoError(b, err)
		body, err := objects.Get(ctx, names[0])
		require.NoError(b, err)
		var before, after runtime.MemStats
		for b.Loop() {
			runtime.GC()
			runtime.ReadMemStats(&before)
			s := w.unfailing(objects)
			ask(s, 0)
			runtime.GC()
			runtime.ReadMemStats(&after)
			runtime.KeepAlive(s)
		}
		b.ReportMetric(float64(len(body)), "snapshot-bytes")
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc), "heap-bytes")
	})
}
