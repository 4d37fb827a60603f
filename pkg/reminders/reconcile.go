package reminders

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/mask"
)

// maxRounds bounds how often one piece of work reads again because something changed. An item that changes faster is
// left to the repetition.
const maxRounds = 8

// Errors on which the caller's outcome depends. They are matched with errors.Is.
var (
	// ErrUnstable says that the item or the user's zone changed in every round; try again.
	ErrUnstable = errors.New("kept changing")
	// errDamaged says that a row is not as this product writes it; trying again cannot help.
	errDamaged = errors.New("damaged row")
)

// run is one piece of work on one item. It updates the schedules of its scope according to the item, and completes the
// deliveries that it begins or finds begun.
type run struct {
	engine
	target    target
	scope     scope
	published []delivery // published in this run, not yet closed
	refused   error      // the present round's first hopeless error of a delivery or a schedule
}

// reconcile takes a snapshot, acts, and repeats until nothing changed in between; then it closes the deliveries. An
// error leaves everything to the repetition, except the hopeless error of a delivery or a schedule, which reconcile
// returns last.
func (r *run) reconcile(ctx context.Context) error {
	for range maxRounds {
		stable, err := r.reconcileOnce(ctx)
		if err != nil {
			return err
		}
		if stable {
			return cmp.Or(r.markAllSent(ctx), r.refused)
		}
	}
	return fmt.Errorf("settle %s: %w", r.target.key(), ErrUnstable)
}

// reconcileOnce reports whether the rows that it acted on were unchanged when it was done. The order matters: it
// publishes an event before the schedules move on, and the schedules are right before it closes a delivery. So a crash
// at any point leaves a pending delivery, which the repetition finds.
//
// The scheduler may never call a schedule that it gets after its instant. So a round whose schedules have come by its
// end is not stable: the next one finds them late and delivers them.
//
// A delivery that is refused for good stays pending, and a schedule that is refused for good stays as it was. The other
// schedules move on all the same: see [run.postpone].
func (r *run) reconcileOnce(ctx context.Context) (stable bool, err error) {
	r.refused = nil
	seen, err := r.takeSnapshot(ctx, r.target, r.scope)
	if err != nil {
		return false, err
	}
	p := decide(seen, r.scope)
	for _, row := range p.pending {
		if err := r.postpone(r.publishPending(ctx, row)); err != nil {
			return false, err
		}
	}
	for _, f := range p.late {
		f, ok, err := r.claim(ctx, seen, f)
		if err == nil && !ok {
			return false, nil
		}
		if err == nil {
			seen.deliveries[f.place()] = f.row()
			err = r.publish(ctx, f)
		}
		if err := r.postpone(err); err != nil {
			return false, err
		}
	}
	if err := r.arrange(ctx, p); err != nil {
		return false, err
	}
	again, err := r.retakeSnapshot(ctx, seen, r.scope)
	if err != nil || !seen.same(again) || p.isOvertaken(r.Now()) {
		return false, err
	}
	r.reportMissed(ctx, seen, p.missed)
	return true, nil
}

// postpone keeps the hopeless error of one delivery or schedule until the item is reconciled, and returns nil. It
// returns every other error.
func (r *run) postpone(err error) error {
	if !isHopeless(err) {
		return err
	}
	r.refused = cmp.Or(r.refused, err)
	return nil
}

// isOvertaken reports whether the instant of a schedule has come.
func (p plan) isOvertaken(now time.Time) bool {
	return slices.ContainsFunc(p.schedules, func(w wanted) bool { return !w.schedule.At.After(now) })
}

// arrange writes and deletes the plan's schedules. Of each offset it also deletes the schedule under its former name,
// after the present one is written: a crash between the two leaves both, and the call of the former finds the delivery,
// or nothing due.
func (r *run) arrange(ctx context.Context, p plan) error {
	for _, w := range p.schedules {
		if err := r.Scheduler.Put(ctx, w.schedule); err == nil {
			r.observe(Scheduled, r.target, w.due)
		} else if err := r.postpone(
			fmt.Errorf("put schedule of %s, offset %d: %w", r.target.key(), w.due.offset, err),
		); err != nil {
			return err
		}
	}
	for _, offset := range p.deletions {
		if err := r.unschedule(ctx, offset, ScheduleName); err != nil {
			return err
		}
		r.observe(Deleted, r.target, due{offset: offset})
	}
	for _, offset := range p.offsets() {
		if err := r.unschedule(ctx, offset, FormerName); err != nil {
			return err
		}
	}
	return nil
}

// unschedule deletes the schedule of an offset under the name of one form.
func (r *run) unschedule(ctx context.Context, offset int64, nameOf func(user, id string, offset int64) string) error {
	if err := r.Scheduler.Delete(ctx, nameOf(r.target.user, r.target.id, offset)); err != nil {
		return fmt.Errorf("delete schedule of %s, offset %d: %w", r.target.key(), offset, err)
	}
	return nil
}

// offsets returns all offsets whose schedules the plan writes or deletes.
func (p plan) offsets() []int64 {
	offsets := slices.Clone(p.deletions)
	for _, w := range p.schedules {
		offsets = append(offsets, w.due.offset)
	}
	return offsets
}

func (r *run) reportMissed(ctx context.Context, seen snapshot, missed []due) {
	for _, d := range missed {
		r.logOutcome(ctx, slog.LevelWarn, "reminder missed", d, version(seen.item))
		r.observe(Missed, r.target, d)
	}
}

// logOutcome logs the outcome of one due instant of the item at this version, under the trace id of the write that
// made it.
func (r *run) logOutcome(ctx context.Context, level slog.Level, what string, d due, version int64, more ...slog.Attr) {
	if !r.Log.Enabled(ctx, level) {
		return
	}
	attrs := append([]slog.Attr{
		mask.User(r.target.user), slog.String("item", r.target.id),
		slog.Int64("offsetMinutes", d.offset), slog.Time("due", d.at),
	}, more...)
	if version > 0 {
		attrs = append(attrs, slog.String("traceId", entity.TraceID(r.target.user, r.target.id, version)))
	}
	r.Log.LogAttrs(ctx, level, what, attrs...)
}
