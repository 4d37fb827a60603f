package product

import (
	"errors"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/recurrence"
)

func checkReminder(it item.Item) []entity.FieldError {
	var errs entity.Faults
	if !it.Has(AttrRRule) {
		errs.Refuse(it, "only a recurring reminder has it", AttrRRuleUntil)
		return errs
	}
	if _, ok := it.Time(AttrFirstTriggerUtc); !ok || !hasKnownZone(it, AttrTzid) || !it.Says(AttrRRule) {
		return checkRule(it)
	}
	series, err := CompileReminder(it)
	var refused *recurrence.Refusal
	switch {
	case errors.As(err, &refused) && refused.Part == "DTSTART":
		errs.Add(AttrTriggerUtc, "%s", refused.Error())
	case errors.As(err, &refused):
		errs.Add(AttrRRule, "%s", refused.Error())
	case err != nil:
		errs.Add(AttrTzid, "%v", err)
	default:
		if _, ok := series.First(); !ok {
			errs.Add(AttrRRuleUntil, "leaves no occurrence: it is before the trigger")
		}
	}
	return errs
}

// setsTrigger reports whether a change sets a new trigger on a client's behalf. So does a reminder that stops
// recurring: its remaining trigger counts as new, unless it is over. A move along its own occurrences does not: that
// follows a delivery or a postponement of one.
func setsTrigger(before, after item.Item) bool {
	if before.Has(AttrRRule) && !after.Has(AttrRRule) && !TriggerDone(before) {
		return true
	}
	if item.Equal(before[AttrTriggerUtc], after[AttrTriggerUtc]) && item.Equal(before[AttrTzid], after[AttrTzid]) {
		return false
	}
	return !movesOn(before, after)
}

func movesOn(before, after item.Item) bool {
	for _, name := range []string{AttrRRule, AttrRRuleUntil, AttrTzid} {
		if !item.Equal(before[name], after[name]) {
			return false
		}
	}
	switch before.Str(entity.AttrStatus) {
	case StatusPending, StatusSnoozed:
	default:
		return false
	}
	from, _ := before.Time(AttrTriggerUtc)
	to, _ := after.Time(AttrTriggerUtc)
	if !before.Has(AttrRRule) || !to.After(from) {
		return false
	}
	triggers, err := CompileReminder(before)
	if err != nil {
		return false
	}
	at, ok := triggers.Next(to.Add(-time.Second))
	return ok && at.Start.Equal(to)
}

// deriveTrigger maintains the trigger that the rule counts from, and moves the trigger into the rest of the rule.
func deriveTrigger(w entity.Write, isNew bool) {
	it := w.After
	if isNew {
		delete(it, AttrDoneTriggerUtc)
	}
	switch {
	case !it.Has(AttrRRule):
		delete(it, AttrFirstTriggerUtc)
	case isNew:
		it.Set(AttrFirstTriggerUtc, it[AttrTriggerUtc])
	case !item.Equal(w.Before[AttrRRule], it[AttrRRule]):
		it.Set(AttrFirstTriggerUtc, it[AttrTriggerUtc])
		if !w.Before.Has(AttrRRule) && it.Str(entity.AttrStatus) == StatusSnoozed {
			it[AttrDoneTriggerUtc] = it[AttrTriggerUtc] // the postponed trigger
		}
		fitTrigger(it)
	case !item.Equal(w.Before[AttrRRuleUntil], it[AttrRRuleUntil]):
		fitTrigger(it)
	}
}

// fitTrigger moves the trigger of a series whose end has moved: forward, if it was over and others follow now; back to
// the last, which is over, if the series ends before it.
func fitTrigger(it item.Item) {
	triggers, err := CompileReminder(it)
	if err != nil {
		return // validation refuses it
	}
	trigger, _ := it.Time(AttrTriggerUtc)
	if next, ok := triggers.Next(trigger.Add(-time.Second)); !ok {
		if last, ok := triggers.Last(); ok {
			it.SetTime(AttrTriggerUtc, last.Start)
			it[AttrDoneTriggerUtc] = it[AttrTriggerUtc]
		}
	} else if !TriggerDone(it) {
		it.SetTime(AttrTriggerUtc, next.Start)
	} else if next, ok := triggers.Next(trigger); ok {
		it.SetTime(AttrTriggerUtc, next.Start)
	}
}

// TriggerDone reports whether the trigger of a reminder is over. The last trigger of a recurring reminder cannot move
// on: it is over after its delivery or postponement. That of a one-time reminder is over once it, or a snooze of it,
// was delivered.
func TriggerDone(it item.Item) bool {
	return it.Has(AttrDoneTriggerUtc) && item.Equal(it[AttrDoneTriggerUtc], it[AttrTriggerUtc])
}

// PassTrigger moves a recurring reminder past one of its occurrences. The occurrence has the stored form of a trigger:
// an instant, or the reading of a floating one. A trigger that is already later stays. isLast says that none is left:
// then the occurrence becomes the trigger, and it is done. The error is that of [CompileReminder].
func PassTrigger(it item.Item, occurrence time.Time) (isLast bool, err error) {
	if trigger, _ := it.Time(AttrTriggerUtc); occurrence.Before(trigger) {
		return false, nil
	}
	triggers, err := CompileReminder(it)
	if err != nil {
		return false, err
	}
	next, ok := triggers.Next(occurrence)
	if ok {
		it.SetTime(AttrTriggerUtc, next.Start)
		return false, nil
	}
	it.SetTime(AttrTriggerUtc, occurrence)
	it[AttrDoneTriggerUtc] = it[AttrTriggerUtc]
	return true, nil
}

// lastShown returns the last instant at which an agenda shows a recurring reminder, in the form of an index key: its
// last trigger, or the end of a snooze that reaches beyond it.
func lastShown(it item.Item, dues []entity.Due) string {
	triggers, err := CompileReminder(it)
	if err != nil {
		return item.Forever
	}
	last, ok := triggers.Last()
	if !ok {
		return item.Forever
	}
	at := last.Start
	for _, due := range dues {
		if due.At.After(at) {
			at = due.At
		}
	}
	return item.FormatInstant(at)
}

// RecurringRemindersPrefix begins the state-view sort keys of active recurring reminders. The last trigger or the end
// of a later snooze, or [item.Forever], follows it.
func RecurringRemindersPrefix() string { return entity.StatePrefix(TypeReminder, "RECURRING") }
