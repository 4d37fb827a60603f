// Package schedule is the port through which effects ask to be called at an instant: one named, one-time schedule for
// each thing that will be due, carrying what its target needs to know.
//
// It promises that a schedule put is delivered at least once at or after its instant, also if the caller dies, until it
// is replaced or deleted; how late, each adapter says. It promises no order between schedules and no exact count:
// whoever is called must bear being called twice, late, or for a schedule that was deleted while its delivery was on
// the way. It never deletes a schedule by itself: a delivered one stays under its name until its owner replaces or
// deletes it.
package schedule

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"nexus/pkg/port"
)

// Bounds of one schedule.
const (
	// MaxName is the length of a name in bytes (EventBridge Scheduler, CreateSchedule, Name).
	MaxName = 64
	// MaxPayload is the size of a payload in bytes. What is due is named in a payload, not copied into it; this is well
	// inside what every target of EventBridge Scheduler takes.
	MaxPayload = 64 << 10
	// MaxYear is the last year that the four digits of a schedule expression can name.
	MaxYear = 9999
	// minYear keeps zero and half-built times out.
	minYear = 1970
)

// Schedule is a call to be made once.
type Schedule struct {
	// Name identifies it: 1 to [MaxName] of 0-9, a-z, A-Z, hyphen, underscore and point, but neither "." nor "..", which
	// vanish from the path of a URL. Names differ by case.
	Name string
	// At is the instant of the call in whole seconds; adapters hold it in UTC. One in the past is the caller's to
	// deliver: whether a past schedule is ever called is not promised.
	At time.Time
	// Payload is handed to the target as it stands: JSON text in UTF-8, at most [MaxPayload] bytes.
	Payload []byte
}

// Scheduler is the port. All methods are safe for concurrent use. An error leaves the outcome unknown, except
// [ErrInvalid], which changes nothing: repeat the call.
type Scheduler interface {
	// Put creates the schedule, or replaces all of the one with its name. A replaced schedule waits for its call again,
	// also if the former one was already made, and also at the same instant.
	Put(ctx context.Context, s Schedule) error
	// Delete removes the schedule; a missing one is done already. A call that is on its way is not recalled.
	Delete(ctx context.Context, name string) error
}

// Lister reads what is scheduled. It is for operators' tools alone: no consumer decides by what the scheduler holds.
type Lister interface {
	// Find returns the schedule of that name, waiting or called, or [ErrNotFound].
	Find(ctx context.Context, name string) (Schedule, error)
	// Each calls visit for the name of each schedule that begins with the prefix, in no order, and stops at its first
	// error. Schedules that come or go meanwhile may be visited or not.
	Each(ctx context.Context, prefix string, visit func(name string) error) error
}

// Errors on which callers decide. They are matched with errors.Is.
var (
	// ErrThrottled: the scheduler refused for load; try again later.
	ErrThrottled = port.Error("scheduler throttled", port.ErrThrottled)
	// ErrUnavailable: the scheduler failed, did not answer, or does not serve this caller now; try again later.
	ErrUnavailable = port.Error("scheduler unavailable", port.ErrUnavailable)
	// ErrQuota: no more schedules fit; try again when some are gone or the quota has been raised.
	ErrQuota = errors.New("scheduler quota exceeded")
	// ErrNotFound: there is no such schedule. Only a [Lister] says so.
	ErrNotFound = port.Error("schedule not found", port.ErrNotFound)
	// ErrInvalid: the schedule itself is refused; repeating it cannot help.
	ErrInvalid = port.Error("schedule refused", port.ErrInvalid)
)

// InvalidError names the field that broke its rule. It matches [ErrInvalid].
type InvalidError struct {
	Field  string // Name, At or Payload
	Reason string
}

func (e *InvalidError) Error() string { return fmt.Sprintf("schedule %s %s", e.Field, e.Reason) }

// Is makes the error match ErrInvalid.
func (e *InvalidError) Is(target error) bool { return target == ErrInvalid }

// Check returns an [*InvalidError] for the first field that breaks its rule. Every adapter calls it before anything
// else.
func (s Schedule) Check() error {
	if err := CheckName(s.Name); err != nil {
		return err
	}
	if s.At.Nanosecond() != 0 {
		return &InvalidError{"At", "is not in whole seconds"}
	}
	if year := s.At.UTC().Year(); year < minYear || year > MaxYear {
		return &InvalidError{"At", fmt.Sprintf("lies outside the years %d to %d", minYear, MaxYear)}
	}
	switch {
	case len(s.Payload) > MaxPayload:
		return &InvalidError{"Payload", fmt.Sprintf("has %d bytes, at most %d are allowed", len(s.Payload), MaxPayload)}
	case !utf8.Valid(s.Payload):
		return &InvalidError{"Payload", "is not UTF-8"}
	case !json.Valid(s.Payload):
		return &InvalidError{"Payload", "is not JSON"}
	}
	return nil
}

// CheckName returns an [*InvalidError] if the name breaks its rule.
func CheckName(name string) error {
	if name == "" || len(name) > MaxName {
		return &InvalidError{"Name", fmt.Sprintf("has %d bytes, want 1 to %d", len(name), MaxName)}
	}
	if name == "." || name == ".." {
		return &InvalidError{"Name", fmt.Sprintf("%q stands for a folder", name)}
	}
	for i := range len(name) {
		if !nameByte(name[i]) {
			return &InvalidError{"Name", fmt.Sprintf("%q has a character outside 0-9a-zA-Z-_.", name)}
		}
	}
	return nil
}

func nameByte(c byte) bool {
	switch {
	case '0' <= c && c <= '9', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		return true
	}
	return c == '-' || c == '_' || c == '.'
}
