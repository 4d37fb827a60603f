package reminders

import (
	"fmt"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/wallclock"
)

// due is one instant at which an item must be announced, as a real instant.
type due struct {
	offset int64
	// occurrence identifies what is announced; it is part of the delivery's key. For a series' occurrence it is the
	// recurrence id, which stays the same after a move, and in every zone.
	occurrence time.Time
	start      time.Time // the present start of the announced occurrence
	at         time.Time // the instant of the reminder: the start less the offset
	// requestedAt is the time of its last request: by a command or, for a floating time, by a move to another zone.
	requestedAt time.Time
	snooze      bool
	date        string // YYYYMMDD, of a series' occurrence
}

// computeDues returns the dues that decide about the offsets, possibly with others.
func (s snapshot) computeDues(offsets scope, hasDelivery func(due) bool) ([]due, error) {
	switch {
	case s.item == nil:
		return nil, nil
	case s.target.typ.Name == entity.TypeMaster:
		return s.seriesDues(offsets, hasDelivery)
	case s.target.typ.Name == entity.TypeInstance:
		return s.exceptionDues()
	case isRecurring(s.target.typ, s.item):
		return s.triggerDues(hasDelivery)
	}
	return s.itemDues(), nil
}

// isRecurring reports whether the item is a reminder whose trigger moves on.
func isRecurring(t *entity.Type, it item.Item) bool {
	return t.Name == product.TypeReminder && it.Has(product.AttrRRule)
}

// itemDues converts the dues of an item to instants.
func (s snapshot) itemDues() []due {
	var out []due
	for _, d := range s.target.typ.Dues(s.item) {
		occurrence, at := d.Occurrence, d.At
		if d.Floating {
			occurrence, at = item.Resolve(occurrence, s.zone), item.Resolve(at, s.zone)
		}
		resolved := newDue(d.OffsetMinutes, occurrence, at, s.requestedAt(itemRequestedAt(s.item), d.Floating))
		resolved.start, resolved.snooze = occurrence, d.Snooze
		out = append(out, resolved)
	}
	return out
}

// newDue returns the due an offset before the start.
func newDue(offset int64, occurrence, start, asked time.Time) due {
	return due{
		offset: offset, occurrence: occurrence, start: start, at: start.Add(-time.Duration(offset) * time.Minute),
		requestedAt: asked,
	}
}

func (d due) deliveryKey(t target) item.Key {
	return entity.DeliveryKey(t.user, t.id, d.offset, d.occurrence, d.at)
}

// itemRequestedAt returns when a command last requested the item's dues. An item without dueSetAt counts as requested
// when it was last updated, so that nothing past is announced by mistake.
func itemRequestedAt(it item.Item) time.Time {
	asked, ok := it.Time(product.AttrDueSetAt)
	if !ok {
		asked, _ = it.Time(entity.AttrUpdatedAt)
	}
	return asked
}

// requestedAt returns the later of a command's request and, for a floating time, the move to the present zone.
func (s snapshot) requestedAt(by time.Time, floating bool) time.Time {
	if moved, ok := s.meta.Time(product.AttrZoneSetAt); ok && floating && moved.After(by) {
		return moved
	}
	return by
}

// zoneOf returns the zone in which the user's floating times are read.
func zoneOf(meta item.Item) (*time.Location, error) {
	zone, err := wallclock.LoadLocation(meta.Str(product.AttrDefaultTzid))
	if err != nil {
		return nil, fmt.Errorf("%w: zone of %s: %w", errDamaged, meta.Key(), err)
	}
	return zone, nil
}
