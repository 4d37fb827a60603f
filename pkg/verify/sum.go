package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/mask"
	"nexus/pkg/port"
	"nexus/pkg/projection"
	"nexus/pkg/table"
)

const (
	// sumReads bounds how often the rows of a sum are added up until no write interferes.
	sumReads = 8
	// rebuilds bounds how often the repair of one sum is started.
	rebuilds = 4
	// leasePatience bounds the wait for a lease, in pauses: a little longer than the lease of a dead owner lasts.
	leasePatience = 35
	holdPause     = time.Second
)

// sums compares each sum with the total of its ledger rows, and repairs those that differ, or whose rows do.
func (r *run) sums(ctx context.Context, user string) error {
	for i, p := range r.Projections {
		if !p.Summed() {
			continue
		}
		state, err := r.checkSum(ctx, user, p)
		if err != nil {
			return err
		}
		isRecounted := false
		if r.repairing && (state != sumRight || r.rebuild[i]) {
			err := r.rebuildSum(ctx, user, i, state == sumMoving)
			if isRecounted = err == nil; isRecounted {
				r.recounted[i] = true
			}
			if err := r.forgive(ctx, user, p.Name(), err); err != nil {
				return err
			}
		}
		if state == sumMoving && !isRecounted && !r.recounted[i] {
			r.sum.Unsettled++
			r.Log.WarnContext(ctx, "a sum kept changing while it was verified", mask.User(user), "sum", p.Name())
		}
	}
	return nil
}

// sumState is the result of reading a sum.
type sumState int

const (
	sumRight sumState = iota
	sumWrong
	sumMoving // it is written too often to be checked; under a lease it does not change
)

// checkSum adds up the ledger rows until no write of the sum interferes: then they are of one instant. If the sum is
// written without end, it reports a fault that every read shows and that no write explains.
func (r *run) checkSum(ctx context.Context, user string, p *projection.Projection) (sumState, error) {
	var lasting []projection.Fault
	for n := range sumReads {
		before, tally, after, err := r.addUp(ctx, user, p)
		if err != nil {
			return sumMoving, err
		}
		isHeld := p.Leased(before, r.Now()) || p.Leased(after, r.Now())
		if !p.Moved(before, after) && !isHeld {
			faults := tally.Check(user, after, r.Now())
			return stateOf(faults), r.foundSum(user, faults)
		}
		var faults []projection.Fault
		if !isHeld {
			faults = tally.CheckMoving(user, before, after)
		}
		if n == 0 {
			lasting = faults
		}
		lasting = slices.DeleteFunc(lasting, func(f projection.Fault) bool { return !slices.ContainsFunc(faults, f.IsAlike) })
		if n%2 == 1 {
			if err := r.Wait(ctx, r.Grace/4); err != nil {
				return sumMoving, err
			}
		}
	}
	if r.repairing || len(lasting) == 0 {
		return sumMoving, nil // a repair finds the exact fault, under its lease
	}
	return sumWrong, r.foundSum(user, lasting)
}

func stateOf(faults []projection.Fault) sumState {
	if len(faults) > 0 {
		return sumWrong
	}
	return sumRight
}

func (r *run) foundSum(user string, faults []projection.Fault) error {
	for _, f := range faults {
		if err := r.found(Difference{
			Kind: Statistics, User: user, Key: f.Key.String(), Is: f.Is, ShouldBe: f.Want,
		}); err != nil {
			return err
		}
	}
	return nil
}

// addUp adds up the ledger rows, and returns the sum's row as it was before and after that; nil if there is none.
func (r *run) addUp(
	ctx context.Context, user string, p *projection.Projection,
) (before item.Item, tally *projection.Tally, after item.Item, err error) {
	if before, err = r.find(ctx, p.Target(user)); err != nil {
		return nil, nil, nil, err
	}
	tally = p.TallyUnder(user, before)
	prefix := entity.LedgerPrefix(p.Name())
	err = r.each(ctx, user, family{prefix: prefix, idFrom: len(prefix)}, func(row item.Item, _ string) error {
		tally.Add(row)
		return nil
	})
	if err != nil {
		return nil, nil, nil, err
	}
	after, err = r.find(ctx, p.Target(user))
	return before, tally, after, err
}

// rebuildSum repairs a user's ledger rows and sum under a lease, and reports the fault of the sum if no earlier check
// could. Each try starts from the beginning: it finds the earlier one's repairs correct.
func (r *run) rebuildSum(ctx context.Context, user string, which int, report bool) error {
	var err error
	for range rebuilds {
		var h *projection.Lease
		if h, err = r.acquireLease(ctx, user, which); err != nil {
			return err
		}
		var wrong []projection.Fault
		if wrong, err = r.underLease(ctx, user, which, h); err == nil {
			if !report {
				return nil
			}
			return r.foundSum(user, wrong)
		}
		if !errors.Is(err, projection.ErrLeaseLost) && !errors.Is(err, table.ErrConflict) && !port.IsOutage(err) {
			break
		}
		if ctx.Err() != nil {
			break
		}
	}
	return err
}

func (r *run) acquireLease(ctx context.Context, user string, which int) (*projection.Lease, error) {
	for n := 0; ; n++ {
		h, err := r.consumers[which].AcquireLease(ctx, user, r.owner)
		if err == nil || !errors.Is(err, projection.ErrLeased) || n == leasePatience {
			return h, err
		}
		if err := r.Wait(ctx, holdPause); err != nil {
			return nil, err
		}
	}
}

// underLease walks through all items and ledger rows once. A repair that fails returns its lease, if it can, so that
// the user's consumers need not wait until it expires.
func (r *run) underLease(
	ctx context.Context, user string, which int, h *projection.Lease,
) (wrong []projection.Fault, err error) {
	if err = r.repairLedger(ctx, user, which, h); err == nil {
		wrong = h.Check()
		err = h.Finish(ctx)
	}
	if err == nil && h.Staged() {
		return wrong, r.unstage(ctx, user, which, h)
	}
	if err != nil && !errors.Is(err, projection.ErrLeaseLost) {
		if failed := h.Release(context.WithoutCancel(ctx)); failed != nil {
			r.Log.WarnContext(ctx, "a lease was not released and will expire", mask.User(user), "error", failed)
		}
	}
	return wrong, err
}

// unstage completes the rows that a finished repair has staged. Consumers that read one do the same.
func (r *run) unstage(ctx context.Context, user string, which int, h *projection.Lease) error {
	prefix := entity.LedgerPrefix(r.Projections[which].Name())
	return r.each(ctx, user, family{prefix: prefix, idFrom: len(prefix)}, func(row item.Item, _ string) error {
		return h.Unstage(ctx, row)
	})
}

func (r *run) repairLedger(ctx context.Context, user string, which int, h *projection.Lease) error {
	p := r.Projections[which]
	for _, t := range r.Registry.Types() {
		if !t.HasCollection() {
			continue
		}
		err := r.groups(ctx, user, t, []family{r.ledgerFamily(p, t)}, func(g group) error {
			if row := g.only(0); row != nil || p.Contributes(t, g.item) {
				return h.Repair(ctx, projection.Evidence{User: user, Type: t, Ref: g.ref(), Item: g.item, Ledger: row})
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("%s: %w", t.Name, err)
		}
	}
	return r.strayLedger(ctx, user, p, func(row item.Item) error { return h.Drop(ctx, row) })
}
