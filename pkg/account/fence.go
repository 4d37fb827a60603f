package account

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"nexus/pkg/entity/departure"
	"nexus/pkg/item"
	"nexus/pkg/pepper"
	"nexus/pkg/table"
)

// Memory is how long a function remembers an account's state.
const Memory = 60 * time.Second

// maxKnown bounds the accounts that a fence remembers.
const maxKnown = 10_000

// ErrPepper says that the pepper is not the one by which the deployment's accounts are named.
var ErrPepper = errors.New("the pepper is another than this table's")

// FenceConfig holds the dependencies of a fence. All are required.
type FenceConfig struct {
	Store  table.Reader
	Pepper pepper.Pepper
	// Now is the wall clock: a monotonic one may stand still while the process is frozen.
	Now func() time.Time
	// Memory is how long an answer is remembered; 0 for not at all.
	Memory time.Duration
}

// Fence tells what may be done for a user. It is safe for concurrent use.
type Fence struct {
	FenceConfig
	mu        sync.Mutex
	known     map[string]answer
	isChecked bool // the pepper is the table's
}

// answer holds what the fence read of a user, and when it began to read.
type answer struct {
	state   State
	eraseAt time.Time
	asked   time.Time
}

// NewFence returns a fence. It panics if something is missing, a mistake in the program.
func NewFence(c FenceConfig) *Fence {
	if c.Store == nil || c.Pepper.IsZero() || c.Now == nil {
		panic("account: a part of the FenceConfig is missing")
	}
	return &Fence{FenceConfig: c, known: map[string]answer{}}
}

// State returns the account's state and the instant of its erasure, at most [Fence.Memory] old. Half a read unit unless
// it is remembered.
func (f *Fence) State(ctx context.Context, user string) (State, time.Time, error) {
	now := f.Now().Round(0) // without the monotonic reading
	f.mu.Lock()
	known, ok := f.known[user]
	f.mu.Unlock()
	if age := now.Sub(known.asked); ok && age >= 0 && age < f.Memory {
		return known.state, known.eraseAt, nil
	}
	is, err := f.read(ctx, user, now, f.Store.Peek)
	if err != nil {
		return Present, time.Time{}, err
	}
	if f.Memory > 0 {
		f.mu.Lock()
		if len(f.known) >= maxKnown {
			clear(f.known)
		}
		f.known[user] = answer{is.state, is.eraseAt, now}
		f.mu.Unlock()
	}
	return is.state, is.eraseAt, nil
}

// Fresh returns the account's state as of now: read consistently, and not remembered. It is for work from a shell,
// which may stand still for any time between two of its steps.
func (f *Fence) Fresh(ctx context.Context, user string) (State, error) {
	is, err := f.read(ctx, user, f.Now(), f.Store.BatchGet)
	return is.state, err
}

// RefuseGone returns [ErrErased] for a user for whom nothing may be done, as of now.
func (f *Fence) RefuseGone(ctx context.Context, user string) error {
	state, err := f.Fresh(ctx, user)
	if err == nil && state.IsGone() {
		err = ErrErased
	}
	return err
}

// RefuseLeaving returns [ErrErased] or [ErrLeaving] for a user whose account may not be changed, as of now.
func (f *Fence) RefuseLeaving(ctx context.Context, user string) error {
	state, err := f.Fresh(ctx, user)
	switch {
	case err != nil:
		return err
	case state.IsGone():
		return ErrErased
	case state == Leaving:
		return ErrLeaving
	}
	return nil
}

// HasPepper reports whether the table has ever had an account that left: only with the pepper can such be told.
func HasPepper(ctx context.Context, store table.Reader) (bool, error) {
	it, err := table.Find(ctx, store, departure.PepperKey())
	return it != nil, err
}

// IsGone reports whether nothing may be done for the user.
func (f *Fence) IsGone(ctx context.Context, user string) (bool, error) {
	state, _, err := f.State(ctx, user)
	return state.IsGone(), err
}

// read reads the state and, until it was found right, the check of the pepper. A table without the check has no
// account's row: the first of them is put in one transaction with it.
func (f *Fence) read(
	ctx context.Context, user string, now time.Time, get func(context.Context, []item.Key) ([]item.Item, error),
) (row, error) {
	name := f.Pepper.Erasure(user)
	keys := []item.Key{departure.StateKey(name)}
	f.mu.Lock()
	isChecked := f.isChecked
	f.mu.Unlock()
	if !isChecked {
		keys = append(keys, departure.PepperKey())
	}
	rows, err := get(ctx, keys)
	if err != nil {
		return row{}, fmt.Errorf("read the state of an account: %w", err)
	}
	is := row{name: name}
	for _, it := range rows {
		if it.Key() == departure.PepperKey() {
			if it.Str(attrCheck) != f.Pepper.Check() {
				return row{}, ErrPepper
			}
			f.mu.Lock()
			f.isChecked = true
			f.mu.Unlock()
			continue
		}
		is = readRow(name, it, now)
	}
	return is, nil
}
