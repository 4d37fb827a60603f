// Package bus is the port through which Nexus announces events to other systems: a reminder is due, a task was
// archived, an item expired or was restored.
//
// It promises that an event published without an error reaches the bus at least once, and no order. A publisher puts a
// delivery id into the detail that is the same on every repetition; a listener compares it. No part of the system may
// derive data from this bus: consumers use the table's stream for that.
package bus

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"

	"nexus/pkg/port"
)

// Source is the source of every event (docs/contracts.md, "Events on the bus").
const Source = "nexus"

// Bounds of one event.
const (
	// MaxType is the length of a type in bytes (EventBridge, PutEventsRequestEntry, DetailType).
	MaxType = 128
	// MaxDetail is the size of a detail in bytes. It leaves room for the other fields in the 256 KB that an event may
	// have in every region and at every target; newer limits of 1 MB do not hold everywhere.
	MaxDetail = 240 << 10
)

const (
	minYear = 1970
	maxYear = 9999
)

// Event is one thing that happened.
type Event struct {
	// Type names the event, such as ReminderDue: 1 to [MaxType] bytes of UTF-8.
	Type string
	// Detail is a JSON object in UTF-8 of at most [MaxDetail] bytes. Its white space may change on the way.
	Detail []byte
	// Time is the instant of the event; fractions of a second are lost on the way.
	Time time.Time
}

// Bus is the port. It is safe for concurrent use.
type Bus interface {
	// Publish returns nil when every event is durably on the bus. On an error some may be and some not: repeat the call
	// with all of them. If an event breaks a rule of [Check], none is on the bus and the error is [ErrInvalid].
	Publish(ctx context.Context, events ...Event) error
}

// Errors on which callers decide. They are matched with errors.Is.
var (
	// ErrThrottled says that the bus refused for load; try again later.
	ErrThrottled = port.Error("bus throttled", port.ErrThrottled)
	// ErrUnavailable says that the bus failed, did not answer, or does not serve this caller now; try again later.
	ErrUnavailable = port.Error("bus unavailable", port.ErrUnavailable)
	// ErrInvalid says that an event itself is refused; repeating it cannot help.
	ErrInvalid = port.Error("event refused", port.ErrInvalid)
)

// InvalidError names the event, by its place in the call, and the field that broke its rule. It matches [ErrInvalid].
type InvalidError struct {
	Index  int
	Field  string // Type, Detail or Time
	Reason string
}

func (e *InvalidError) Error() string {
	return fmt.Sprintf("event %d: %s %s", e.Index, e.Field, e.Reason)
}

// Unwrap makes the error match ErrInvalid and its kind.
func (e *InvalidError) Unwrap() error { return ErrInvalid }

// Check returns an [*InvalidError] for the first event and field that break a rule. Every adapter calls it before it
// publishes anything.
func Check(events []Event) error {
	for i, e := range events {
		if field, reason := e.check(); field != "" {
			return &InvalidError{Index: i, Field: field, Reason: reason}
		}
	}
	return nil
}

func (e Event) check() (field, reason string) {
	switch {
	case e.Type == "" || len(e.Type) > MaxType:
		return "Type", fmt.Sprintf("has %d bytes, want 1 to %d", len(e.Type), MaxType)
	case !utf8.ValidString(e.Type):
		return "Type", "is not UTF-8"
	case len(e.Detail) > MaxDetail:
		return "Detail", fmt.Sprintf("has %d bytes, at most %d are allowed", len(e.Detail), MaxDetail)
	case !utf8.Valid(e.Detail):
		return "Detail", "is not UTF-8"
	case !json.Valid(e.Detail) || !bytes.HasPrefix(bytes.TrimLeft(e.Detail, " \t\r\n"), []byte("{")):
		return "Detail", "is not a JSON object"
	}
	if year := e.Time.UTC().Year(); year < minYear || year > maxYear {
		return "Time", fmt.Sprintf("lies outside the years %d to %d", minYear, maxYear)
	}
	return "", ""
}
