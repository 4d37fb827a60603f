package reminders

import (
	"fmt"
	"time"

	"nexus/pkg/entity"
)

const (
	// lateLimit is how long after its instant a reminder is still worth delivering.
	lateLimit = 24 * time.Hour
	// lateAfter tells a reminder that was late from one that was merely delivered with the scheduler's precision of 60 s.
	lateAfter = 2 * time.Minute
	// fenceLife is how long a fence is kept. What was due longer ago cannot be told from what was delivered.
	fenceLife = 30 * 24 * time.Hour
)

// due is one instant at which an item is to be announced, as a real instant.
type due struct {
	offset         int64
	occurrence, at time.Time // at is the instant of the reminder, the offset taken off
	floating       bool
	snooze         bool
}

func (d due) fenceKey(t target) entity.Key {
	return entity.FiredKey(t.user, t.id, d.offset, d.occurrence, d.at)
}

// resolve turns the dues of an item into instants; zone is the user's, and is needed only where one floats.
func resolve(dues []entity.Due, zone *time.Location) []due {
	var out []due
	for _, d := range dues {
		occurrence, at := d.Occurrence, d.At
		if d.Floating {
			occurrence, at = entity.Resolve(occurrence, zone), entity.Resolve(at, zone)
		}
		at = at.Add(-time.Duration(d.OffsetMinutes) * time.Minute)
		out = append(out, due{d.OffsetMinutes, occurrence, at, d.Floating, d.Snooze})
	}
	return out
}

func anyFloating(dues []entity.Due) bool {
	for _, d := range dues {
		if d.Floating {
			return true
		}
	}
	return false
}

// zoneOf returns the zone in which the user's floating times are read.
func zoneOf(meta entity.Item) (*time.Location, error) {
	zone, err := entity.LoadZone(meta.Str(entity.AttrDefaultTzid))
	if err != nil {
		return nil, fmt.Errorf("%w: zone of %s: %w", errDamaged, meta.Key(), err)
	}
	return zone, nil
}

// verdict is what becomes of a due instant.
type verdict int

const (
	toCome verdict = iota
	late           // past, wanted, and not delivered yet
	missed         // past for too long, and not delivered
	closed         // fenced, delivered in another way, or past when it was asked for
)

// judge applies the late rule of docs/correctness.md. The rule stands on three things only: the clock, what the item and
// USER_META say about when the instant was asked for, and whether its fence exists.
func judge(d due, item, meta entity.Item, fenced bool, now time.Time) verdict {
	switch {
	case fenced, !d.snooze && wasFired(item, d):
		return closed
	case d.at.After(now):
		return toCome
	case !askedInTime(d, item, meta):
		return closed
	case now.Sub(d.at) <= lateLimit:
		return late
	case now.Sub(d.at) <= fenceLife:
		return missed
	}
	return closed
}

// wasFired says that a trigger not later than the last delivery is done: a reminder that was snoozed and delivered by
// the snooze does not fire its trigger as well.
func wasFired(item entity.Item, d due) bool {
	last, ok := item.Time(entity.AttrLastFiredUtc)
	return ok && !d.at.After(last)
}

// askedInTime says that the instant had not passed when somebody last asked for it: by a command on the item, or, for a
// floating time, by moving to another zone. An item without dueSetAt counts as asked for when it was last updated, so that
// nothing past is announced by mistake.
func askedInTime(d due, item, meta entity.Item) bool {
	asked, ok := item.Time(entity.AttrDueSetAt)
	if !ok {
		asked, _ = item.Time(entity.AttrUpdatedAt)
	}
	if d.at.Before(asked) {
		return false
	}
	moved, ok := meta.Time(entity.AttrZoneSetAt)
	return !d.floating || !ok || !d.at.Before(moved)
}
