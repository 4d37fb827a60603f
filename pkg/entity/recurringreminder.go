package entity

import (
	"errors"

	"nexus/pkg/recurrence"
)

func checkReminder(it Item) []FieldError {
	var errs fieldErrors
	if !it.Has(AttrRRule) {
		errs.refuse(it, "only a recurring reminder has it", AttrRRuleUntil)
		return errs
	}
	series, err := CompileReminder(it)
	var refused *recurrence.Refusal
	switch {
	case errors.As(err, &refused) && refused.Part == "DTSTART":
		errs.add(AttrTriggerUtc, "%s", refused.Error())
	case errors.As(err, &refused):
		errs.add(AttrRRule, "%s", refused.Error())
	case err != nil:
		errs.add(AttrTzid, "%v", err)
	default:
		if _, ok := series.First(); !ok {
			errs.add(AttrRRuleUntil, "leaves no occurrence: it is before the trigger")
		}
	}
	return errs
}

// setsTrigger reports whether a change is a client's new trigger. Moving on along its own occurrences is none: that is what
// a recurring reminder does when one of them was delivered or put off.
func setsTrigger(before, after Item) bool {
	if Equal(before[AttrTriggerUtc], after[AttrTriggerUtc]) && Equal(before[AttrTzid], after[AttrTzid]) {
		return false
	}
	return !movesOn(before, after)
}

func movesOn(before, after Item) bool {
	for _, name := range []string{AttrRRule, AttrRRuleUntil, AttrTzid} {
		if !Equal(before[name], after[name]) {
			return false
		}
	}
	switch before.Str(AttrStatus) {
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
	at, ok := triggers.Next(to.Add(-1))
	return ok && at.Start.Equal(to)
}

// lastShown is the last instant at which a recurring reminder stands in an agenda, in the form of an index key: its last
// trigger, or the end of a snooze that reaches beyond it.
func lastShown(it Item, dues []Due) string {
	triggers, err := CompileReminder(it)
	if err != nil {
		return Forever
	}
	last, ok := triggers.Last()
	if !ok {
		return Forever
	}
	at := last.Start
	for _, due := range dues {
		if due.At.After(at) {
			at = due.At
		}
	}
	return FormatInstant(at)
}

// RecurringRemindersPrefix begins the state-view sort keys of recurring reminders that are alive; behind it stands the
// last trigger or the end of a later snooze, or [Forever].
func RecurringRemindersPrefix() string { return join(TypeReminder, "RECURRING") + separator }
