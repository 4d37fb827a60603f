package load_test

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

const (
	// scaleBatch is how many changes a consumer gets at a time.
	scaleBatch = 100
	// usersItems is how many items each user has where many users share a table.
	usersItems = 1000
)

// BenchmarkScale is P9 of the performance goals: the same requests, and the same batches of changes for each consumer,
// on ever larger tables, of one user and of ever more users. NEXUS_SCALE is the size of the largest, in items.
//
// An operation is a request, or one record of a batch of 100. Its time is processor time without garbage collection:
// the table lies in this very process, and to collect would be work in proportion to the table, which no function has.
// Each benchmark measures once: make scale runs it with -benchtime 1x.
func BenchmarkScale(b *testing.B) {
	largest, err := strconv.Atoi(os.Getenv("NEXUS_SCALE"))
	if err != nil {
		b.Skip("NEXUS_SCALE names no number of items")
	}
	for items := usersItems; items <= largest; items *= 10 {
		benchmarkTable(b, 1, items, time.Second)
	}
	for items := 10 * usersItems; items <= largest; items *= 10 {
		benchmarkTable(b, items/usersItems, usersItems, time.Second)
	}
}

func benchmarkTable(b *testing.B, users, each int, long time.Duration) {
	b.Run(fmt.Sprintf("users=%d/items=%d", users, users*each), func(b *testing.B) {
		before := heap()
		c := newCrowd(b, users, each)
		held := float64(heap()-before) / 1024 / float64(users*each)
		for _, w := range c.works() {
			b.Run(w.name, func(b *testing.B) {
				for range b.N {
					l := c.measure(b, w, 20, long)
					b.ReportMetric(held, "table-KB/item")
					b.ReportMetric(l.processor, "ns/op")
					b.ReportMetric(l.processor/max(l.rows, 1), "ns/row")
					b.ReportMetric(l.kilobytes, "KB/op")
					b.ReportMetric(l.calls, "calls/op")
					b.ReportMetric(l.rows, "rows/op")
					b.ReportMetric(l.scans, "scans")
				}
			})
		}
		runtime.KeepAlive(c)
	})
}

// heap returns the bytes in memory that are still used.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// work is one kind of request, or a consumer and the items whose coming makes it do something.
type work struct {
	name    string
	records int // in one step: 1 for a request
	// prepare returns what carries out a step, for so many different steps.
	prepare func(tb testing.TB, steps int) (step func(i int))
}

// line holds the cost of some work, per request or record.
type line struct {
	calls, rows, scans   float64
	processor, kilobytes float64 // nanoseconds; KB
}

// measure carries out so many steps of the work, and requests for at least so long.
func (c *crowd) measure(tb testing.TB, w work, steps int, long time.Duration) line {
	tb.Helper()
	step, n := w.prepare(tb, steps), 0
	before := c.meter.read()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	s := spending(tb, func() {
		for end := time.Now().Add(long); n < steps || w.records == 1 && time.Now().Before(end); n++ {
			step(n)
		}
	})
	used, units := c.meter.read().since(before), float64(n*w.records)
	return line{
		float64(used.calls) / units, float64(used.rows) / units, float64(used.scans),
		float64(s.processor) / units, float64(s.bytes) / 1024 / units,
	}
}

// works are the requests, for which users ask in turn, and the consumers.
func (c *crowd) works() []work {
	request := func(name string, path func(owner string) string) work {
		return work{name, 1, func(tb testing.TB, _ int) func(int) {
			step := func(i int) {
				owner := c.users[i%len(c.users)]
				ask(tb, c.handler, owner, path(owner))
			}
			for i := range 10 { // what is only paid for once
				step(i)
			}
			return step
		}}
	}
	always := func(path string) func(string) string { return func(string) string { return path } }
	return []work{
		request("agenda", always(weekView(base, 100))),
		request("board", always("/v1/board")),
		request("one-column", always("/v1/tasks?status=BACKLOG")),
		request("backlinks", func(owner string) string { return "/v1/notes/" + hub(owner) + "/backlinks" }),
		request("one-item", func(owner string) string { return "/v1/notes/" + hub(owner) }),
		c.probe("stats", 0, nil), c.probe("links", 3, link("note_1", "note_2")), c.probe("reminders", 5, nil),
		c.probe("archive", 2, set(entity.AttrStatus, product.StatusCompleted)),
	}
}

// probe is a consumer and new items of one kind of the users in turn, all of them in times to come.
func (c *crowd) probe(name string, kind int, finish func(item.Item)) work {
	return work{name, scaleBatch, func(tb testing.TB, steps int) func(int) {
		changes := make([]change.Change, 0, steps*scaleBatch)
		for i := range cap(changes) {
			owner := c.users[i%len(c.users)]
			it := itemBody(kind, base.Add(time.Duration(i+1)*time.Hour)).
				created(tb, owner, fmt.Sprintf("%s%08d-%s", name, i, owner), base)
			if finish != nil {
				finish(it)
			}
			changes = append(changes, c.write(tb, owner, []item.Item{it})...)
		}
		consumer := c.consumer(name)
		return func(i int) { follow(tb, consumer, changes[i*scaleBatch:(i+1)*scaleBatch]) }
	}}
}

func (c *crowd) consumer(name string) change.Consumer {
	all := c.system.Consumers
	return all[slices.IndexFunc(all, func(one change.Consumer) bool { return one.Name() == name })]
}

func TestLoad_costsDoNotGrowWithTheTable(t *testing.T) {
	t.Parallel()
	calls := map[string]float64{
		"agenda": 8, "board": 5, "one-column": 1, "backlinks": 3, "one-item": 1, "stats": 0.04, "links": 0.04,
		"reminders": 4, "archive": 2,
	}
	// How dense a week is decides what an agenda reads, and how many users a batch has how many sums it writes.
	mayGrow := map[string]bool{"agenda": true, "stats": true}
	small := map[string]line{}
	for _, size := range [][2]int{{1, 500}, {1, 2500}, {5, 500}} {
		c := newCrowd(t, size[0], size[1])
		for _, w := range c.works() {
			l := c.measure(t, w, 2, 0)
			most := calls[w.name]
			if w.name == "stats" {
				most += 0.005 // the first batch also looks at the row of a pending entry
			}
			require.LessOrEqual(t, l.calls, most+0.001, "%v %s", size, w.name)
			require.GreaterOrEqual(t, l.calls, calls[w.name]-0.001, "%v %s", size, w.name)
			require.Zero(t, l.scans, "%v %s", size, w.name)
			if _, known := small[w.name]; !known {
				small[w.name] = l
			}
			if !mayGrow[w.name] {
				require.LessOrEqual(t, l.rows, small[w.name].rows, "%v %s", size, w.name)
			}
		}
	}
}
