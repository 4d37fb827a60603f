package plan

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"

	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/revision"
	"nexus/pkg/table"
)

// Retention prunes the history of the users who keep it for so many days only, each once a month. Repeating it is safe:
// what is pruned is pruned already. All fields but IsGone are required.
type Retention struct {
	Plans *Service
	Store table.Reader
	Log   *slog.Logger
	// IsGone reports whether nothing may be done for the user; nil for never.
	IsGone func(ctx context.Context, user string) (bool, error)
}

// sweptAfter is the time after which the rows of what was pruned are removed: no reader has them any more.
const sweptAfter = 2 * revision.Patience

// Run prunes for the users whose turn begins in the span of time, removes the rows of what was pruned in the turns
// before, and returns how many users had their turn. An error of one does not keep it from the next.
func (r *Retention) Run(ctx context.Context, from, to time.Time) (users int, err error) {
	users, err = r.each(ctx, from, to, func(user string, days int) error {
		pruned, err := r.Plans.PruneAll(ctx, user, days, to)
		if err == nil {
			r.Log.InfoContext(ctx, "history pruned", slog.String("user", user), slog.Int("revisions", pruned.Revisions))
		}
		return err
	})
	_, swept := r.each(ctx, from.Add(-sweptAfter), to.Add(-sweptAfter), func(user string, _ int) error {
		_, _, err := r.Plans.plans.Sweep(ctx, user, math.MaxInt)
		return err
	})
	return users, errors.Join(err, swept)
}

// each calls do for the users whose turn begins in the span of time.
func (r *Retention) each(
	ctx context.Context, from, to time.Time, do func(user string, days int) error,
) (users int, err error) {
	var errs []error
	for _, turns := range product.HistoryTurnsIn(from, to) {
		q := table.Query{
			Index: table.StateView, Partition: turns.Partition, Range: table.Range{From: turns.From, To: turns.To},
		}
		for row, err := range table.Rows(ctx, r.Store, q, 0) {
			if err != nil {
				return users, errors.Join(append(errs, fmt.Errorf("read whose history is pruned: %w", err))...)
			}
			served, err := r.serve(ctx, row.Key(), do)
			if err != nil {
				errs = append(errs, fmt.Errorf("history of %s: %w", row.Key(), err))
			}
			if served {
				users++
			}
		}
	}
	return users, errors.Join(errs...)
}

// serve reads the preference once more: the view may be that of a while ago.
func (r *Retention) serve(ctx context.Context, key item.Key, do func(user string, days int) error) (bool, error) {
	meta, err := table.Find(ctx, r.Store, key)
	if err != nil {
		return false, err
	}
	user, days := meta.Str(product.AttrUserID), meta.Map(product.AttrPreferences).Int(product.PreferenceHistoryDays)
	if days <= 0 {
		return false, nil
	}
	if r.IsGone != nil {
		if gone, err := r.IsGone(ctx, user); err != nil || gone {
			return false, err
		}
	}
	return true, do(user, int(days))
}
