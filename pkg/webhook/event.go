package webhook

import (
	"fmt"
	"slices"
	"strings"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/entity/outbox"
	"nexus/pkg/item"
	"nexus/pkg/text"
)

// What happens to an item: the second word of an event's type. A change of state has the name of the new state.
const (
	created  = "created"
	updated  = "updated"
	deleted  = "deleted"
	expired  = "expired"
	restored = "restored"
)

const (
	// typeReminderDue is the type of the event that a reminder is due.
	typeReminderDue = "reminder.due"
	// TypeTest is the type of the message that a user sends to try an endpoint. It goes to the endpoint whatever types it
	// asks for.
	TypeTest = "webhook.test"
)

// eventType returns the type of the event that a record is; empty for none.
func eventType(ch change.Change) string {
	if ch.Type == nil || !ch.Type.HasCollection() || ch.Type.Name == outbox.TypeWebhook {
		return ""
	}
	what := ""
	switch ch.Kind {
	case change.Removed:
		what = deleted
	case change.Expired:
		what = expired
	case change.Inserted:
		if what = created; isRestored(ch) {
			what = restored
		}
	case change.Modified:
		what = changed(ch)
	}
	if what == "" {
		return ""
	}
	return strings.ToLower(ch.Ref.Type) + "." + what
}

func isRestored(ch change.Change) bool {
	return ch.New.Has(entity.AttrRestoredAt) && ch.New.Str(entity.AttrRestoredAt) != ch.Old.Str(entity.AttrRestoredAt)
}

// changed returns what a modification is; bookkeeping, which makes no version, is no event.
func changed(ch change.Change) string {
	before, after := ch.Old.Str(entity.AttrStatus), ch.New.Str(entity.AttrStatus)
	switch {
	case ch.Old.Int(entity.AttrVersion) == ch.New.Int(entity.AttrVersion):
		return ""
	case isRestored(ch):
		return restored
	case before != after && after != "":
		return strings.ToLower(after)
	}
	return updated
}

// asksFor reports whether an endpoint asks for events of a type.
func asksFor(hook item.Item, eventType string) bool {
	return areFor(hook.Strings(outbox.AttrEventTypes), eventType)
}

func areFor(types []string, eventType string) bool {
	of, _, _ := strings.Cut(eventType, ".")
	return slices.Contains(types, eventType) || slices.Contains(types, of+".*") || slices.Contains(types, "*")
}

// EventTypes returns the types of the events of entities of the registry and of reminders, sorted.
func EventTypes(r *entity.Registry) []string {
	out := []string{typeReminderDue}
	for _, t := range r.Types() {
		if !t.HasCollection() || t.Name == outbox.TypeWebhook {
			continue
		}
		words := []string{created, updated, deleted, expired, restored}
		for _, f := range t.Fields {
			if f.Name == entity.AttrStatus {
				words = append(words, f.Enum...)
			}
		}
		for _, word := range words {
			out = append(out, strings.ToLower(t.Name+"."+word))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// CheckType refuses a text that is neither one of the types of events, nor all of a kind such as task.*, nor * for all.
func CheckType(types []string, asked string) error {
	if slices.ContainsFunc(types, func(kind string) bool { return areFor([]string{asked}, kind) }) {
		return nil
	}
	kinds := []string{"*"}
	for _, one := range types {
		kind, _, _ := strings.Cut(one, ".")
		kinds = append(kinds, kind+".*")
	}
	kinds = slices.Compact(kinds)
	of, _, _ := strings.Cut(asked, ".")
	if slices.Contains(kinds, of+".*") {
		alike := slices.DeleteFunc(slices.Clone(types), func(kind string) bool { return !areFor([]string{of + ".*"}, kind) })
		return fmt.Errorf("is the type of no event; must be %s.* or one of %s", of, strings.Join(alike, ", "))
	}
	return fmt.Errorf("is the type of no event; must be one of %s, or one type such as %s%s", strings.Join(kinds, ", "),
		types[0], text.DidYouMean(text.Near(asked, slices.Concat(kinds, types))))
}
