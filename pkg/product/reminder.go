package product

import (
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
)

// States of a REMINDER; COMPLETED is shared with tasks.
const (
	StatusPending   = "PENDING"
	StatusSnoozed   = "SNOOZED"
	StatusDismissed = "DISMISSED"
)

// Attributes of a reminder's snoozeState.
const (
	SnoozeUntilUtc      = "untilUtc"
	SnoozeCount         = "count"
	SnoozeOccurrenceUtc = "occurrenceUtc"
)

// doneReminderRetention is how long a completed or dismissed reminder stays in the table; after that only its cold
// copy remains.
const doneReminderRetention = 24 * time.Hour

// Reminder is the type of a reminder, one-time or recurring. A recurring one is one item whose trigger moves from
// occurrence to occurrence.
func Reminder() *entity.Type {
	return &entity.Type{
		Name: TypeReminder, IDAttr: "reminderId", IDPrefix: "rem", Plural: "reminders",
		Fields: entity.Common("reminderId",
			titleField,
			entity.Field{Name: "notes", Kind: entity.Markdown, Max: maxDescription, Doc: "Markdown, at most 10 KB."},
			entity.Field{
				Name: AttrTriggerUtc, Kind: entity.Instant, Required: true, Zone: AttrTzid,
				Doc: "When to remind; without offset when it floats.",
			},
			entity.Field{Name: AttrTzid, Kind: entity.Zone, Doc: "Zone of the trigger; absent means floating."},
			entity.Field{Name: AttrRRule, Kind: entity.Text, Min: 1, Max: maxRule, Doc: "Recurrence rule (RFC 5545 §3.3.10) " +
				"of a reminder that recurs: FREQ DAILY, WEEKLY, MONTHLY or YEARLY, without BYHOUR, BYMINUTE and BYSECOND. It " +
				"counts from the trigger it came with."},
			entity.Field{
				Name: AttrRRuleUntil, Kind: entity.Instant, Zone: AttrTzid,
				Doc: "No occurrence triggers after it, whatever the rule says.",
			},
			entity.Field{
				Name: AttrFirstTriggerUtc, Kind: entity.Instant, Origin: entity.FromServer, Zone: AttrTzid,
				Doc: "The trigger that the rule counts from.",
			},
			entity.Field{
				Name: AttrDoneTriggerUtc, Kind: entity.Instant, Origin: entity.FromServer, Zone: AttrTzid,
				Doc: "The trigger that is over although none follows it: it rang or was put off. While it is triggerUtc, nothing " +
					"rings but a snooze in force.",
			},
			entity.Field{Name: entity.AttrStatus, Kind: entity.Enum, Required: true, Origin: entity.FromServer,
				Default: item.String(StatusPending),
				Enum:    []string{StatusPending, StatusSnoozed, StatusCompleted, StatusDismissed},
				Doc:     "Moved by snooze, complete and dismiss; a new trigger makes it PENDING again."},
			entity.Field{Name: AttrSnoozeState, Kind: entity.Object, Origin: entity.FromServer, Doc: "The snooze in force.",
				Fields: []entity.Field{
					{Name: SnoozeUntilUtc, Kind: entity.Instant, Required: true, Doc: "When the snooze ends."},
					{Name: SnoozeCount, Kind: entity.Integer, Required: true, Min: 1, Doc: "How often this occurrence was snoozed."},
					{Name: SnoozeOccurrenceUtc, Kind: entity.Instant, Required: true,
						Doc: "The instant the snoozed occurrence was due."},
				}},
			entity.Field{
				Name: AttrLastFiredUtc, Kind: entity.Instant, Origin: entity.FromServer, Doc: "Until when the trigger is done: " +
					"due instant of the last delivery, or its occurrence if a snooze ended before that.",
			},
			entity.Field{
				Name: AttrFiredOccurrenceUtc, Kind: entity.Instant, Origin: entity.FromServer,
				Doc: "The occurrence that rang last.",
			},
			entity.Field{
				Name: AttrCompletedAt, Kind: entity.Instant, Origin: entity.FromServer,
				Doc: "When the reminder was completed or dismissed.",
			},
			tagsField, linksField, uidField, sequenceField, restoredAtField, dueSetAtField, keptField, stampField,
		),
		Settle: func(before, patch, after item.Item) {
			normaliseRule(patch, after, AttrTzid)
			followZone(before, patch, after, AttrTzid)
		},
		Check:     checkReminder,
		Derive:    func(w entity.Write) { deriveReminder(w); deriveSequence(w) },
		Index:     indexReminder,
		Dues:      reminderDues,
		DueFields: []string{AttrRRule, AttrRRuleUntil},
		Spans:     reminderSpans,
		Retention: map[string]time.Duration{
			StatusCompleted: doneReminderRetention,
			StatusDismissed: doneReminderRetention,
		},
	}
}

// deriveReminder makes a reminder with a new trigger pending again, from any state, and lets its rule count from
// there.
func deriveReminder(w entity.Write) {
	it := w.After
	isNew := w.Before == nil || setsTrigger(w.Before, it)
	deriveTrigger(w, isNew)
	if w.Before != nil && isNew {
		it[entity.AttrStatus] = item.String(StatusPending)
		delete(it, AttrFiredOccurrenceUtc) // it belongs to the old trigger
		// A snooze that was delivered before its occurrence leaves lastFiredUtc at the occurrence, in the future. That must
		// not block a new trigger.
		if last, ok := it.Time(AttrLastFiredUtc); ok && last.After(w.Now) {
			it.SetTime(AttrLastFiredUtc, w.Now)
		}
	}
	switch it.Str(entity.AttrStatus) {
	case StatusSnoozed:
		it.Set(AttrCompletedAt, nil)
	case StatusPending:
		it.Set(AttrCompletedAt, nil)
		it.Set(AttrSnoozeState, nil)
	default:
		it.Set(AttrSnoozeState, nil)
		if !it.Has(AttrCompletedAt) {
			it.SetTime(AttrCompletedAt, w.Now)
		}
	}
}

func indexReminder(user string, it item.Item) entity.IndexKeys {
	dues := reminderDues(it)
	if len(dues) == 0 {
		return entity.IndexKeys{}
	}
	keys := yearKeys(user, dues[0].At)
	if it.Has(AttrRRule) {
		keys.StatePK, keys.StateSK = entity.UserPK(user), RecurringRemindersPrefix()+lastShown(it, dues)
	}
	return keys
}

// reminderDues returns the trigger and the snooze of a reminder. For a recurring one, the trigger represents all
// occurrences from it on. It also appears beside a snooze of another occurrence.
func reminderDues(it item.Item) []entity.Due {
	trigger, _ := it.Time(AttrTriggerUtc)
	next := entity.Due{Occurrence: trigger, At: trigger, Floating: !it.Has(AttrTzid)}
	switch it.Str(entity.AttrStatus) {
	case StatusPending:
		return []entity.Due{next}
	case StatusSnoozed:
		snooze := it.Map(AttrSnoozeState)
		until, _ := snooze.Time(SnoozeUntilUtc)
		occurrence, _ := snooze.Time(SnoozeOccurrenceUtc)
		snoozed := entity.Due{Occurrence: occurrence, At: until, Snooze: true}
		switch {
		case !it.Has(AttrRRule) || TriggerDone(it): // the snoozed occurrence is that of the trigger
			return []entity.Due{snoozed}
		case trigger.Before(until):
			return []entity.Due{next, snoozed}
		}
		return []entity.Due{snoozed, next}
	}
	return nil
}
