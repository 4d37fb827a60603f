package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/links"
	"nexus/pkg/local"
	"nexus/pkg/product"
	"nexus/pkg/projection"
	"nexus/pkg/stats"
	"nexus/pkg/table/memory"
)

func TestAgendaTable_measuresBothStores(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	require.NoError(t, agendaTable(t.Context(), &out, agendaRun{
		items: 300, series: 12, measure: 50 * time.Millisecond, delay: 20 * time.Millisecond, engine: true,
	}))
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, lines, 2+2*3, out.String())
	for _, store := range []string{"memory", "engine"} {
		require.Contains(t, out.String(), store+"  one bare query of the index")
	}
}

func TestStreamTable_readsAndProjectsBatches(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	require.NoError(t, streamTable(t.Context(), &out, streamRun{
		records: 10, measure: 20 * time.Millisecond, users: 20, batch: 100,
	}))
	for _, part := range []string{
		"changed occurrences", "9 changes and 1 record named; the stock event type fails the whole batch",
		"one user after another",
	} {
		require.Contains(t, out.String(), part)
	}
}

// What is pinned here is the goal of P4 itself; the time it takes is only printed.
func TestCounter_costsAtMostAFifthOfACall(t *testing.T) {
	t.Parallel()
	for _, o := range orders {
		changes, err := streamOf(product.Registry(), o, 500)
		require.NoError(t, err)
		require.Len(t, changes, 10_000)
		for _, c := range []struct {
			p       *projection.Projection
			counted int64
			most    map[string]int64
		}{
			{stats.Projection(), 6000, map[string]int64{orders[0].name: 240, orders[1].name: 200}},
			{links.Projection(), 3500, map[string]int64{orders[0].name: 100, orders[1].name: 100}},
		} {
			batched, again, err := project(t.Context(), c.p, changes, fullStream.batch)
			require.NoError(t, err)
			require.LessOrEqual(t, batched.calls, c.most[o.name], "%s, %s", c.p.Name(), o.name)
			require.Less(t, float64(batched.calls)/float64(c.counted), callsGoal)
			require.LessOrEqual(t, again.calls, int64(2*len(changes)/fullStream.batch), "%s again: two reads for each batch",
				c.p.Name())
		}
	}
}

func TestScaleTable_costsDoNotGrowWithTheTable(t *testing.T) {
	t.Parallel()
	run := scaleRun{each: 500, measure: time.Millisecond, batches: 2, batch: 100}
	calls := map[string]float64{
		"agenda, 100 of a week": 10, "board": 5, "one column": 1, "backlinks": 3, "one item": 1, "stats": 0.04, "links": 0.04,
		"reminders": 4, "archive": 2,
	}
	// How dense a week is decides what an agenda reads, and how many users a batch has how many sums it writes.
	mayGrow := map[string]bool{"agenda, 100 of a week": true, "stats": true}
	var small []line
	for _, size := range [][2]int{{1, 500}, {1, 2500}, {5, 500}} {
		lines, _, err := scaleLines(t.Context(), size[0], size[1], run)
		require.NoError(t, err)
		if small == nil {
			small = lines
		}
		for i, l := range lines {
			most := calls[l.name]
			if l.name == "stats" {
				most += 0.005 // the first batch also looks at the row of a pending entry
			}
			require.LessOrEqual(t, l.calls, most+0.001, "%v %s", size, l.name)
			require.GreaterOrEqual(t, l.calls, calls[l.name]-0.001, "%v %s", size, l.name)
			require.Zero(t, l.scans, "%v %s", size, l.name)
			if !mayGrow[l.name] {
				require.LessOrEqual(t, l.rows, small[i].rows, "%v %s", size, l.name)
			}
		}
	}
	_, err := parseScale([]string{"-full=maybe"})
	require.Error(t, err)
	full, err := parseScale([]string{"-full"})
	require.NoError(t, err)
	require.Equal(t, []int{1_000, 10_000, 100_000, 1_000_000}, full.items)
}

func TestHttpTable_measuresReadsOverHTTP(t *testing.T) {
	t.Parallel()
	o, err := parseOptions([]string{
		"-stores", "memory", "-users", "2", "-items", "60", "-series", "6", "-clients", "2", "-for", "200ms", "-each", "50ms",
	})
	require.NoError(t, err)
	var out strings.Builder
	require.NoError(t, httpTable(t.Context(), &out, o))
	for _, asked := range []string{"week views", "the board", "one item"} {
		require.Contains(t, out.String(), asked)
	}
}

func TestParseOptions_boundsEachFlag(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"-stores", "disk"}, {"-users", "0"}, {"-items", "20001"}, {"-series", "0"}, {"-clients", "257"}, {"-for", "61m"},
		{"-each", "0s"},
	} {
		_, err := parseOptions(args)
		require.ErrorIs(t, err, errFlag, "%v", args)
	}
	o, err := parseOptions(nil)
	require.NoError(t, err)
	require.Equal(t, []local.Store{local.Memory, local.DynamoDB}, o.stores)
	for _, args := range [][]string{nil, {"dance"}} {
		require.ErrorIs(t, run(t.Context(), args, nil), errUsage)
	}
}

// BenchmarkAgenda is a week of a user with 10,000 items and 60 series, JSON included, on the memory store.
func BenchmarkAgenda(b *testing.B) {
	registry, now := product.Registry(), func() time.Time { return base }
	rows, err := populate(base, fullAgenda.items, fullAgenda.series).rows(user, registry, base)
	require.NoError(b, err)
	store := memory.New(now, memory.Options{})
	require.NoError(b, store.Load(b.Context(), rows))
	h, err := surface(store, registry, now)
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		bytes, err := ask(b.Context(), h, user, weekView(base, 100))
		require.NoError(b, err)
		require.Greater(b, bytes, 30_000)
	}
}
