// Package schedule is the port through which effects request a call at an instant: one named, one-time schedule for
// each due item, with the payload for its target.
//
// It promises that a schedule put is delivered at least once at or after its instant, until it is replaced or deleted.
// That holds also if the caller crashes; each adapter says how late. It promises no order between schedules and no
// exact count. The target must tolerate a call that is repeated, late, or for a schedule that was deleted while its
// delivery was on the way. It must never delete a schedule by itself: a delivered one stays under its name until its
// owner replaces or deletes it.
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
	// MaxPayload is the size of a payload in bytes. A payload names what is due and does not copy it; this is well inside
	// the limit of every target of EventBridge Scheduler.
	MaxPayload = 64 << 10
	// MaxYear is the last year with four digits, which a schedule expression requires.
	MaxYear = 9999
	// minYear excludes zero and incomplete times.
	minYear = 1970
)

// Schedule is a call to be made once.
type Schedule struct {
	// Name identifies it: 1 to [MaxName] of 0-9, a-z, A-Z, hyphen, underscore and point, but neither "." nor "..", which
	// disappear from the path of a URL. Names differ by case.
	Name string
	// At is the instant of the call in whole seconds; adapters store it in UTC. Whether a past schedule is ever called is
	// not promised: the caller itself delivers what is already due.
	At time.Time
	// Payload is passed to the target unchanged: JSON text in UTF-8, at most [MaxPayload] bytes.
	Payload []byte
}

// Scheduler is the port. All methods are safe for concurrent use. An error leaves the outcome unknown, except
// [ErrInvalid], which changes nothing: repeat the call.
type Scheduler interface {
	// Put creates the schedule, or replaces the one of its name as a whole. A replaced schedule waits for its call again,
	// even if the former call was already made, and even at the same instant.
	Put(ctx context.Context, s Schedule) error
	// Delete removes the schedule; a missing one counts as removed. A call that is on its way is not recalled.
	Delete(ctx context.Context, name string) error
}

// Lister reads the schedules. It is for operators' tools and erasures alone: no consumer decides by the scheduler's
// content.
type Lister interface {
	// Find returns the schedule of that name, waiting or called, or [ErrNotFound]. One with another
	// target, role or queue than this deployment's has the zero instant.
	Find(ctx context.Context, name string) (Schedule, error)
	// Each calls visit for the name of each schedule that begins with the prefix, in no order, and stops at its first
	// error. Schedules that are put or deleted during the call may be visited or not.
	Each(ctx context.Context, prefix string, visit func(name string) error) error
}

// Errors on which callers decide. They are matched with errors.Is.
var (
	// ErrThrottled says that the scheduler refused for load; try again later.
	ErrThrottled = port.Error("scheduler throttled", port.ErrThrottled)
	// ErrUnavailable says that the scheduler failed, did not answer, or does not serve this caller now; try again later.
	ErrUnavailable = port.Error("scheduler unavailable", port.ErrUnavailable)
	// ErrQuota says that no more schedules fit; try again when there are fewer or the quota is higher.
	ErrQuota = errors.New("scheduler quota exceeded")
	// ErrNotFound says that there is no such schedule. Only a [Lister] returns it.
	ErrNotFound = port.Error("schedule not found", port.ErrNotFound)
	// ErrInvalid says that the schedule itself is refused; repeating it cannot help.
	ErrInvalid = port.Error("schedule refused", port.ErrInvalid)
)

// InvalidError names the field that broke its rule. It matches [ErrInvalid].
type InvalidError struct {
	Field  string // Name, At or Payload
	Reason string
}

func (e *InvalidError) Error() string { return fmt.Sprintf("schedule %s %s", e.Field, e.Reason) }

// Unwrap makes the error match ErrInvalid and its kind.
func (e *InvalidError) Unwrap() error { return ErrInvalid }

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
