package verify

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/projection"
	"nexus/pkg/table"
)

const (
	// sumReads is how often the rows of a sum are added up until nobody writes it meanwhile.
	sumReads = 8
	// rebuilds is how often the repair of one sum is begun.
	rebuilds = 4
	// holdPatience is how long the end of another repair's hold is waited for, one pause at a time: a little longer than a hold
	// lasts whose owner died.
	holdPatience = 35
	holdPause    = time.Second
)

// sums compares each sum with what its ledger rows add up to, and repairs those that are wrong, or whose rows are.
func (r *run) sums(ctx context.Context, user string) error {
	for i, p := range r.Projections {
		if !p.Summed() {
			continue
		}
		isWrong, err := r.checkSum(ctx, user, p)
		if err != nil {
			return err
		}
		if r.mending && (isWrong || r.rebuild[i]) {
			if err := r.forgive(ctx, user, p.Name(), r.rebuildSum(ctx, user, i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkSum adds up the ledger rows until the sum was not written meanwhile: then they are one instant's.
func (r *run) checkSum(ctx context.Context, user string, p *projection.Projection) (isWrong bool, err error) {
	for n := range sumReads {
		before, err := r.find(ctx, p.Target(user))
		if err != nil {
			return false, err
		}
		tally := p.NewTally()
		rows := r.cursor(user, family{prefix: entity.LedgerPrefix(p.Name()), idFrom: len(entity.LedgerPrefix(p.Name()))})
		for {
			row, _, err := rows.peek(ctx)
			if err != nil {
				return false, err
			}
			if row == nil {
				break
			}
			rows.at++
			tally.Add(row)
		}
		after, err := r.find(ctx, p.Target(user))
		if err != nil {
			return false, err
		}
		if p.Moved(before, after, r.Now()) {
			if n%2 == 1 {
				if err := r.Wait(ctx, r.Grace/4); err != nil {
					return false, err
				}
			}
			continue
		}
		faults := tally.Check(user, after, r.Now())
		for _, f := range faults {
			if err := r.found(Difference{Kind: Statistics, User: user, Key: f.Key.String(), Is: f.Is, ShouldBe: f.Want}); err != nil {
				return false, err
			}
		}
		return len(faults) > 0, nil
	}
	r.sum.Unsettled++
	r.Log.WarnContext(ctx, "a sum kept changing while it was verified", "user", user, "sum", p.Name())
	return true, nil // under a hold it stands still
}

// rebuildSum puts a user's ledger rows and sum right under a hold. Each try begins at the beginning: what a former one put
// right is found right.
func (r *run) rebuildSum(ctx context.Context, user string, which int) error {
	var err error
	for range rebuilds {
		var h *projection.Hold
		if h, err = r.takeHold(ctx, user, which); err != nil {
			return err
		}
		if err = r.underHold(ctx, user, which, h); err == nil {
			return nil
		}
		if !errors.Is(err, projection.ErrHoldLost) && !errors.Is(err, table.ErrConflict) && !isOutage(err) {
			break
		}
		if ctx.Err() != nil {
			break
		}
	}
	return err
}

func (r *run) takeHold(ctx context.Context, user string, which int) (*projection.Hold, error) {
	for n := 0; ; n++ {
		h, err := r.consumers[which].Hold(ctx, user, r.owner)
		if err == nil || !errors.Is(err, projection.ErrHeld) || n == holdPatience {
			return h, err
		}
		if err := r.Wait(ctx, holdPause); err != nil {
			return nil, err
		}
	}
}

// underHold goes through all items and ledger rows once. A repair that fails gives its hold back, if it can: the user's
// consumers need not wait for it to lapse.
func (r *run) underHold(ctx context.Context, user string, which int, h *projection.Hold) error {
	err := r.mendLedger(ctx, user, which, h)
	if err == nil {
		err = h.Finish(ctx)
	}
	if err != nil && !errors.Is(err, projection.ErrHoldLost) {
		if failed := h.Release(context.WithoutCancel(ctx)); failed != nil {
			r.Log.WarnContext(ctx, "a hold was not given back and will lapse", "user", user, "error", failed)
		}
	}
	return err
}

func (r *run) mendLedger(ctx context.Context, user string, which int, h *projection.Hold) error {
	p := r.Projections[which]
	for _, t := range r.Registry.Types() {
		if !t.HasCollection() {
			continue
		}
		err := r.groups(ctx, user, t, []family{r.ledgerFamily(p, t)}, func(g group) error {
			if row := g.only(0); row != nil || p.Contributes(t, g.item) {
				return h.Mend(ctx, projection.Evidence{User: user, Type: t, Ref: g.ref(), Item: g.item, Ledger: row})
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("%s: %w", t.Name, err)
		}
	}
	return r.strayLedger(ctx, user, p, func(row entity.Item) error { return h.Drop(ctx, row) })
}
