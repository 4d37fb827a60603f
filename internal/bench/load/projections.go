package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/links"
	"nexus/pkg/projection"
	"nexus/pkg/stats"
	"nexus/pkg/table/memory"
)

// Goals of P4: store calls for each change that counts, and records a second on a core.
const (
	callsGoal   = 0.2
	recordsGoal = 20_000
)

// projectionTable prints a line for each projection and order of the stream, and what a replay of it all costs.
func projectionTable(ctx context.Context, out io.Writer, registry *entity.Registry, run streamRun) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "projection\tstream\tchanges\tcounted\tcalls, batches of %d\tfor each counted\tgoal\tchanges/s a "+
		"core\tgoal\tcalls, one by one\tfor each counted\tchanges/s a core\tcalls: times\t\n", run.batch)
	for _, p := range []*projection.Projection{stats.Projection(), links.Projection()} {
		for _, o := range orders {
			changes, err := streamOf(registry, o, run.users)
			if err != nil {
				return err
			}
			batched, again, err := project(ctx, p, changes, run.batch)
			if err != nil {
				return err
			}
			alone, _, err := project(ctx, p, changes, 1)
			if err != nil {
				return err
			}
			n := float64(len(changes))
			counted := float64(alone.counted)
			fmt.Fprintf(w, "%s\t%s\t%.0f\t%.0f\t%d\t%.3f\t%.1f\t%.0f\t%d\t%d\t%.2f\t%.0f\t%.0f\t\n",
				p.Name(), o.name, n, counted, batched.calls, float64(batched.calls)/counted, callsGoal,
				n/batched.processor.Seconds(), recordsGoal,
				alone.calls, float64(alone.calls)/counted, n/alone.processor.Seconds(), float64(alone.calls)/float64(batched.calls))
			fmt.Fprintf(w, "\tall of it again, a day later\t%.0f\t\t%d\t\t\t%.0f\t\t\t\t\t\t\n", n, again.calls,
				n/again.processor.Seconds())
		}
	}
	return w.Flush()
}

// projected is what the changes of a stream took.
type projected struct {
	calls     int64
	counted   int // batches that needed a call: with one change in each, the changes that count
	processor time.Duration
}

// project applies the changes in batches, in a store of their own that holds the items as they end, and all of them
// again a day later.
func project(
	ctx context.Context, p *projection.Projection, changes []change.Change, batch int,
) (first, again projected, err error) {
	now := base
	m := &meter{}
	store := memory.New(func() time.Time { return now }, memory.Options{Observer: m.observe})
	if err := store.Load(ctx, present(changes)); err != nil {
		return projected{}, projected{}, err
	}
	consumer := projection.NewConsumer(p, store, func() time.Time { return now })
	if first, err = apply(ctx, consumer, changes, batch, m); err != nil {
		return first, again, err
	}
	now = now.AddDate(0, 0, 1)
	again, err = apply(ctx, consumer, changes, batch, m)
	return first, again, err
}

// apply hands the changes to a consumer, so many at a time. Whatever it cannot do is an error here.
func apply(
	ctx context.Context, consumer change.Consumer, changes []change.Change, batch int, m *meter,
) (projected, error) {
	var out projected
	before := m.read()
	s, err := spending(func() error {
		for some := range slices.Chunk(changes, batch) {
			calls := m.calls.Load()
			for i, o := range consumer.Apply(ctx, some) {
				if o.Err != nil {
					return fmt.Errorf("%s: %w", some[i].Key, o.Err)
				}
			}
			if m.calls.Load() > calls {
				out.counted++
			}
		}
		return nil
	})
	out.calls, out.processor = m.read().since(before).calls, s.processor
	return out, err
}

// present are the items as the changes leave them.
func present(changes []change.Change) []item.Item {
	last := map[item.Key]change.Change{}
	for _, c := range changes {
		if c.Version >= last[c.Key].Version {
			last[c.Key] = c
		}
	}
	var items []item.Item
	for _, c := range last {
		if c.New != nil {
			items = append(items, c.New)
		}
	}
	return items
}
