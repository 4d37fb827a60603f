package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"text/tabwriter"
	"time"
)

// scaleRun says how much `load scale` measures.
type scaleRun struct {
	items   []int // sizes, the smallest first
	each    int   // items of each user where many users share the items
	measure time.Duration
	batches int // of changes, for each consumer
	batch   int
}

// shortScale is P9 of the performance goals without its largest size, which takes minutes and gigabytes.
var shortScale = scaleRun{
	items: []int{1_000, 10_000, 100_000}, each: 1_000, measure: time.Second, batches: 20, batch: 100,
}

const largest = 1_000_000

func parseScale(args []string) (scaleRun, error) {
	run := shortScale
	f := flag.NewFlagSet("load scale", flag.ContinueOnError)
	f.SetOutput(os.Stderr)
	full := f.Bool("full", false, "also with 1,000,000 items: some minutes, and 10 GB of memory")
	if err := f.Parse(args); err != nil {
		return scaleRun{}, err
	}
	if *full {
		run.items = append(run.items[:len(run.items):len(run.items)], largest)
	}
	return run, nil
}

// line is what one kind of work took, per request or record.
type line struct {
	name                 string
	calls, rows, scans   float64
	processor, kilobytes float64 // nanoseconds; KB
}

// perRow is processor time for each row read or written.
func (l line) perRow() float64 { return l.processor / max(l.rows, 1) }

// scaleTable prints the same work on ever larger tables: of one user, and of ever more users.
func scaleTable(ctx context.Context, out io.Writer, run scaleRun) error {
	fmt.Fprintf(out, "scale: a request, or a record of a batch of %d, on a memory store; %s\n", run.batch, machine())
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "items\tusers\twhat\tcalls\trows\tscans\tprocessor time\tfor each row\ttimes that of the "+
		"smallest\tKB allocated\ttable, KB an item\t")
	first := map[string]line{}
	for _, of := range []func(items int) (users, each int){
		func(items int) (int, int) { return 1, items },
		func(items int) (int, int) { return items / run.each, run.each },
	} {
		for _, items := range run.items {
			users, each := of(items)
			if len(first) > 0 && items == run.items[0] {
				continue // the smallest table has one user either way
			}
			lines, held, err := scaleLines(ctx, users, each, run)
			if err != nil {
				return fmt.Errorf("%d items of %d users: %w", items, users, err)
			}
			for _, l := range lines {
				if _, known := first[l.name]; !known {
					first[l.name] = l
				}
				fmt.Fprintf(w, "%d\t%d\t%s\t%.2f\t%.1f\t%.0f\t%.1f µs\t%.2f µs\t%.2f\t%.1f\t%.1f\t\n", items, users, l.name,
					l.calls, l.rows, l.scans,
					l.processor/1000, l.perRow()/1000, l.perRow()/first[l.name].perRow(), l.kilobytes, held)
			}
		}
	}
	return w.Flush()
}

// scaleLines measures everything on one table. held is how many KB of memory the table takes for each item, derived
// rows included.
func scaleLines(ctx context.Context, users, each int, run scaleRun) (lines []line, held float64, err error) {
	before := heap()
	c, err := newCrowd(ctx, users, each)
	if err != nil {
		return nil, 0, err
	}
	held = float64(heap()-before) / 1024 / float64(c.items)
	for _, r := range c.requests() {
		l, err := c.request(ctx, r, run.measure)
		if err != nil {
			return nil, 0, err
		}
		lines = append(lines, l)
	}
	for _, p := range probes {
		l, err := c.probe(ctx, p, run)
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", p.name, err)
		}
		lines = append(lines, l)
	}
	runtime.KeepAlive(c)
	return lines, held, nil
}

// heap is what is in memory and still used.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func perUnit(name string, n int, used reading, s spent) line {
	each := func(v float64) float64 { return v / float64(n) }
	return line{
		name, each(float64(used.calls)), each(float64(used.rows)), float64(used.scans),
		each(float64(s.processor)), each(float64(s.bytes) / 1024),
	}
}

// asked is one kind of request.
type asked struct {
	name string
	path func(owner string) string
}

func (c *crowd) requests() []asked {
	return []asked{
		{"agenda, 100 of a week", func(string) string { return weekView(base, 100) }},
		{"board", func(string) string { return "/v1/board" }},
		{"one column", func(string) string { return "/v1/tasks?status=BACKLOG" }},
		{"backlinks", func(owner string) string { return "/v1/notes/" + hub(owner) + "/backlinks" }},
		{"one item", func(owner string) string { return "/v1/notes/" + hub(owner) }},
	}
}

// request has users ask in turn.
func (c *crowd) request(ctx context.Context, r asked, long time.Duration) (line, error) {
	turn := 0
	one := func() error {
		owner := c.users[turn%len(c.users)]
		_, err := ask(ctx, c.handler, owner, r.path(owner))
		turn++
		return err
	}
	for range 10 {
		if err := one(); err != nil {
			return line{}, err
		}
	}
	before, began := c.meter.read(), turn
	s, err := uncollected(func() error {
		for end := time.Now().Add(long); turn == began || time.Now().Before(end) && ctx.Err() == nil; {
			if err := one(); err != nil {
				return err
			}
		}
		return ctx.Err()
	})
	return perUnit(r.name, turn-began, c.meter.read().since(before), s), err
}
