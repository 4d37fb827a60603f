package query

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

const (
	// maxFetched bounds the tasks, and the series, fetched by key: one batch of each, which exceptions fill.
	maxFetched = table.MaxBatchGet
	// maxSideBySide bounds the concurrent requests.
	maxSideBySide = 32
)

// fetch reads by key, in parallel, what the indexes do not contain:
//   - the tasks that are due in the window and were not found by their start;
//   - the exceptions on the dates found;
//   - the series of exceptions that moved into the window from beyond the end of their series;
//   - the user's own zone if a snooze needs it.
func (r *reading) fetch(ctx context.Context) error {
	r.fetched = r.cut()
	keys := append(r.dueKeys(), r.seriesKeys()...)
	keys = append(keys, r.exceptionKeys(len(keys))...)
	batches := slices.Collect(slices.Chunk(keys, table.MaxBatchGet))
	rows := make([][]item.Item, len(batches))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(maxSideBySide)
	if r.home == nil && r.needsHome() {
		g.Go(func() error { return r.readHome(ctx) })
	}
	for i, batch := range batches {
		g.Go(func() (err error) {
			rows[i], err = r.store.BatchGet(ctx, batch)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return fmt.Errorf("agenda of %s: %w", entity.UserPK(r.user), err)
	}
	for _, page := range rows {
		for _, row := range page {
			if row.Str(entity.AttrType) == product.TypeTask && !r.keepsTags(tagsOf(row)) {
				continue
			}
			if err := r.file(row, true); err != nil {
				return err
			}
		}
	}
	r.placeExceptions()
	return nil
}

// cut returns how far this page can reach: the next page fetches what follows its last entry.
func (r *reading) cut() known {
	k := r.known()
	places := make([]place, 0, len(r.singles)+len(r.occurrences))
	r.each(k, func(e *Entry) {
		if e.of == nil || !e.of.uncertain {
			places = append(places, e.place())
		}
	})
	if len(places) > r.limit {
		slices.SortFunc(places, place.compare)
		k.limit(places[r.limit])
	}
	return k
}

// dueKeys returns the keys of tasks that are not yet read and are due on this page.
func (r *reading) dueKeys() []item.Key {
	due := r.dueElsewhere()
	if len(due) > maxFetched {
		r.fetched.limit(due[maxFetched-1])
		due = due[:maxFetched]
	}
	keys := make([]item.Key, len(due))
	for i, p := range due {
		keys[i] = entity.ItemKey(r.user, entity.Ref{Type: product.TypeTask, ID: p.id})
	}
	return keys
}
