// Package memory delivers hints in memory, for the simulation, the instruments and tests of the code above the port.
// It keeps the hints that it sent, and lets faults be injected into every call.
package memory

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"nexus/pkg/push"
)

// Hint is one hint that was sent.
type Hint struct{ Channel, Event string }

// Fault is asked before each hint is sent; its error is returned instead. It is called concurrently.
type Fault func(ctx context.Context, user, token string) error

// Pusher is the adapter.
type Pusher struct {
	fault Fault

	mu    sync.Mutex
	hints []Hint
}

var _ push.Pusher = (*Pusher)(nil)

// New returns a pusher without hints. A nil fault injects nothing.
func New(fault Fault) *Pusher {
	if fault == nil {
		fault = func(context.Context, string, string) error { return nil }
	}
	return &Pusher{fault: fault}
}

// Hint implements the port.
func (p *Pusher) Hint(ctx context.Context, user, token string) error {
	channel, event, err := push.Event(user, token)
	if err == nil && ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", push.ErrUnavailable, ctx.Err())
	}
	if err == nil {
		err = p.fault(ctx, user, token)
	}
	if err != nil {
		return fmt.Errorf("send a hint: %w", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hints = append(p.hints, Hint{channel, string(event)})
	return nil
}

// Hints returns the hints in the order in which they were sent.
func (p *Pusher) Hints() []Hint {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.hints)
}
