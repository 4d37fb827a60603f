package reminders

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/mask"
	"nexus/pkg/table"
)

// redriveAfter is the age from which an operator's repair redrives a delivery: longer than any invocation lasts.
const redriveAfter = 10 * time.Minute

// Notifier answers the calls of the scheduler.
type Notifier struct{ engine }

// NewNotifier returns a notifier. It panics on an incomplete configuration, a mistake in the program.
func NewNotifier(c Config) *Notifier { return &Notifier{newEngine(c)} }

// Handle answers one call of the scheduler. Only the delivery and the item decide, not the call. So a call may come
// twice, late, or for a schedule that was deleted or replaced since. An error is either a [*PayloadError], which no
// repetition can resolve, or a reason to repeat the call.
//
// A closed delivery does not end the call. The call may repeat one that crashed later, or run beside the worker that
// closed the delivery. That one may have written an outdated schedule before it crashed, or have begun another late
// delivery. So Handle reconciles the offset in any case.
func (n *Notifier) Handle(ctx context.Context, payload []byte) error {
	t, d, err := parseCall(n.Registry, payload)
	if err != nil {
		return err
	}
	ctx = mask.With(ctx, t.user)
	if isGone, err := n.isGone(ctx, t, d); isGone || err != nil {
		return err
	}
	key := d.deliveryKey(t)
	row, err := table.Find(ctx, n.Store, key)
	if err != nil {
		return err
	}
	if err := entity.CheckForm(row, entity.AttrForm); err != nil {
		return err
	}
	r := run{engine: n.engine, target: t, scope: scope{d.offset: true}}
	if row.Str(attrState) == statePending {
		if err := r.postpone(r.publishPending(ctx, row)); err != nil {
			return err
		}
	}
	if err := r.reconcile(ctx); err != nil {
		return err
	}
	if row == nil && !r.hasPublished(key) {
		r.logOutcome(ctx, slog.LevelInfo, "reminder dropped", d, 0)
		n.observe(Dropped, t, d)
	}
	return nil
}

// isGone reports whether the call is for a user whose account is gone, and counts it as dropped.
func (n *Notifier) isGone(ctx context.Context, t target, d due) (bool, error) {
	if n.IsGone == nil {
		return false, nil
	}
	isGone, err := n.IsGone(ctx, t.user)
	if err != nil {
		return false, fmt.Errorf("ask for the state of an account: %w", err)
	}
	if isGone {
		n.observe(Dropped, t, d)
	}
	return isGone, nil
}

// Redrive completes a delivery that was begun more than 10 minutes before and never closed, given its FIRED row as it
// was read. It ignores other rows; began says whether it was one.
func (n *Notifier) Redrive(ctx context.Context, row item.Item) (began bool, err error) {
	if err := entity.CheckForm(row, entity.AttrForm); err != nil {
		return false, err
	}
	firedAt, ok := row.Time(attrFiredAt)
	if row.Str(attrState) != statePending || ok && n.Now().Sub(firedAt) <= redriveAfter {
		return false, nil
	}
	f, err := readDelivery(n.Registry, row)
	if err != nil {
		return false, err
	}
	r := run{engine: n.engine, target: f.target, scope: scope{f.due.offset: true}}
	if err := r.postpone(r.publish(ctx, f)); err != nil {
		return true, err
	}
	return true, r.reconcile(ctx)
}
