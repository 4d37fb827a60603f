package main

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"runtime"
	"text/tabwriter"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/query"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

const user = "somebody"

// agendaRun says how much `load agenda` measures.
type agendaRun struct {
	items, series int
	measure       time.Duration // of each figure
	delay         time.Duration // of each answer while round trips are counted: long beside everything else an agenda does
	engine        bool
}

// fullAgenda is P2 of the performance goals: a user with 10,000 items and 60 series, 20 of them with exceptions.
var fullAgenda = agendaRun{
	items: 10_000, series: 60, measure: 3 * time.Second, delay: 250 * time.Millisecond, engine: true,
}

// weekView is what a calendar asks for to show a week that begins at the instant.
func weekView(monday time.Time, limit int) string {
	return "/v1/agenda?" + url.Values{
		"from": {monday.Format(time.RFC3339)}, "to": {monday.Add(week).Format(time.RFC3339)}, "limit": {fmt.Sprint(limit)},
	}.Encode()
}

// agendaTable prints the figures of one agenda, in this process.
func agendaTable(ctx context.Context, out io.Writer, run agendaRun) error {
	registry, now := product.Registry(), func() time.Time { return base }
	rows := func() ([]item.Item, error) { return populate(base, run.items, run.series).rows(user, registry, base) }
	fmt.Fprintf(out, "agenda of a week, %d items, %d series, %d of them with exceptions; %s\n", run.items, run.series,
		(run.series+2)/3, machine())
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "store\trequest\tbytes\tprocessor time\ta second a core\tleast disturbed\tgoal\ttime\tprocessor : "+
		"time\tbetween requests\tgoal\trequests\tone after another\tgoal\t")
	measured := func(name string) func(table.Store) error {
		return func(store table.Store) error { return agendaLines(ctx, w, name, store, registry, now, run) }
	}
	if err := inMemory(ctx, rows, now, measured("memory")); err != nil {
		return err
	}
	if run.engine {
		if err := onEngine(ctx, rows, measured("engine")); err != nil {
			return err
		}
	}
	return w.Flush()
}

// inMemory makes a store of this process with the rows in it, and works on one core: on more, the garbage collector
// marks the whole table on cores that have nothing else to do, and that would count as time of the agenda.
func inMemory(
	ctx context.Context, rows func() ([]item.Item, error), now func() time.Time, use func(table.Store) error,
) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	store := memory.New(now, memory.Options{})
	if err := fill(ctx, store, rows); err != nil {
		return err
	}
	return use(store)
}

// fill keeps nothing of the rows: the garbage collector has no more to look at than in a function.
func fill(ctx context.Context, store table.Store, rows func() ([]item.Item, error)) error {
	all, err := rows()
	if err != nil {
		return err
	}
	return store.Load(ctx, all)
}

// agendaLines prints one line for each page size, and one for the bare query.
func agendaLines(
	ctx context.Context, w io.Writer, name string, store table.Store, registry *entity.Registry, now func() time.Time,
	run agendaRun,
) error {
	for _, limit := range []int{query.DefaultLimit, query.MaxLimit} {
		counted := &counter{Store: store, delay: run.delay}
		bytes, deep, err := tripsOf(ctx, counted, registry, now, limit)
		if err != nil {
			return err
		}
		watched := &watch{Store: store}
		h, err := surface(watched, registry, now)
		if err != nil {
			return err
		}
		f, err := measure(ctx, run.measure, func() error {
			_, err := ask(ctx, h, user, weekView(base, limit))
			return err
		}, func() { watched.busy() })
		if err != nil {
			return err
		}
		goals := [...]string{"", ""}
		if name == "memory" {
			goals[0] = "2000"
		} else {
			goals[1] = "25 %"
		}
		fmt.Fprintf(w, "%s\tagenda, pages of %d\t%d\t%v\t%.0f\t%.0f\t%s\t%v\t%.0f %%\t%.0f %%\t%s\t%d\t%d\t2\t\n",
			name, limit, bytes, f.processor.Round(time.Microsecond), aSecond(f.processor), aSecond(f.least), goals[0],
			f.wall.Round(time.Microsecond), 100*float64(f.processor)/float64(f.wall),
			100*(1-float64(watched.busy()/f.n)/float64(f.wall)), goals[1], counted.requests, deep)
	}
	bare := table.Query{
		Index: table.YearView, Partition: entity.AgendaPK(user, base.Year()),
		Range: table.Range{From: item.FormatInstant(base), To: item.FormatInstant(base.Add(week))},
	}
	f, err := measure(ctx, run.measure, func() error {
		_, err := store.Query(ctx, bare)
		return err
	}, func() {})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s\tone bare query of the index\t\t%v\t%.0f\t%.0f\t\t%v\t%.0f %%\t\t\t1\t1\t\t\n",
		name, f.processor.Round(time.Microsecond), aSecond(f.processor), aSecond(f.least), f.wall.Round(time.Microsecond),
		100*float64(f.processor)/float64(f.wall))
	return nil
}

// figure is what one operation takes on average.
type figure struct {
	processor, wall time.Duration
	n               time.Duration // operations
	// least is the processor time in the slice of the run that others on the machine disturbed least.
	least time.Duration
}

func aSecond(each time.Duration) float64 { return float64(time.Second) / float64(each) }

// slice is a part of a run that is looked at by itself: longer than from one garbage collection to the next.
const slice = 250 * time.Millisecond

// measure repeats the operation, one at a time, and says when what is only paid for once has been.
func measure(ctx context.Context, atLeast time.Duration, operation func() error, warm func()) (figure, error) {
	for range 10 { // what is only paid for once
		if err := operation(); err != nil {
			return figure{}, err
		}
	}
	warm()
	used, err := processorTime()
	if err != nil {
		return figure{}, err
	}
	var f figure
	before := used
	for began := time.Now(); time.Since(began) < atLeast && ctx.Err() == nil; {
		n := time.Duration(0)
		for from := time.Now(); time.Since(from) < slice; n++ {
			if err := operation(); err != nil {
				return figure{}, err
			}
		}
		f.wall, f.n = time.Since(began), f.n+n
		now, err := processorTime()
		if err != nil {
			return figure{}, err
		}
		if of := (now - before) / n; f.least == 0 || of < f.least {
			f.least = of
		}
		before = now
	}
	if f.n == 0 {
		return figure{}, fmt.Errorf("nothing was measured: %w", ctx.Err())
	}
	f.processor, f.wall = (before-used)/f.n, f.wall/f.n
	return f, nil
}

// tripsOf has one agenda answered by a store each of whose answers takes a while, and returns how many came one after
// another.
func tripsOf(
	ctx context.Context, store *counter, registry *entity.Registry, now func() time.Time, limit int,
) (bytes, deep int, err error) {
	h, err := surface(store, registry, now)
	if err != nil {
		return 0, 0, err
	}
	began := time.Now()
	if bytes, err = ask(ctx, h, user, weekView(base, limit)); err != nil {
		return 0, 0, err
	}
	return bytes, int(time.Since(began) / store.delay), nil
}
