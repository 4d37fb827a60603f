package reminders

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/schedule"
)

// maxOffsetMinutes is four weeks, the longest offset an item can have (docs/data-model.md).
const maxOffsetMinutes = 40320

// call is the payload of a schedule: the item, and what was due when it was written. It names the item and copies
// nothing: the notifier reads the item when the call comes. OccurrenceUtc is the name of the occurrence in its
// delivery.
type call struct {
	UserID        string `json:"userId"`
	ItemType      string `json:"itemType"`
	ItemID        string `json:"itemId"`
	OffsetMinutes *int64 `json:"offsetMinutes"`
	OccurrenceUtc string `json:"occurrenceUtc"`
	DueUtc        string `json:"dueUtc"`
}

func newCall(t target, d due) call {
	return call{
		UserID: t.user, ItemType: t.typ.Name, ItemID: t.id, OffsetMinutes: &d.offset,
		OccurrenceUtc: item.FormatInstant(d.occurrence), DueUtc: item.FormatInstant(d.at),
	}
}

func (c call) encode() []byte {
	text, err := json.Marshal(c)
	if err != nil {
		panic("reminders: " + err.Error()) // strings and a number always encode
	}
	return text
}

// PayloadError says that this package did not write a call's payload, and which field shows it. Repeating the call
// cannot help.
type PayloadError struct{ Field, Reason string }

func (e *PayloadError) Error() string {
	if e.Field == "" {
		return "payload " + e.Reason
	}
	return fmt.Sprintf("payload field %s %s", e.Field, e.Reason)
}

// parseCall reads a payload. It ignores unknown members: a newer version may have written the schedule.
func parseCall(registry *entity.Registry, payload []byte) (target, due, error) {
	var c call
	if len(payload) > schedule.MaxPayload {
		return target{}, due{},
			&PayloadError{"", fmt.Sprintf("has %d bytes, at most %d are allowed", len(payload), schedule.MaxPayload)}
	}
	if err := json.Unmarshal(payload, &c); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) && wrong.Field != "" {
			return target{}, due{}, &PayloadError{wrong.Field, "is a " + wrong.Value}
		}
		return target{}, due{}, &PayloadError{"", "is not a JSON object: " + err.Error()}
	}
	t := target{user: c.UserID, typ: registry.ByName(c.ItemType), id: c.ItemID}
	if err := entity.CheckUserID(c.UserID); err != nil {
		return target{}, due{}, &PayloadError{"userId", "is wrong: " + err.Error()}
	}
	if !hasReminders(t.typ) {
		return target{}, due{}, &PayloadError{"itemType", fmt.Sprintf("%.40q has no reminders", c.ItemType)}
	}
	if err := entity.CheckID(t.typ.IDPrefix, c.ItemID); err != nil {
		return target{}, due{}, &PayloadError{"itemId", "is wrong: " + err.Error()}
	}
	if c.OffsetMinutes == nil || *c.OffsetMinutes < 0 || *c.OffsetMinutes > maxOffsetMinutes {
		return target{}, due{}, &PayloadError{"offsetMinutes", fmt.Sprintf("must be 0 to %d", maxOffsetMinutes)}
	}
	occurrence, err := payloadInstant("occurrenceUtc", c.OccurrenceUtc)
	if err != nil {
		return target{}, due{}, err
	}
	at, err := payloadInstant("dueUtc", c.DueUtc)
	if err != nil {
		return target{}, due{}, err
	}
	return t, due{offset: *c.OffsetMinutes, occurrence: occurrence, start: occurrence, at: at}, nil
}

func payloadInstant(field, text string) (time.Time, error) {
	t, err := item.ParseInstant(text)
	if err != nil {
		return time.Time{}, &PayloadError{field, "is wrong: " + err.Error()}
	}
	return t, nil
}
