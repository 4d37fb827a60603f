package reminders

import (
	"fmt"
	"time"

	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/recurrence"
)

// maxAhead bounds how many delivered triggers the search for the next skips: as many as fit into the difference of two
// clocks.
const maxAhead = 64

// triggers are the occurrences of a recurring reminder from its trigger on: earlier ones are over. The trigger itself
// is over if it is the last and done.
type triggers struct {
	all      *recurrence.Series // in instants of the zone
	from     time.Time          // the trigger, as it is stored
	floating bool
	isDone   bool
	zone     *time.Location
}

func triggersOf(it item.Item, zone *time.Location) (triggers, error) {
	all, err := product.CompileReminder(it)
	if err != nil {
		return triggers{}, fmt.Errorf("%w: %s: %w", errDamaged, it.Key(), err)
	}
	from, _ := it.Time(product.AttrTriggerUtc)
	return triggers{all.In(zone), from, !it.Has(product.AttrTzid), product.TriggerDone(it), zone}, nil
}

// stored returns the occurrence in the stored form of a trigger.
func (t triggers) stored(o recurrence.Occurrence) time.Time {
	if t.floating {
		return o.Wall
	}
	return o.Start
}

// has reports whether the occurrence is not over.
func (t triggers) has(o recurrence.Occurrence) bool {
	at := t.stored(o)
	return at.After(t.from) || at.Equal(t.from) && !t.isDone
}

// at returns the occurrence that starts at the instant and is not over.
func (t triggers) at(instant time.Time) (recurrence.Occurrence, bool) {
	o, ok := t.all.Next(instant.Add(-time.Second))
	return o, ok && o.Start.Equal(instant) && t.has(o)
}

// next returns the first future occurrence that is not over and that keep accepts.
func (t triggers) next(now time.Time, keep func(recurrence.Occurrence) bool) (recurrence.Occurrence, bool) {
	after := t.from
	if t.floating {
		after = item.Resolve(after, t.zone)
	}
	if after = after.Add(-time.Second); after.Before(now) {
		after = now
	}
	o, ok := t.all.Next(after)
	for range maxAhead {
		if !ok || t.has(o) && keep(o) {
			return o, ok
		}
		o, ok = t.all.Next(o.Start)
	}
	return o, ok
}

// triggerDues returns those of a recurring reminder: the occurrences from its trigger on that were due within the
// retention of deliveries, the next one to come, and the snooze.
func (s snapshot) triggerDues(hasDelivery func(due) bool) ([]due, error) {
	var dues []due
	isAlive := false
	for _, d := range s.itemDues() {
		isAlive = true
		if d.snooze {
			dues = append(dues, d)
		}
	}
	if !isAlive {
		return nil, nil
	}
	t, err := triggersOf(s.item, s.zone)
	if err != nil {
		return nil, err
	}
	dueOf := func(o recurrence.Occurrence) due {
		return newDue(0, o.Start, o.Start, s.requestedAt(itemRequestedAt(s.item), t.floating))
	}
	for _, o := range t.all.Between(nil, s.now.Add(-deliveryRetention), s.now.Add(time.Second)) {
		if d := dueOf(o); t.has(o) && !d.at.After(s.now) && !d.at.Before(d.requestedAt) {
			dues = append(dues, d)
		}
	}
	next, ok := t.next(s.now, func(o recurrence.Occurrence) bool {
		d := dueOf(o)
		return !wasFired(s.item, d) && !hasDelivery(d)
	})
	if ok {
		dues = append(dues, dueOf(next))
	}
	return dues, nil
}
