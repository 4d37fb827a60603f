package command

import (
	"context"
	"fmt"
	"time"

	"nexus/pkg/entity"
)

// Bounds of a snooze.
const (
	maxSnoozeMinutes = 40320 // four weeks
	maxSnooze        = 366 * 24 * time.Hour
)

// SnoozeReminder puts off the present occurrence of a reminder: the one snoozed already, else the last one that was due,
// else the one of its trigger. The trigger of a recurring one moves on behind it. Only a PENDING or SNOOZED reminder can be
// snoozed. Exactly one of Minutes and UntilUtc is given.
type SnoozeReminder struct {
	ID string
	// Minutes from now: 1 to 40320.
	Minutes *int64
	// UntilUtc is an RFC 3339 time with offset, after now and within 366 days.
	UntilUtc string
}

func (cmd SnoozeReminder) content() []any {
	return []any{"snoozeReminder", cmd.ID, cmd.Minutes, cmd.UntilUtc}
}

func (cmd SnoozeReminder) run(ctx context.Context, c call) (Result, error) {
	until, wrong := cmd.until(c.now)
	return c.act(ctx, cmd.ID, func(ref entity.Ref, before, meta entity.Item) (entity.Item, []entity.FieldError, error) {
		if !canBePutOff(before) {
			return nil, nil, &StateError{ref, "is " + before.Str(entity.AttrStatus) + " and cannot be snoozed"}
		}
		if len(wrong) > 0 {
			return nil, wrong, nil
		}
		present, err := findPresent(before, meta, c.now)
		if err != nil {
			return nil, nil, err
		}
		after := before.Clone()
		if _, err := present.pass(after); err != nil {
			return nil, nil, err
		}
		after[entity.AttrStatus] = entity.String(entity.StatusSnoozed)
		snooze := entity.Item{entity.SnoozeCount: entity.Int(present.count + 1)}
		snooze.SetTime(entity.SnoozeUntilUtc, until)
		snooze.SetTime(entity.SnoozeOccurrenceUtc, present.at)
		after[entity.AttrSnoozeState] = entity.Map(snooze)
		return after, nil, nil
	})
}

// until is the end of the snooze, in whole seconds.
func (cmd SnoozeReminder) until(now time.Time) (time.Time, []entity.FieldError) {
	wrong := func(pointer, format string, args ...any) (time.Time, []entity.FieldError) {
		return time.Time{}, []entity.FieldError{{Pointer: pointer, Detail: fmt.Sprintf(format, args...)}}
	}
	switch {
	case cmd.Minutes != nil && cmd.UntilUtc != "":
		return wrong("/minutes", "must not come together with untilUtc")
	case cmd.Minutes != nil:
		if *cmd.Minutes < 1 || *cmd.Minutes > maxSnoozeMinutes {
			return wrong("/minutes", "must be 1 to %d", maxSnoozeMinutes)
		}
		return now.Add(time.Duration(*cmd.Minutes) * time.Minute), nil
	case cmd.UntilUtc != "":
		until, err := time.Parse(time.RFC3339Nano, cmd.UntilUtc)
		if err != nil {
			return wrong("/untilUtc", "must be a time such as 2025-12-15T14:00:00Z (RFC 3339)")
		}
		until = until.UTC().Truncate(time.Second)
		if !until.After(now) || until.Sub(now) > maxSnooze {
			return wrong("/untilUtc", "must lie in the future, at most 366 days from now")
		}
		return until, nil
	}
	return wrong("/minutes", "is required unless there is untilUtc")
}

// CompleteReminder ends a reminder as done; of a recurring one its present occurrence alone, unless Series asks for all, or
// none is left behind it. One that is completed already stays as it is.
type CompleteReminder struct {
	ID string
	// Series asks to end all occurrences; for a one-time reminder that is the same.
	Series bool
}

func (cmd CompleteReminder) content() []any { return []any{"completeReminder", cmd.ID, cmd.Series} }

func (cmd CompleteReminder) run(ctx context.Context, c call) (Result, error) {
	return c.end(ctx, cmd.ID, entity.StatusCompleted, cmd.Series)
}

// DismissReminder ends a reminder without its being done, as [CompleteReminder] does. One that is dismissed already stays as
// it is.
type DismissReminder struct {
	ID string
	// Series asks to end all occurrences; for a one-time reminder that is the same.
	Series bool
}

func (cmd DismissReminder) content() []any { return []any{"dismissReminder", cmd.ID, cmd.Series} }

func (cmd DismissReminder) run(ctx context.Context, c call) (Result, error) {
	return c.end(ctx, cmd.ID, entity.StatusDismissed, cmd.Series)
}

func (c call) end(ctx context.Context, id, status string, all bool) (Result, error) {
	return c.act(ctx, id, func(ref entity.Ref, before, meta entity.Item) (entity.Item, []entity.FieldError, error) {
		switch now := before.Str(entity.AttrStatus); now {
		case status:
			return before, nil, nil
		case entity.StatusCompleted, entity.StatusDismissed:
			return nil, nil, &StateError{ref, "is " + now + " already"}
		}
		after := before.Clone()
		if before.Has(entity.AttrRRule) && !all {
			present, err := findPresent(before, meta, c.now)
			if err != nil {
				return nil, nil, err
			}
			isLast, err := present.pass(after)
			if err != nil {
				return nil, nil, err
			}
			if !isLast {
				after[entity.AttrStatus] = entity.String(entity.StatusPending)
				after.Set(entity.AttrSnoozeState, nil)
				return after, nil, nil
			}
		}
		after[entity.AttrStatus] = entity.String(status)
		return after, nil, nil
	})
}

// act is an edit of a reminder that depends on its state rather than on its version.
func (c call) act(ctx context.Context, id string, apply func(ref entity.Ref, before, meta entity.Item) (entity.Item, []entity.FieldError, error)) (Result, error) {
	t := c.registry.Named(entity.TypeReminder)
	ref, err := c.check(t, id)
	if err != nil {
		return Result{}, err
	}
	return c.edit(ctx, edit{
		typ: t, ref: ref, wantsMeta: true, // which occurrence is the present one depends on the user's zone
		apply: func(before, meta entity.Item) (entity.Item, []entity.FieldError, error) {
			return apply(ref, before, meta)
		},
	})
}

func canBePutOff(reminder entity.Item) bool {
	status := reminder.Str(entity.AttrStatus)
	return status == entity.StatusPending || status == entity.StatusSnoozed
}
