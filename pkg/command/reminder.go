package command

import (
	"context"
	"fmt"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

// Bounds of a snooze.
const (
	maxSnoozeMinutes = 40320 // four weeks
	maxSnooze        = 366 * 24 * time.Hour
)

// SnoozeReminder postpones the present occurrence of a reminder (findPresent). The trigger of a recurring one moves
// past it. Only a PENDING or SNOOZED reminder can be snoozed. Exactly one of Minutes and UntilUtc is given.
type SnoozeReminder struct {
	ID string
	// Minutes from now: 1 to 40320.
	Minutes *int64
	// UntilUtc is an RFC 3339 time with offset, after now and within 366 days.
	UntilUtc string
	// OccurrenceUtc is the occurrence that the user saw, an RFC 3339 time with offset; empty if the caller omits it. If
	// another is the present one, the command is refused with a [StateError].
	OccurrenceUtc string
}

func (cmd SnoozeReminder) content() []any {
	return withSeen([]any{"snoozeReminder", cmd.ID, cmd.Minutes, cmd.UntilUtc}, cmd.OccurrenceUtc)
}

func (cmd SnoozeReminder) run(ctx context.Context, c call) (Result, error) {
	until, wrong := cmd.until(c.now)
	saw, wrongOccurrence := parseSeen(cmd.OccurrenceUtc)
	if err := entity.Invalid(wrong, wrongOccurrence); err != nil {
		return c.recheck(ctx, err) // it was right when it was carried out, if it was
	}
	return c.act(ctx, cmd.ID, func(now time.Time, ref entity.Ref, before, meta item.Item) (item.Item, error) {
		if !canBePutOff(before) {
			return nil, &StateError{ref, "is " + before.Str(entity.AttrStatus) + " and cannot be snoozed"}
		}
		present, err := presentSeen(now, ref, before, meta, saw)
		if err != nil {
			return nil, err
		}
		after := before.Clone()
		if _, err := present.pass(after); err != nil {
			return nil, err
		}
		after[entity.AttrStatus] = item.String(product.StatusSnoozed)
		snooze := item.Item{product.SnoozeCount: item.Int(present.count + 1)}
		snooze.SetTime(product.SnoozeUntilUtc, until)
		snooze.SetTime(product.SnoozeOccurrenceUtc, present.at)
		after[product.AttrSnoozeState] = item.Map(snooze)
		return after, nil
	})
}

// until returns the end of the snooze, in whole seconds.
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
			return wrong("/untilUtc", "%s", entity.ExplainTime(cmd.UntilUtc))
		}
		until = until.UTC().Truncate(time.Second)
		if !until.After(now) || until.Sub(now) > maxSnooze {
			return wrong("/untilUtc", "must lie in the future, at most 366 days from now")
		}
		return until, nil
	}
	return wrong("/minutes", "is required unless there is untilUtc")
}

// CompleteReminder ends a reminder as done. For a recurring one it ends the present occurrence only, unless Series
// ends all, or none follows it. A completed one stays unchanged.
type CompleteReminder struct {
	ID string
	// Series asks to end all occurrences; for a one-time reminder that is the same.
	Series bool
	// OccurrenceUtc has the meaning of that of [SnoozeReminder].
	OccurrenceUtc string
}

func (cmd CompleteReminder) content() []any {
	return withSeen([]any{"completeReminder", cmd.ID, cmd.Series}, cmd.OccurrenceUtc)
}

func (cmd CompleteReminder) run(ctx context.Context, c call) (Result, error) {
	return c.end(ctx, ending{cmd.ID, product.StatusCompleted, cmd.Series, cmd.OccurrenceUtc})
}

// DismissReminder ends a reminder without its being done, as [CompleteReminder] does. A dismissed one stays unchanged.
type DismissReminder struct {
	ID string
	// Series asks to end all occurrences; for a one-time reminder that is the same.
	Series bool
	// OccurrenceUtc has the meaning of that of [SnoozeReminder].
	OccurrenceUtc string
}

func (cmd DismissReminder) content() []any {
	return withSeen([]any{"dismissReminder", cmd.ID, cmd.Series}, cmd.OccurrenceUtc)
}

func (cmd DismissReminder) run(ctx context.Context, c call) (Result, error) {
	return c.end(ctx, ending{cmd.ID, product.StatusDismissed, cmd.Series, cmd.OccurrenceUtc})
}

// ending is a completion or a dismissal.
type ending struct {
	id, status string
	all        bool
	saw        string
}

func (c call) end(ctx context.Context, e ending) (Result, error) {
	saw, wrong := parseSeen(e.saw)
	if err := entity.Invalid(wrong); err != nil {
		return Result{}, err
	}
	return c.act(ctx, e.id, func(now time.Time, ref entity.Ref, before, meta item.Item) (item.Item, error) {
		switch status := before.Str(entity.AttrStatus); status {
		case e.status:
			return before, nil
		case product.StatusCompleted, product.StatusDismissed:
			return nil, &StateError{ref, "is " + status + " already"}
		}
		isOne := before.Has(product.AttrRRule) && !e.all // of several occurrences
		var present presentTrigger
		if isOne || !saw.IsZero() {
			var err error
			if present, err = presentSeen(now, ref, before, meta, saw); err != nil {
				return nil, err
			}
		}
		after := before.Clone()
		if isOne {
			isLast, err := present.pass(after)
			if err != nil {
				return nil, err
			}
			if snoozeEnded(before, now) {
				after.SetTime(product.AttrFiredOccurrenceUtc, present.at) // its delivery may find nothing to record
			}
			if !isLast {
				after[entity.AttrStatus] = item.String(product.StatusPending)
				after.Set(product.AttrSnoozeState, nil)
				return after, nil
			}
		}
		after[entity.AttrStatus] = item.String(e.status)
		return after, nil
	})
}

// act makes an edit of a reminder that depends on its state rather than on its version.
func (c call) act(
	ctx context.Context, id string,
	apply func(now time.Time, ref entity.Ref, before, meta item.Item) (item.Item, error),
) (Result, error) {
	t := c.registry.ByName(product.TypeReminder)
	ref, err := c.check(t, id)
	if err != nil {
		return Result{}, err
	}
	return c.edit(ctx, edit{
		typ: t, ref: ref, wantsMeta: true, // the user's zone decides which occurrence is the present one
		apply: func(now time.Time, before, meta item.Item) (item.Item, []entity.FieldError, error) {
			after, err := apply(now, ref, before, meta)
			return after, nil, err
		},
	})
}

// withSeen adds the occurrence that the user saw to the content that identifies equal requests.
func withSeen(content []any, occurrence string) []any {
	if occurrence == "" {
		return content
	}
	return append(content, occurrence)
}

// parseSeen returns the occurrence that the user saw, zero if the request omits it.
func parseSeen(occurrence string) (time.Time, []entity.FieldError) {
	if occurrence == "" {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339Nano, occurrence)
	if err != nil {
		return time.Time{}, []entity.FieldError{{
			Pointer: "/occurrenceUtc", Detail: entity.ExplainTime(occurrence),
		}}
	}
	return at.Truncate(time.Second), nil
}

// presentSeen returns the present occurrence, or a [StateError] if the user saw another one.
func presentSeen(now time.Time, ref entity.Ref, before, meta item.Item, saw time.Time) (presentTrigger, error) {
	o, err := findPresent(before, meta, now)
	if err == nil && !saw.IsZero() && !saw.Equal(o.at) {
		err = &StateError{ref, "has the occurrence of " + item.FormatInstant(o.at) + " for its present one"}
	}
	return o, err
}

// snoozeEnded reports whether a snooze in force has ended: it fires, and its delivery is not closed yet.
func snoozeEnded(reminder item.Item, now time.Time) bool {
	until, ok := reminder.Map(product.AttrSnoozeState).Time(product.SnoozeUntilUtc)
	return ok && !until.After(now)
}

func canBePutOff(reminder item.Item) bool {
	status := reminder.Str(entity.AttrStatus)
	return status == product.StatusPending || status == product.StatusSnoozed
}
