package reminders

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"nexus/pkg/entity"
	"nexus/pkg/item"
)

// maxRounds bounds how often one piece of work looks again because something changed. An item that changes faster than
// this is left to the repetition.
const maxRounds = 8

// Errors on which the caller's outcome depends. They are matched with errors.Is.
var (
	// ErrRestless: the item or the user's zone kept changing while it was looked at; try again.
	ErrRestless = errors.New("kept changing")
	// errDamaged: a row is not as this product writes it; trying again cannot help.
	errDamaged = errors.New("damaged row")
)

// run is one piece of work on one item: bringing the schedules of its scope in agreement with the item, and seeing the
// deliveries through that it begins or finds begun.
type run struct {
	engine
	target
	scope  scope
	driven []fence // published in this run, not yet closed
}

// settle looks, acts, and looks again until nothing changed in between; then it closes the fences. An error leaves
// everything to the repetition.
func (r *run) settle(ctx context.Context) error {
	for range maxRounds {
		stable, err := r.round(ctx)
		if err != nil {
			return err
		}
		if stable {
			return r.closeFences(ctx)
		}
	}
	return fmt.Errorf("settle %s: %w", r.key(), ErrRestless)
}

// round reports whether what it acted on still stood when it was done. The order matters: an event is published before
// the schedules move on, and the schedules are right before a fence is closed, so that a crash anywhere leaves a
// pending fence, which the repetition finds.
func (r *run) round(ctx context.Context) (stable bool, err error) {
	seen, err := r.look(ctx, r.target, r.scope)
	if err != nil {
		return false, err
	}
	p := decide(seen, r.scope, r.Now())
	for _, row := range p.pending {
		if err := r.resume(ctx, row); err != nil {
			return false, err
		}
	}
	for _, d := range p.late {
		f, ok, err := r.raise(ctx, seen, d)
		if err != nil || !ok {
			return false, err
		}
		if err := r.drive(ctx, f); err != nil {
			return false, err
		}
		seen.fences[f.place()] = f.row()
	}
	if err := r.arrange(ctx, p); err != nil {
		return false, err
	}
	again, err := r.lookAgain(ctx, seen, r.scope)
	if err != nil || !seen.same(again) {
		return false, err
	}
	r.reportMissed(ctx, seen, p.missed)
	return true, nil
}

// arrange writes and deletes the plan's schedules.
func (r *run) arrange(ctx context.Context, p plan) error {
	for _, w := range p.schedules {
		if err := r.Scheduler.Put(ctx, w.Schedule); err != nil {
			return fmt.Errorf("put schedule of %s, offset %d: %w", r.key(), w.offset, err)
		}
		r.observe(r.observation(Scheduled, w.due))
	}
	for _, offset := range p.deletions {
		if err := r.Scheduler.Delete(ctx, ScheduleName(r.user, r.id, offset)); err != nil {
			return fmt.Errorf("delete schedule of %s, offset %d: %w", r.key(), offset, err)
		}
		r.observe(r.observation(Deleted, due{offset: offset}))
	}
	return nil
}

// resume goes on with a delivery that was begun, unless this run did so already.
func (r *run) resume(ctx context.Context, row item.Item) error {
	if r.drives(row.Key()) {
		return nil
	}
	f, err := readFence(r.Registry, row)
	if err != nil {
		return err
	}
	return r.drive(ctx, f)
}

func (r *run) drive(ctx context.Context, f fence) error {
	if err := r.publish(ctx, f); err != nil {
		return err
	}
	r.driven = append(r.driven, f)
	return nil
}

func (r *run) drives(key item.Key) bool {
	for _, f := range r.driven {
		if f.place() == key {
			return true
		}
	}
	return false
}

func (r *run) reportMissed(ctx context.Context, seen snapshot, missed []due) {
	for _, d := range missed {
		r.tell(ctx, slog.LevelWarn, "reminder missed", d, version(seen.item))
		r.observe(r.observation(Missed, d))
	}
}

// tell logs what became of one due instant of the item at this version, under the trace id of the write that made it.
func (r *run) tell(ctx context.Context, level slog.Level, what string, d due, version int64, more ...slog.Attr) {
	if !r.Log.Enabled(ctx, level) {
		return
	}
	attrs := append([]slog.Attr{
		slog.String("user", entity.Pseudonym(r.user)), slog.String("item", r.id), slog.Int64("offsetMinutes", d.offset),
		slog.Time("due", d.at),
	}, more...)
	if version > 0 {
		attrs = append(attrs, slog.String("traceId", entity.TraceID(r.user, r.id, version)))
	}
	r.Log.LogAttrs(ctx, level, what, attrs...)
}

func (r *run) observation(what Happening, d due) Observation {
	return Observation{What: what, User: r.user, Item: r.ref(), OffsetMinutes: d.offset, Due: d.at}
}
