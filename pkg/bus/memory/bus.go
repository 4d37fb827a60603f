// Package memory is a bus in memory for the simulation, the instruments and tests of the code above the port. It
// promises what the port does, except that nothing outlives the process, and lets faults be injected around every call.
package memory

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"

	"nexus/pkg/bus"
)

// Fault is asked before (after is false) and after each call with events; its error is returned instead of going on, or
// of the success.
type Fault func(events []bus.Event, after bool) error

// Bus is the adapter.
type Bus struct {
	fault Fault

	mu     sync.Mutex
	events []bus.Event
}

var _ bus.Bus = (*Bus)(nil)

// New returns a bus without events. A nil fault injects nothing.
func New(fault Fault) *Bus {
	if fault == nil {
		fault = func([]bus.Event, bool) error { return nil }
	}
	return &Bus{fault: fault}
}

// Publish implements the port.
func (b *Bus) Publish(ctx context.Context, events ...bus.Event) error {
	err := bus.Check(events)
	if err == nil && ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", bus.ErrUnavailable, ctx.Err())
	}
	if err == nil {
		err = b.fault(events, false)
	}
	if err == nil {
		b.mu.Lock()
		for _, e := range events {
			e.Detail = bytes.Clone(e.Detail)
			b.events = append(b.events, e)
		}
		b.mu.Unlock()
		err = b.fault(events, true)
	}
	if err != nil {
		return fmt.Errorf("publish %d events: %w", len(events), err)
	}
	return nil
}

// Events returns the events in the order of publication.
func (b *Bus) Events() []bus.Event {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.events)
}
