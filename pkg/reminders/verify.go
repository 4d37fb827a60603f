package reminders

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/schedule"
)

// The functions through which verification reads and repairs. All of them use the methods of records and calls.

// Repairer is the part of the consumer that verification needs. It carries out walks by itself, without a queue.
type Repairer struct{ engine }

// NewRepairer returns a repairer. It panics on an incomplete configuration, a mistake in the program.
func NewRepairer(c Config) *Repairer { return &Repairer{newEngine(c)} }

// SchedulePrefix begins the names of all schedules of this package.
const SchedulePrefix = namePrefix

// Has reports whether items of the type can be due.
func Has(t *entity.Type) bool { return hasReminders(t) }

// Subject is the subject of a schedule, according to its payload.
type Subject struct {
	User          string
	Type          *entity.Type
	ID            string
	OffsetMinutes int64
	Due           time.Time
}

// Name returns the name of the subject's schedule.
func (s Subject) Name() string { return ScheduleName(s.User, s.ID, s.OffsetMinutes) }

// FormerName returns the name of the subject's schedule in the form before.
func (s Subject) FormerName() string { return FormerName(s.User, s.ID, s.OffsetMinutes) }

// ReadPayload returns the subject of a schedule, or a [*PayloadError].
func ReadPayload(registry *entity.Registry, payload []byte) (Subject, error) {
	t, d, err := parseCall(registry, payload)
	if err != nil {
		return Subject{}, err
	}
	return Subject{t.user, t.typ, t.id, d.offset, d.at}, nil
}

// Wanted returns the schedules that an item requires now, according to the table: one for each offset whose next due
// instant is in the future, and the late ones, which must be delivered at once.
func (c *Repairer) Wanted(
	ctx context.Context, user string, t *entity.Type, id string,
) (schedules []schedule.Schedule, late []Subject, err error) {
	s, err := c.takeSnapshot(ctx, target{user, t, id}, nil)
	if err != nil {
		return nil, nil, err
	}
	p := decide(s, scopeOf(s.dues))
	for _, w := range p.schedules {
		schedules = append(schedules, w.schedule)
	}
	for _, f := range p.late {
		late = append(late, Subject{user, t, id, f.due.offset, f.due.at})
	}
	return schedules, late, nil
}

// InStep reports whether a found schedule is equivalent to the wanted one: for the same due instant, and called at it,
// or later by the lead time of a schedule that is nearly due.
func InStep(found, wanted schedule.Schedule, registry *entity.Registry) bool {
	s, err := ReadPayload(registry, wanted.Payload)
	if err != nil || string(found.Payload) != string(wanted.Payload) {
		return false
	}
	return !found.At.Before(s.Due) && !found.At.After(s.Due.Add(maxLead+time.Second))
}

// Reconcile does for one item and these offsets of it what a record does: it updates the schedules according to the
// table, delivers late reminders, and completes the deliveries that were begun.
func (c *Repairer) Reconcile(ctx context.Context, user string, t *entity.Type, id string, offsets ...int64) error {
	r := run{engine: c.engine, target: target{user, t, id}, scope: scope{}}
	for _, offset := range offsets {
		r.scope[offset] = true
	}
	return r.reconcile(ctx)
}

// Overdue reports whether a FIRED row is of a delivery that was begun more than 10 minutes before and never closed.
func (n *Notifier) Overdue(row item.Item) bool {
	firedAt, ok := row.Time(attrFiredAt)
	return row.Str(attrState) == statePending && (!ok || n.Now().Sub(firedAt) > redriveAfter)
}

// Stalled reports whether a cursor, a ZONE or SERIES row, is of a walk that has not moved for 10 minutes and did not
// end, or ended without an item that could not be reconciled.
func (c *Repairer) Stalled(row item.Item) bool {
	moved := time.Unix(row.Int(entity.AttrTTL), 0).Add(-deliveryRetention)
	return (!row.Bool(attrDone) || row.Bool(attrFailed)) && c.Now().Sub(moved) > redriveAfter
}

// ErrCursor says that the row is no cursor of a walk.
var ErrCursor = errors.New("no cursor")

// Resume continues the walk of a cursor, as a call of the walker does. [ErrUnfinished] requires another call.
func (c *Repairer) Resume(ctx context.Context, row item.Item) error {
	user, err := entity.ParseUserPK(row.Str(item.AttrPK))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCursor, err)
	}
	w, err := c.walkOf(user, row.Str(item.AttrSK))
	if err != nil {
		return err
	}
	return c.walk(ctx, w)
}

// Unschedule removes a schedule whose payload names no item, or another than its name.
func (c *Repairer) Unschedule(ctx context.Context, name string) error {
	return c.Scheduler.Delete(ctx, name)
}
