package reminders

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// markAllSent marks the published deliveries as sent.
func (r *run) markAllSent(ctx context.Context) error {
	for _, f := range r.published {
		if err := r.markSent(ctx, f); err != nil {
			return fmt.Errorf("mark delivery %s sent: %w", f.place(), err)
		}
	}
	return nil
}

// markSent marks the delivery as sent. The same transaction records the delivery on the item, as far as the present
// item still concerns it.
func (r *run) markSent(ctx context.Context, f delivery) error {
	sent := table.Update{
		Key: f.place(), Set: item.Item{attrState: item.String(stateSent)},
		If: table.Exists(table.Equal(attrState, item.String(statePending)), table.Missing(entity.AttrForm)),
	}
	for range maxRounds {
		before, after, err := r.markDelivered(ctx, f)
		if err != nil {
			return err
		}
		if after != nil {
			err = r.Store.Transact(ctx, sent, table.Diff(before, after, table.AtVersion(version(before))))
		} else {
			_, err = r.Store.Update(ctx, sent)
		}
		if err == nil {
			r.logOutcome(ctx, slog.LevelInfo, "reminder delivered", f.due, f.version, slog.String("deliveryId", f.deliveryID))
			r.observe(Delivered, f.target, f.due)
			return nil
		}
		var failed *table.ConditionError
		if !errors.As(err, &failed) {
			return err
		}
		if failure, changed := failed.At(0); changed { // another worker closed it, unless a later release wrote it
			return entity.CheckForm(failure.Old, entity.AttrForm)
		}
	}
	return ErrUnstable
}

// markDelivered returns the present item, and the item after the delivery; nil if the delivery does not change it. It
// changes only a type with lastFiredUtc, and only if the item still announces the delivered occurrence. Then
//
//   - lastFiredUtc covers the due instant and the occurrence, which is later if a snooze ended before it;
//   - the delivered snooze is over, and one to another instant stays;
//   - the trigger of a recurring reminder moves past the occurrence, and that of a one-time reminder is over.
//
// A snooze that its user has ended since has no effect: the rule may have its occurrence, in the future, for a trigger
// that was set since.
func (r *run) markDelivered(ctx context.Context, f delivery) (before, after item.Item, err error) {
	if !r.keeps(product.AttrLastFiredUtc) {
		return nil, nil, nil
	}
	seen, err := r.readRows(ctx, r.target)
	if err != nil || seen.item == nil {
		return nil, nil, err
	}
	announces := false
	after = seen.item.Clone()
	for _, d := range seen.itemDues() {
		if d.offset != f.due.offset || !d.occurrence.Equal(f.due.occurrence) || f.endsSnooze() && !d.snooze {
			continue
		}
		announces = true
		if d.snooze && d.at.Equal(f.due.at) {
			after.Set(product.AttrSnoozeState, nil)
			after[entity.AttrStatus] = item.String(product.StatusPending)
		}
	}
	if !announces && f.endsSnooze() {
		return nil, nil, nil
	}
	passes, err := seen.passTrigger(after, f)
	if err != nil || !announces && !passes {
		return nil, nil, err
	}
	r.setFired(after, f)
	if r.keeps(product.AttrDoneTriggerUtc) && !isRecurring(r.target.typ, after) {
		after[product.AttrDoneTriggerUtc] = after[product.AttrTriggerUtc] // there is a trigger, and this was it
	}
	if after.Equal(seen.item) {
		return nil, nil, nil
	}
	return seen.item, r.target.typ.NextVersion(entity.BySystem, r.target.user, seen.item, after, seen.now, nil), nil
}

func (r *run) keeps(attr string) bool {
	_, keeps := r.target.typ.Field(attr)
	return keeps
}

// passTrigger moves a recurring reminder past the delivered occurrence, if that is not over.
func (s snapshot) passTrigger(after item.Item, f delivery) (bool, error) {
	if !isRecurring(s.target.typ, s.item) || len(s.target.typ.Dues(s.item)) == 0 {
		return false, nil
	}
	t, err := triggersOf(s.item, s.zone)
	if err != nil {
		return false, err
	}
	o, ok := t.at(f.due.occurrence)
	if !ok {
		return false, nil
	}
	if _, err := product.PassTrigger(after, t.stored(o)); err != nil {
		return false, fmt.Errorf("%w: %w", errDamaged, err)
	}
	return true, nil
}

// setFired records which occurrence was delivered, and until when the trigger is done. It never goes back: an old
// delivery that is completed late must not reopen a newer one. Of two that are done at one instant the later
// occurrence counts as delivered last.
func (r *run) setFired(it item.Item, f delivery) {
	done := f.due.at
	if f.due.occurrence.After(done) {
		done = f.due.occurrence
	}
	last, _ := it.Time(product.AttrLastFiredUtc)
	rang, _ := it.Time(product.AttrFiredOccurrenceUtc)
	if done.Before(last) || done.Equal(last) && f.due.occurrence.Before(rang) {
		return
	}
	it.SetTime(product.AttrLastFiredUtc, done)
	if r.keeps(product.AttrFiredOccurrenceUtc) {
		it.SetTime(product.AttrFiredOccurrenceUtc, f.due.occurrence)
	}
}
