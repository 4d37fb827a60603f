package reminders

import (
	"fmt"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

const (
	// lateLimit is how long after its instant a reminder is still worth delivering.
	lateLimit = 24 * time.Hour
	// lateAfter tells a reminder that was late from one that was merely delivered with the scheduler's precision of 60 s.
	lateAfter = 2 * time.Minute
	// deliveryRetention is how long a delivery is kept. What was due longer ago cannot be told from what was delivered.
	deliveryRetention = 30 * 24 * time.Hour
)

// due is one instant at which an item is to be announced, as a real instant.
type due struct {
	offset int64
	// occurrence names what is announced; it is part of the delivery's key. Of a series' occurrence it is the recurrence
	// id, which stays the same wherever the occurrence moves, and in every zone.
	occurrence time.Time
	start      time.Time // when what is announced takes place now
	at         time.Time // the instant of the reminder, the offset taken off
	// requestedAt is when somebody last asked for it: by a command, or, for a floating time, by moving to another zone.
	requestedAt time.Time
	snooze      bool
	date        string // YYYYMMDD, of a series' occurrence
}

func (d due) deliveryKey(t target) item.Key {
	return entity.DeliveryKey(t.user, t.id, d.offset, d.occurrence, d.at)
}

// newDue is due an offset before the start.
func newDue(offset int64, occurrence, start, asked time.Time) due {
	return due{
		offset: offset, occurrence: occurrence, start: start, at: start.Add(-time.Duration(offset) * time.Minute),
		requestedAt: asked,
	}
}

// itemDues turns the dues of an item into instants.
func itemDues(dues []entity.Due, r rows) []due {
	var out []due
	for _, d := range dues {
		occurrence, at := d.Occurrence, d.At
		if d.Floating {
			occurrence, at = item.Resolve(occurrence, r.zone), item.Resolve(at, r.zone)
		}
		resolved := newDue(d.OffsetMinutes, occurrence, at, r.requestedAt(itemRequestedAt(r.item), d.Floating))
		resolved.start, resolved.snooze = occurrence, d.Snooze
		out = append(out, resolved)
	}
	return out
}

// itemRequestedAt is when a command last asked for the item's dues. An item without dueSetAt counts as asked for when
// it was last updated, so that nothing past is announced by mistake.
func itemRequestedAt(it item.Item) time.Time {
	asked, ok := it.Time(product.AttrDueSetAt)
	if !ok {
		asked, _ = it.Time(entity.AttrUpdatedAt)
	}
	return asked
}

// zoneOf returns the zone in which the user's floating times are read.
func zoneOf(meta item.Item) (*time.Location, error) {
	zone, err := entity.LoadZone(meta.Str(product.AttrDefaultTzid))
	if err != nil {
		return nil, fmt.Errorf("%w: zone of %s: %w", errDamaged, meta.Key(), err)
	}
	return zone, nil
}

// dueState is what becomes of a due instant.
type dueState int

const (
	toCome dueState = iota
	late            // past, wanted, and not delivered yet
	missed          // past for too long, and not delivered
	closed          // has a delivery, was delivered in another way, or past when it was asked for
)

// classify applies the late rule of docs/correctness.md. The rule stands on three things only: the clock, what the rows
// say about the instant and when it was asked for, and whether its delivery exists.
func classify(d due, it item.Item, hasDelivery bool, now time.Time) dueState {
	switch {
	case hasDelivery, !d.snooze && wasFired(it, d):
		return closed
	case d.at.After(now):
		return toCome
	case d.at.Before(d.requestedAt):
		return closed
	case now.Sub(d.at) <= lateLimit:
		return late
	case now.Sub(d.at) <= deliveryRetention:
		return missed
	}
	return closed
}

// wasFired says that a trigger is done: it is over, or not later than the last delivery. A reminder that was snoozed
// and delivered by the snooze does not fire its trigger as well.
func wasFired(it item.Item, d due) bool {
	if product.TriggerDone(it) {
		return true // wherever its user is: a floating one may be to come there
	}
	last, ok := it.Time(product.AttrLastFiredUtc)
	return ok && !d.at.After(last)
}
