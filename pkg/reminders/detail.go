package reminders

import (
	"nexus/pkg/item"
	"nexus/pkg/text"
)

// DetailType is the type of the event that is published.
const DetailType = "ReminderDue"

// ReminderDue is the event's detail (docs/contracts.md, "Events on the bus"; events/ReminderDue.schema.json).
type ReminderDue struct {
	// DeliveryID is the same on every repetition of one delivery.
	DeliveryID    string `json:"deliveryId"`
	UserID        string `json:"userId"`
	OccurredAt    string `json:"occurredAt"` // when the delivery was decided
	ItemType      string `json:"itemType"`
	ItemID        string `json:"itemId"`
	Title         string `json:"title"`
	OccurrenceUtc string `json:"occurrenceUtc"` // when the announced occurrence takes place
	// OccurrenceDate is the local date YYYYMMDD that the rule gave the occurrence of a series: its name, even after a
	// move.
	OccurrenceDate string `json:"occurrenceDate,omitempty"`
	DueUtc         string `json:"dueUtc"` // when the reminder was due: OffsetMinutes before, or the end of a snooze
	OffsetMinutes  int64  `json:"offsetMinutes"`
	Notify         Notify `json:"notify"`
}

// Notify says which channels the user wants, by the preferences.
type Notify struct {
	Browser bool `json:"browser"`
	Sound   bool `json:"sound"`
}

func (f delivery) detail() ReminderDue {
	return ReminderDue{
		DeliveryID: f.deliveryID, UserID: f.target.user, OccurredAt: item.FormatInstant(f.firedAt),
		ItemType: f.target.typ.Name, ItemID: f.target.id, Title: text.OneLine(f.title), // it may be older than the rule
		OccurrenceUtc: item.FormatInstant(f.due.start), OccurrenceDate: f.due.date, DueUtc: item.FormatInstant(f.due.at),
		OffsetMinutes: f.due.offset, Notify: Notify{f.browser, f.sound},
	}
}
