package command

import (
	"fmt"
	"time"

	"nexus/pkg/entity"
)

// presentTrigger is the occurrence of a reminder on which an action acts.
type presentTrigger struct {
	at    time.Time // the instant it was due
	count int64     // how often it was snoozed before
	// stored is how the trigger of a recurring reminder has it: an instant, or the reading of one that floats. Zero for one
	// that its trigger has left behind already.
	stored time.Time
}

// findPresent is the one snoozed already; else the last one of a recurring reminder that was due; else the one of the
// trigger. It is never the first of all because that is where the rule counts from.
func findPresent(it, meta entity.Item, now time.Time) (presentTrigger, error) {
	trigger, ok := it.Time(entity.AttrTriggerUtc)
	if !ok {
		return presentTrigger{}, fmt.Errorf("%s: reminder without trigger", it.Key())
	}
	if snooze := it.Map(entity.AttrSnoozeState); snooze != nil {
		at, ok := snooze.Time(entity.SnoozeOccurrenceUtc)
		if !ok {
			return presentTrigger{}, fmt.Errorf("%s: snooze without occurrence", it.Key())
		}
		o := presentTrigger{at: at, count: snooze.Int(entity.SnoozeCount)}
		if entity.TriggerDone(it) {
			o.stored = trigger // it was the last, so that the trigger had nowhere to go
		}
		return o, nil
	}
	zone, floating := time.UTC, !it.Has(entity.AttrTzid)
	if floating {
		var err error
		if zone, err = entity.LoadZone(meta.Str(entity.AttrDefaultTzid)); err != nil {
			return presentTrigger{}, fmt.Errorf("%s: %w", meta.Key(), err)
		}
	}
	if it.Has(entity.AttrRRule) {
		triggers, err := entity.CompileReminder(it)
		if err != nil {
			return presentTrigger{}, fmt.Errorf("%s: %w", it.Key(), err)
		}
		if last, ok := triggers.In(zone).Previous(now.Truncate(time.Second).Add(time.Second)); ok {
			if floating {
				return presentTrigger{at: last.Start, stored: last.Wall}, nil
			}
			return presentTrigger{at: last.Start, stored: last.Start}, nil
		}
	}
	if floating {
		return presentTrigger{at: entity.Resolve(trigger, zone), stored: trigger}, nil
	}
	return presentTrigger{at: trigger, stored: trigger}, nil
}

// pass moves the trigger of a recurring reminder on behind the occurrence, unless it is past it already. isLast says that
// none is left.
func (o presentTrigger) pass(it entity.Item) (isLast bool, err error) {
	if !it.Has(entity.AttrRRule) || o.stored.IsZero() {
		return false, nil
	}
	isLast, err = entity.PassTrigger(it, o.stored)
	if err != nil {
		return false, fmt.Errorf("%s: %w", it.Key(), err)
	}
	return isLast, nil
}
