// Package local is the bus of the local platform: events in memory and, with a directory, in an append-only file.
// People can read them there. Tests of other packages use bus/memory.
//
// It promises what the port does: published events are on disk when Publish returns and survive a SIGKILL. It
// preserves the order of publication and repeats nothing by itself. It must never trim the file, except where it
// forgets a user. One directory belongs
// to one bus at a time.
package local

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"nexus/pkg/bus"
)

// TailSize is the number of latest events that a bus with a directory holds in memory. One without holds all.
const TailSize = 1000

// Config holds the directory of the events.
type Config struct {
	Dir string // created if missing; empty: memory only, as the platform's memory store
}

// Bus is the adapter.
type Bus struct {
	log *log // nil: memory only

	mu    sync.Mutex
	tail  []bus.Event // the latest
	count int         // of all events ever published here
}

var _ bus.Bus = (*Bus)(nil)

// New returns a bus with the events found in the directory. It cuts off a half-written end of the file, which a crash
// left: no caller received a success for it. Any other unreadable content is an error.
func New(cfg Config) (*Bus, error) {
	b := &Bus{}
	if cfg.Dir == "" {
		return b, nil
	}
	opened, err := openLog(cfg.Dir, b.remember)
	if err != nil {
		return nil, fmt.Errorf("open events in %s: %w", cfg.Dir, err)
	}
	b.log = opened
	return b, nil
}

// Publish implements the port.
func (b *Bus) Publish(ctx context.Context, events ...bus.Event) error {
	if err := bus.Check(events); err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("publish %d events: %w: %w", len(events), bus.ErrUnavailable, err)
	}
	accepted := make([]bus.Event, len(events))
	for i, e := range events {
		var err error
		if accepted[i], err = normal(e); err != nil {
			return fmt.Errorf("publish: %w", err)
		}
	}
	if err := b.keep(accepted); err != nil {
		return fmt.Errorf("publish %d events: %w: %w", len(events), bus.ErrUnavailable, err)
	}
	return nil
}

// normal returns a private copy of an event, in the form that it has when it is read, from memory and from disk alike.
func normal(e bus.Event) (bus.Event, error) {
	var detail bytes.Buffer
	if err := json.Compact(&detail, e.Detail); err != nil {
		return bus.Event{}, fmt.Errorf("compact the detail of a %s: %w: %w", e.Type, bus.ErrInvalid, err)
	}
	return bus.Event{Type: e.Type, Detail: detail.Bytes(), Time: e.Time.UTC().Truncate(time.Second)}, nil
}

func (b *Bus) keep(events []bus.Event) error {
	if len(events) == 0 {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.log != nil {
		if err := b.log.append(events); err != nil {
			return err
		}
	}
	for _, e := range events {
		b.remember(e)
	}
	return nil
}

func (b *Bus) remember(e bus.Event) {
	b.tail = append(b.tail, e)
	b.count++
	// Cutting at twice the size copies each event once at most.
	if b.log != nil && len(b.tail) >= 2*TailSize {
		b.tail = slices.Clone(b.tail[len(b.tail)-TailSize:])
	}
}

// All returns every event in the order of publication.
func (b *Bus) All() ([]bus.Event, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.log == nil {
		return copies(b.tail), nil
	}
	all, err := b.log.all()
	if err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	return all, nil
}

// Tail returns the latest n events. It returns fewer if there are fewer or, with a directory, if n exceeds [TailSize].
func (b *Bus) Tail(n int) []bus.Event {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.log != nil {
		n = min(n, TailSize)
	}
	return copies(b.tail[max(0, len(b.tail)-max(0, n)):])
}

// From returns at most n events from the number on, in the order of publication. Events are numbered from 0.
func (b *Bus) From(number, n int) ([]bus.Event, error) {
	last := min(number+n, b.Published())
	if last <= number {
		return nil, nil
	}
	events, _, err := b.Before(last, last-number)
	return events, err
}

// Published returns the number of all events, those that were forgotten left aside.
func (b *Bus) Published() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.count
}

// CountBefore returns how many of the events before the number name the user as their detail's userId.
func (b *Bus) CountBefore(user string, number int) (n int, err error) {
	events, err := b.From(0, number)
	for _, e := range events {
		if names(e, user) {
			n++
		}
	}
	return n, err
}

// Before returns the latest n events before the one with that number, in the order of publication, and the number of
// the first of them. Events are numbered from 0; a number after the last event, or below 0, selects from all of them.
func (b *Bus) Before(number, n int) (events []bus.Event, first int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if number < 0 || number > b.count {
		number = b.count
	}
	first = max(0, number-max(0, n))
	if kept := b.count - len(b.tail); first >= kept {
		return copies(b.tail[first-kept : number-kept]), first, nil
	}
	if events, err = b.log.part(first, number); err != nil {
		return nil, 0, fmt.Errorf("read events: %w", err)
	}
	return events, first, nil
}

// Count returns how many events name the user as their detail's userId.
func (b *Bus) Count(user string) (n int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.tail
	if b.log != nil {
		if all, err = b.log.all(); err != nil {
			return 0, err
		}
	}
	for _, e := range all {
		if names(e, user) {
			n++
		}
	}
	return n, nil
}

// names reports whether the event's detail names the user.
func names(e bus.Event, user string) bool {
	var detail struct {
		UserID string `json:"userId"`
	}
	return json.Unmarshal(e.Detail, &detail) == nil && detail.UserID == user
}

// Forget removes the events whose detail names the user as its userId, and returns how many they were. The events after
// them get other numbers. The file is replaced in one step.
func (b *Bus) Forget(user string) (removed int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	keeps := func(e bus.Event) bool { return !names(e, user) }
	if b.log != nil {
		if removed, err = b.log.filter(keeps); err != nil || removed == 0 {
			return 0, err
		}
	}
	left := slices.DeleteFunc(slices.Clone(b.tail), func(e bus.Event) bool { return !keeps(e) })
	if b.log == nil {
		removed = len(b.tail) - len(left)
	}
	b.tail, b.count = left, b.count-removed
	return removed, nil
}

// Close closes the file. A Publish after it fails if there is one.
func (b *Bus) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.log == nil {
		return nil
	}
	return b.log.close()
}

func copies(events []bus.Event) []bus.Event {
	out := slices.Clone(events)
	for i := range out {
		out[i].Detail = bytes.Clone(out[i].Detail)
	}
	return out
}
