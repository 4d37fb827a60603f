package load_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/local"
	"nexus/pkg/local/engine/enginetest"
	"nexus/pkg/query"
	"nexus/pkg/table"
	"nexus/pkg/table/dynamo"
	"nexus/pkg/table/memory"
)

const user = "reader"

// BenchmarkAgenda is P2 of the performance goals: a week of a user with 10,000 items and 60 series, 20 of them with
// exceptions, JSON included, beside one bare query of the same store.
func BenchmarkAgenda(b *testing.B) { benchmarkAgenda(b, 10_000, 60) }

func benchmarkAgenda(b *testing.B, items, series int) {
	b.Run("memory", func(b *testing.B) {
		// On one core: on more, the garbage collector marks the whole table on cores that have nothing else to do, and that
		// would count as time of the agenda.
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		store := memory.New(now, memory.Options{})
		fill(b, store, items, series)
		benchmarkWeeks(b, store)
	})
	b.Run("engine", func(b *testing.B) {
		endpoint, name := enginetest.Table(b)
		client, release, err := local.NewClient(endpoint)
		require.NoError(b, err)
		defer release()
		store := dynamo.New(client, dynamo.WithTable(name))
		fill(b, store, items, series)
		benchmarkWeeks(b, store)
	})
}

// fill keeps nothing of the rows: the garbage collector has no more to look at than in a function.
func fill(tb testing.TB, store table.Store, items, series int) {
	tb.Helper()
	require.NoError(tb, store.Load(tb.Context(), populate(base, items, series).rows(tb, user)))
}

// benchmarkWeeks measures the agenda in pages of two sizes, and one bare query.
func benchmarkWeeks(b *testing.B, store table.Store) {
	for _, limit := range []int{query.DefaultLimit, query.MaxLimit} {
		b.Run(fmt.Sprintf("page=%d", limit), func(b *testing.B) {
			watched := &watch{Store: store}
			h := surface(b, watched)
			bytes := 0
			wall := loop(b, func() { watched.busy() }, func() { bytes = ask(b, h, user, weekView(base, limit)) })
			b.ReportMetric(100*(1-float64(watched.busy())/float64(wall)), "%between-requests")
			b.ReportMetric(float64(bytes), "JSON-B/op")
		})
	}
	b.Run("bare-query", func(b *testing.B) {
		bare := table.Query{
			Index: table.YearView, Partition: entity.AgendaPK(user, base.Year()),
			Range: table.Range{From: item.FormatInstant(base), To: item.FormatInstant(base.Add(week))},
		}
		loop(b, func() {}, func() {
			_, err := store.Query(b.Context(), bare)
			require.NoError(b, err)
		})
	})
}

// slice is a part of a run that is looked at by itself: longer than from one garbage collection to the next.
const slice = 250 * time.Millisecond

// loop repeats the operation, once what is only paid for once has been, and returns how long that took. It reports the
// processor time of one operation, and that in the slice of the run that others on the machine disturbed least.
func loop(b *testing.B, warm, operation func()) time.Duration {
	b.Helper()
	for range 10 {
		operation()
	}
	warm()
	began, used := time.Now(), cpu(b)
	from, before, n, least := began, used, 0, time.Duration(0)
	look := func() {
		after := cpu(b)
		if of := (after - before) / time.Duration(n); least == 0 || of < least {
			least = of
		}
		from, before, n = time.Now(), after, 0
	}
	for b.Loop() {
		operation()
		if n++; time.Since(from) >= slice {
			look()
		}
	}
	wall := time.Since(began)
	if least == 0 {
		look()
	}
	b.ReportMetric(float64(cpu(b)-used)/float64(b.N), "cpu-ns/op")
	b.ReportMetric(float64(least), "least-cpu-ns/op")
	return wall
}

func TestLoad_needsTwoRoundTripsForAnAgenda(t *testing.T) {
	t.Parallel()
	const delay = time.Second // virtual: of each answer
	store := memory.New(now, memory.Options{})
	fill(t, store, 10_000, 60)
	for _, limit := range []int{query.DefaultLimit, query.MaxLimit} {
		synctest.Test(t, func(t *testing.T) {
			slow := &watch{Store: store, delay: delay}
			began := time.Now()
			ask(t, surface(t, slow), user, weekView(base, limit))
			require.Equal(t, 2*delay, time.Since(began), limit)
			require.Equal(t, 8, slow.requests, limit)
		})
	}
}

// watch is a store that counts requests, knows for how long at least one of them was under way, and may hold each back
// for a while.
type watch struct {
	table.Store
	delay    time.Duration
	mu       sync.Mutex
	requests int
	underway int
	since    time.Time
	total    time.Duration
}

// busy is the time with a request under way since the last call.
func (w *watch) busy() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	total := w.total
	w.total = 0
	return total
}

func (w *watch) begin() {
	w.mu.Lock()
	w.requests++
	if w.underway++; w.underway == 1 {
		w.since = time.Now()
	}
	w.mu.Unlock()
	time.Sleep(w.delay)
}

func (w *watch) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.underway--; w.underway == 0 {
		w.total += time.Since(w.since)
	}
}

func (w *watch) Get(ctx context.Context, key item.Key) (item.Item, error) {
	w.begin()
	defer w.end()
	return w.Store.Get(ctx, key)
}

func (w *watch) BatchGet(ctx context.Context, keys []item.Key) ([]item.Item, error) {
	w.begin()
	defer w.end()
	return w.Store.BatchGet(ctx, keys)
}

func (w *watch) Query(ctx context.Context, q table.Query) (table.Page, error) {
	w.begin()
	defer w.end()
	return w.Store.Query(ctx, q)
}
