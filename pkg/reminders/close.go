package reminders

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/table"
)

// closeFences marks what was published as sent.
func (r *run) closeFences(ctx context.Context) error {
	for _, f := range r.driven {
		if err := r.closeFence(ctx, f); err != nil {
			return fmt.Errorf("close fence %s: %w", f.place(), err)
		}
	}
	return nil
}

// closeFence marks the fence as sent, and in the same transaction the delivery on the item, as far as the item as it is
// now still has to do with it.
func (r *run) closeFence(ctx context.Context, f fence) error {
	for range maxRounds {
		s, err := r.lookAtItem(ctx, r.target)
		if err != nil {
			return err
		}
		sent := table.Update{
			Key: f.place(), Set: entity.Item{attrState: entity.String(stateSent)},
			If: table.Exists(table.Equal(attrState, entity.String(statePending))),
		}
		if after, changed := markDelivered(s, f, r.Now()); changed {
			err = r.Store.Transact(ctx, sent, table.Change(s.item, after, table.AtVersion(version(s.item))))
		} else {
			_, err = r.Store.Update(ctx, sent)
		}
		if err == nil {
			r.observe(f.observation(Delivered))
			return nil
		}
		var failed *table.ConditionError
		if !errors.As(err, &failed) {
			return err
		}
		if _, closed := failed.At(0); closed {
			return nil // somebody else saw the same delivery through
		}
	}
	return ErrRestless
}

// markDelivered returns the item as a delivery leaves it. Only a type that keeps lastFiredUtc is touched, and only if it
// still announces the delivered occurrence: lastFiredUtc covers the due instant and the occurrence, which a snooze may end
// before, and the snooze that was delivered is over. A snooze to another instant stays.
func markDelivered(s snapshot, f fence, now time.Time) (entity.Item, bool) {
	if _, keeps := s.typ.Field(entity.AttrLastFiredUtc); !keeps || s.item == nil {
		return nil, false
	}
	for _, d := range s.dues {
		if d.offset != f.offset || !d.occurrence.Equal(f.occurrence) {
			continue
		}
		after := s.item.Clone()
		after.SetTime(entity.AttrLastFiredUtc, latest(s.item, f.at, f.occurrence))
		if d.snooze && d.at.Equal(f.at) {
			after.Set(entity.AttrSnoozeState, nil)
			after[entity.AttrStatus] = entity.String(entity.StatusPending)
		}
		if after.Equal(s.item) {
			return nil, false
		}
		return s.typ.Next(s.user, s.item, after, now, nil), true
	}
	return nil, false
}

// latest never goes back: an old delivery that is seen through late must not open a newer one again.
func latest(item entity.Item, instants ...time.Time) time.Time {
	last, _ := item.Time(entity.AttrLastFiredUtc)
	for _, t := range instants {
		if t.After(last) {
			last = t
		}
	}
	return last
}
