package webhook

import (
	"slices"
	"strings"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/entity/outbox"
	"nexus/pkg/item"
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
	of, _, _ := strings.Cut(eventType, ".")
	types := hook.Strings(outbox.AttrEventTypes)
	return slices.Contains(types, eventType) || slices.Contains(types, of+".*") || slices.Contains(types, "*")
}
