package deliver

import (
	"encoding/json"
	"fmt"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
)

// EventType is the type of the events that are told.
const EventType = "ReminderDue"

// event has the members of a ReminderDue that are told (docs/contracts.md, "Events on the bus").
type event struct {
	DeliveryID     string `json:"deliveryId"`
	UserID         string `json:"userId"`
	OccurredAt     string `json:"occurredAt"`
	ItemType       string `json:"itemType"`
	ItemID         string `json:"itemId"`
	Title          string `json:"title"`
	OccurrenceUtc  string `json:"occurrenceUtc"`
	OccurrenceDate string `json:"occurrenceDate,omitempty"`
	DueUtc         string `json:"dueUtc"`
	Notify         notify `json:"notify"`

	firedAt    time.Time // OccurredAt
	occurrence time.Time // OccurrenceUtc
}

type notify struct {
	Browser bool `json:"browser"`
	Sound   bool `json:"sound"`
}

// EventError says that an event, or the payload of a call, is none that this package handles. Repeating it cannot help.
type EventError struct{ Reason string }

func (e *EventError) Error() string { return "event " + e.Reason }

// maxDeliveryID is more than a delivery's id has.
const maxDeliveryID = 64

// parseEvent reads the detail of an event. It ignores unknown members: a later release may have published it.
func parseEvent(detail []byte) (event, error) {
	var e event
	if err := json.Unmarshal(detail, &e); err != nil {
		return event{}, &EventError{"is no ReminderDue: " + err.Error()}
	}
	return e, e.read()
}

// read checks what keys and instants are made of, and reads the instants.
func (e *event) read() (err error) {
	if err := entity.CheckUserID(e.UserID); err != nil {
		return &EventError{"names no user: " + err.Error()}
	}
	if !isDeliveryID(e.DeliveryID) {
		return &EventError{fmt.Sprintf("has no delivery id: %.80q", e.DeliveryID)}
	}
	if e.firedAt, err = item.ParseInstant(e.OccurredAt); err == nil {
		e.occurrence, err = item.ParseInstant(e.OccurrenceUtc)
	}
	if err != nil {
		return &EventError{"has no instant: " + err.Error()}
	}
	return nil
}

// isDeliveryID accepts 1 to 64 of A-Z a-z 0-9 _ -: they need no escape in a key, a header or a path.
func isDeliveryID(id string) bool {
	if id == "" || len(id) > maxDeliveryID {
		return false
	}
	for _, c := range []byte(id) {
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-') {
			return false
		}
	}
	return true
}

// Bounds of the time in which a delivery is told, from the instant at which it was decided.
const (
	leastLife = time.Hour
	mostLife  = 24 * time.Hour
)

// until returns the end of the delivery: an hour behind its occurrence, within the bounds.
func (e *event) until() time.Time {
	end := e.occurrence.Add(leastLife)
	if least := e.firedAt.Add(leastLife); end.Before(least) {
		return least
	}
	if most := e.firedAt.Add(mostLife); end.After(most) {
		return most
	}
	return end
}

// call is the payload of a schedule: the row that is due. It copies nothing of it.
type call struct {
	UserID     string `json:"userId"`
	DeliveryID string `json:"deliveryId"`
	DeviceID   string `json:"deviceId"`
}

func parseCall(payload []byte) (call, error) {
	var c call
	if err := json.Unmarshal(payload, &c); err != nil {
		return call{}, &EventError{"is no call: " + err.Error()}
	}
	if err := entity.CheckUserID(c.UserID); err != nil {
		return call{}, &EventError{"names no user: " + err.Error()}
	}
	if !isDeliveryID(c.DeliveryID) || CheckDeviceID(c.DeviceID) != nil {
		return call{}, &EventError{fmt.Sprintf("names no delivery on a device: %.80q %.80q", c.DeliveryID, c.DeviceID)}
	}
	return c, nil
}
