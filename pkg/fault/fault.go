// Package fault makes calls fail on purpose, in a running system: it shows that what is derived is right all the same.
//
// A [Box] holds the faults that are armed. Wrappers of ports and of handlers ask it at each call; while nothing is
// armed, that is one comparison. Each fault disarms itself after its calls and after [MostTime].
//
// It promises that nothing fails that is not named, and that a fault that is not armed again ends by itself. It must
// never be part of a deployed function.
package fault

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Kind names a fault.
type Kind string

const (
	// Kill ends a delivery when its effects are there and it is not acknowledged: it comes again as a whole.
	Kill Kind = "kill"
	// LoseAnswer lets a call of a port take effect, and answers with an error.
	LoseAnswer Kind = "loseAnswer"
	// Throttle refuses a call of a port.
	Throttle Kind = "throttle"
	// Delay makes a call of a port wait for [Slow].
	Delay Kind = "delay"
	// TwoWorkers carries a delivery out twice at the same time.
	TwoWorkers Kind = "twoWorkers"
)

// Kinds are all kinds.
func Kinds() []Kind { return []Kind{Kill, LoseAnswer, Throttle, Delay, TwoWorkers} }

const (
	// MostTimes bounds the calls of one fault, MostTime how long it stays armed, and MostArmed how many there are.
	MostTimes = 100
	MostTime  = time.Minute
	MostArmed = 20
	// Slow is how long a delayed call waits.
	Slow = 2 * time.Second
)

// Errors of calls that failed on purpose.
var (
	ErrKilled = errors.New("killed on purpose, before it was acknowledged")
	// ErrFull says that no more faults can be armed.
	ErrFull = fmt.Errorf("at most %d faults are armed at a time", MostArmed)
)

// Armed is a fault that waits for its calls.
type Armed struct {
	ID        int       `json:"id"`
	Fault     Kind      `json:"fault"`
	Part      string    `json:"part"`                // of the system, or a consumer
	Operation string    `json:"operation,omitempty"` // of the port; empty for any
	Times     int       `json:"times"`
	Fired     int       `json:"fired"`
	Until     time.Time `json:"until"`
}

// Box holds the armed faults. It is safe for concurrent use.
type Box struct {
	now  func() time.Time
	wait func(ctx context.Context, d time.Duration) error
	told func(Armed)

	any   atomic.Bool
	mu    sync.Mutex
	last  int
	armed []*Armed
}

// New returns an empty box. Told is called for each call that a fault has hit.
func New(now func() time.Time, wait func(context.Context, time.Duration) error, told func(Armed)) *Box {
	return &Box{now: now, wait: wait, told: told}
}

// Arm arms a fault for its next calls, and returns it.
func (b *Box) Arm(kind Kind, part, operation string, times int) (Armed, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expire()
	if len(b.armed) >= MostArmed {
		return Armed{}, ErrFull
	}
	b.last++
	one := &Armed{
		ID: b.last, Fault: kind, Part: part, Operation: operation, Times: times, Until: b.now().Add(MostTime),
	}
	b.armed = append(b.armed, one)
	b.any.Store(true)
	return *one, nil
}

// All returns the armed faults.
func (b *Box) All() []Armed {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expire()
	out := []Armed{}
	for _, one := range b.armed {
		out = append(out, *one)
	}
	return out
}

// Disarm disarms all faults.
func (b *Box) Disarm() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.armed = nil
	b.any.Store(false)
}

func (b *Box) expire() {
	b.armed = slices.DeleteFunc(b.armed, func(one *Armed) bool {
		return one.Fired >= one.Times || !b.now().Before(one.Until)
	})
	b.any.Store(len(b.armed) > 0)
}

// Hit reports whether a fault of one of the kinds is armed for the call, and counts it. A part matches if it is one of
// the parts.
func (b *Box) Hit(operation string, kinds []Kind, parts ...string) (Kind, bool) {
	if !b.any.Load() {
		return "", false
	}
	b.mu.Lock()
	b.expire()
	i := slices.IndexFunc(b.armed, func(one *Armed) bool {
		return slices.Contains(kinds, one.Fault) && slices.Contains(parts, one.Part) &&
			(one.Operation == "" || one.Operation == operation)
	})
	if i < 0 {
		b.mu.Unlock()
		return "", false
	}
	b.armed[i].Fired++
	one := *b.armed[i]
	b.expire()
	b.mu.Unlock()
	b.told(one)
	return one.Fault, true
}

var ofPorts = []Kind{LoseAnswer, Throttle, Delay}

// Call makes a call of a port for a part. Throttled and unavailable are the port's errors.
func (b *Box) Call(ctx context.Context, part, operation string, throttled, unavailable error, do func() error) error {
	kind, hit := b.Hit(operation, ofPorts, part)
	if !hit {
		return do()
	}
	switch kind {
	case Throttle:
		return fmt.Errorf("%s on purpose: %w", operation, throttled)
	case Delay:
		if err := b.wait(ctx, Slow); err != nil {
			return fmt.Errorf("%s: %w", operation, err)
		}
		return do()
	}
	if err := do(); err != nil {
		return err
	}
	return fmt.Errorf("%s lost its answer on purpose: %w", operation, unavailable)
}

// Handler takes an event and returns its answer.
type Handler func(ctx context.Context, event []byte) ([]byte, error)

// Deliveries wraps a handler of a reader with these consumers.
func (b *Box) Deliveries(handle Handler, parts ...string) Handler {
	return func(ctx context.Context, event []byte) ([]byte, error) {
		kind, hit := b.Hit("", []Kind{Kill, TwoWorkers}, parts...)
		if !hit {
			return handle(ctx, event)
		}
		if kind == Kill {
			if _, err := handle(ctx, event); err != nil {
				return nil, err
			}
			return nil, ErrKilled
		}
		var other sync.WaitGroup
		other.Go(func() {
			_, _ = handle(ctx, event) // the other worker's answer counts
		})
		defer other.Wait()
		return handle(ctx, event)
	}
}
