package query

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
	"nexus/pkg/wallclock"
)

// Stats are a user's statistics at an instant.
type Stats struct {
	AsOf time.Time
	// Totals are the statistics of USER_META, complete: see the Stat names of pkg/entity.
	Totals item.Item
	// UpcomingEvents start after AsOf, and OverdueTasks are open although their due time has come.
	UpcomingEvents, OverdueTasks int
}

// Stats returns the statistics as of now, to the second: one read of USER_META, then four counts in parallel, each of
// a range of small rows. Floating events and tasks are compared with the latest reading of a clock in the user's zone:
// while readings repeat, what has come stays so.
func (s *Service) Stats(ctx context.Context, user string) (Stats, error) {
	meta, err := s.Me(ctx, user)
	if err != nil {
		return Stats{}, err
	}
	zone, err := wallclock.LoadLocation(meta.Str(product.AttrDefaultTzid))
	if err != nil {
		return Stats{}, fmt.Errorf("%s: %w", meta.Key(), err)
	}
	now := s.now().UTC().Truncate(time.Second)
	out := Stats{AsOf: now, Totals: product.WithAllStats(meta).Map(product.AttrStats)}
	wall := item.LatestWall(now, zone)
	counts := []open{
		upcoming(false, now), upcoming(true, wall),
		overdue(false, now), overdue(true, wall),
	}
	numbers := make([]int, len(counts))
	g, ctx := errgroup.WithContext(ctx)
	for i, o := range counts {
		g.Go(func() (err error) {
			if numbers[i], err = s.store.Count(ctx, o.query(user)); err != nil {
				return fmt.Errorf("count %s from %s to %s: %w", entity.UserPK(user), o.from, o.to, err)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return Stats{}, err
	}
	out.UpcomingEvents, out.OverdueTasks = numbers[0]+numbers[1], numbers[2]+numbers[3]
	return out, nil
}

// open is a range of the open-counter rows, both ends included.
type open struct{ from, to string }

func (o open) query(user string) table.Query {
	return table.Query{Index: table.StateView, Partition: entity.UserPK(user), Range: table.Range{From: o.from, To: o.to}}
}

// upcoming returns the range of events that start after the reading.
func upcoming(floating bool, reading time.Time) open {
	return open{
		entity.OpenSK(product.TypeEvent, floating, reading.Add(time.Second)),
		entity.OpenPrefix(product.TypeEvent, floating) + item.Forever,
	}
}

// overdue returns the range of tasks that were due at the reading or before: an all-day task is overdue from the
// midnight that ends its day.
func overdue(floating bool, reading time.Time) open {
	return open{entity.OpenPrefix(product.TypeTask, floating), entity.OpenSK(product.TypeTask, floating, reading)}
}
