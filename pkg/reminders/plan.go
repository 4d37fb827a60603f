package reminders

import (
	"slices"
	"time"

	"nexus/pkg/item"
	"nexus/pkg/schedule"
)

// leadTime is the least time between now and a schedule's instant: the scheduler may not call one that is past when it
// arrives.
const leadTime = 60 * time.Second

// plan is what is to be done about some offsets of an item. It is computed from a snapshot alone.
type plan struct {
	schedules []wanted
	deletions []int64     // offsets that want no schedule
	late      []due       // to be delivered at once
	pending   []item.Item // rows of deliveries that were begun and not closed
	missed    []due
}

// wanted is one schedule and the due instant it is for.
type wanted struct {
	due
	schedule.Schedule
}

// decide returns the plan for the offsets.
func decide(s snapshot, offsets scope, now time.Time) plan {
	p := plan{pending: pendingDeliveries(s, offsets)}
	for _, offset := range offsets.sorted() {
		var next *due
		for _, d := range s.dues {
			if d.offset != offset {
				continue
			}
			switch classify(d, s.item, s.hasDelivery(d), now) {
			case toCome:
				if next == nil || d.at.Before(next.at) {
					next = &d
				}
			case late:
				p.late = append(p.late, d)
			case missed:
				p.missed = append(p.missed, d)
			}
		}
		if next == nil {
			p.deletions = append(p.deletions, offset)
			continue
		}
		p.schedules = append(p.schedules, wanted{*next, scheduleOf(s.target, *next, now)})
	}
	return p
}

func pendingDeliveries(s snapshot, offsets scope) []item.Item {
	var pending []item.Item
	for _, row := range s.deliveries {
		if row.Str(attrState) == statePending && offsets[row.Int(attrOffsetMinutes)] {
			pending = append(pending, row)
		}
	}
	slices.SortFunc(pending, func(a, b item.Item) int { return a.Key().Compare(b.Key()) })
	return pending
}

func scheduleOf(t target, d due, now time.Time) schedule.Schedule {
	at := d.at
	if earliest := wholeSecond(now.Add(leadTime)); at.Before(earliest) {
		at = earliest
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
