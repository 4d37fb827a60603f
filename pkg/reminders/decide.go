package reminders

import (
	"slices"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/schedule"
)

const (
	// maxLead is the longest [Config.Lead], and that of EventBridge Scheduler.
	maxLead = 60 * time.Second
	// lateLimit is the delay up to which a reminder is still delivered.
	lateLimit = 24 * time.Hour
	// deliveryRetention is how long a delivery's row stays. Without it, an older due instant cannot be distinguished from
	// a delivered one.
	deliveryRetention = 30 * 24 * time.Hour
)

// plan lists the actions of a run for some offsets of an item, in the order of its fields.
type plan struct {
	pending   []item.Item // rows of deliveries to be published again, and marked as sent
	late      []delivery  // to be claimed, published and marked as sent; the user's preferences are added later
	schedules []wanted    // to be put
	deletions []int64     // offsets whose schedules are to be deleted
	missed    []due       // to be reported
}

// wanted is one schedule and its due instant.
type wanted struct {
	due      due
	schedule schedule.Schedule
}

// decide returns the plan for the offsets. It is a pure function: the snapshot contains the instant.
func decide(s snapshot, offsets scope) plan {
	p := plan{pending: s.pendingDeliveries(offsets)}
	for _, offset := range offsets.sorted() {
		var next *due
		for _, d := range s.dues {
			if d.offset != offset {
				continue
			}
			switch s.classify(d) {
			case toCome:
				if next == nil || d.at.Before(next.at) {
					next = &d
				}
			case late:
				p.late = append(p.late, s.deliveryOf(d))
			case missed:
				p.missed = append(p.missed, d)
			}
		}
		if next == nil {
			p.deletions = append(p.deletions, offset)
			continue
		}
		p.schedules = append(p.schedules, wanted{*next, scheduleOf(s.target, *next, s.now.Add(s.lead))})
	}
	return p
}

func (s snapshot) pendingDeliveries(offsets scope) []item.Item {
	var pending []item.Item
	for _, row := range s.deliveries {
		if row.Str(attrState) == statePending && offsets[row.Int(attrOffsetMinutes)] {
			pending = append(pending, row)
		}
	}
	slices.SortFunc(pending, func(a, b item.Item) int { return a.Key().Compare(b.Key()) })
	return pending
}

// dueState is the state of a due instant.
type dueState int

const (
	toCome dueState = iota
	late            // past, requested, and not delivered yet
	missed          // past for too long, and not delivered
	closed          // has a delivery, was delivered otherwise, or was past when it was requested
)

// classify applies the late rule of docs/correctness.md. The rule depends on three things only: the clock, the instant
// and the time of its request in the rows, and whether its delivery exists.
func (s snapshot) classify(d due) dueState {
	switch {
	case s.hasDelivery(d), !d.snooze && wasFired(s.item, d):
		return closed
	case d.at.After(s.now):
		return toCome
	case d.at.Before(d.requestedAt):
		return closed
	case s.now.Sub(d.at) <= lateLimit:
		return late
	case s.now.Sub(d.at) <= deliveryRetention:
		return missed
	}
	return closed
}

// wasFired reports whether a trigger is done: it is over, or not later than the last delivery. A snoozed reminder
// whose snooze was delivered does not fire its trigger as well.
func wasFired(it item.Item, d due) bool {
	if product.TriggerDone(it) {
		return true // in any zone: a floating one may be in the future there
	}
	last, ok := it.Time(product.AttrLastFiredUtc)
	return ok && !d.at.After(last)
}

// deliveryOf returns the delivery of a late due instant: all values of its event except the preferences.
func (s snapshot) deliveryOf(d due) delivery {
	key := d.deliveryKey(s.target)
	return delivery{
		target: s.target, due: d, version: version(s.item), deliveryID: digest(key.PK, key.SK), title: s.title(d),
		firedAt: s.now.UTC().Truncate(time.Second),
	}
}

// title returns the title in the event: for a series' occurrence its own title, if it has one.
func (s snapshot) title(d due) string {
	row, master := s.item, s.master
	if s.target.typ.Name == entity.TypeMaster {
		row, master = s.instanceOn(d.date), s.item
	}
	if master == nil {
		return s.item.Str(entity.AttrTitle)
	}
	if row.Has(entity.AttrTitle) { // an exception has only its own
		return row.Str(entity.AttrTitle)
	}
	return master.Str(entity.AttrTitle)
}

// scheduleOf returns the schedule of a due instant, which is at that instant, or at the earliest one.
func scheduleOf(t target, d due, earliest time.Time) schedule.Schedule {
	at := d.at
	if whole := wholeSecond(earliest); at.Before(whole) {
		at = whole
	}
	return schedule.Schedule{Name: ScheduleName(t.user, t.id, d.offset), At: at.UTC(), Payload: newCall(t, d).encode()}
}

// wholeSecond rounds up: a schedule counts whole seconds and may not be early.
func wholeSecond(t time.Time) time.Time {
	if whole := t.Truncate(time.Second); !whole.Equal(t) {
		return whole.Add(time.Second)
	}
	return t
}
