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
	forgotten int  // how often Forget was called
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
	all, err := f.remembered(ctx, []string{user})
	return all[user].state, all[user].eraseAt, err
}

// remembered returns an answer for each user, at most [Fence.Memory] old. It asks for all others in one request.
func (f *Fence) remembered(ctx context.Context, users []string) (map[string]answer, error) {
	now := f.Now().Round(0) // without the monotonic reading
	all, unknown := make(map[string]answer, len(users)), []string(nil)
	f.mu.Lock()
	for _, user := range users {
		known, ok := f.known[user]
		if age := now.Sub(known.asked); ok && age >= 0 && age < f.Memory {
			all[user] = known
		} else {
			unknown = append(unknown, user)
		}
	}
	forgotten := f.forgotten
	f.mu.Unlock()
	if len(unknown) == 0 {
		return all, nil
	}
	rows, err := f.read(ctx, unknown, now, f.Store.Peek)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for user, is := range rows {
		all[user] = answer{is.state, is.eraseAt, now}
		if f.Memory == 0 || forgotten != f.forgotten {
			continue
		}
		if len(f.known) >= maxKnown {
			clear(f.known)
		}
		f.known[user] = all[user]
	}
	return all, nil
}

// Forget drops what is remembered, and lets no read that has begun be remembered. Who has changed an account's state in
// this process calls it, so that the change holds from then on.
func (f *Fence) Forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.known)
	f.forgotten++
}

// Fresh returns the account's state as of now: read consistently, and not remembered. It is for work from a shell,
// which may stand still for any time between two of its steps.
func (f *Fence) Fresh(ctx context.Context, user string) (State, error) {
	all, err := f.read(ctx, []string{user}, f.Now(), f.Store.BatchGet)
	return all[user].state, err
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

// Gone returns those of the users for whom nothing may be done. Half a read unit for each that is not remembered, in
// one request for every hundred keys.
func (f *Fence) Gone(ctx context.Context, users []string) (map[string]bool, error) {
	all, err := f.remembered(ctx, users)
	gone := map[string]bool{}
	for user, is := range all {
		if is.state.IsGone() {
			gone[user] = true
		}
	}
	return gone, err
}

// read reads the states of users, each named once, and the check of the pepper until it was found right. A table
// without the check has no account's row: the first of them is put in one transaction with it.
func (f *Fence) read(
	ctx context.Context, users []string, now time.Time, get func(context.Context, []item.Key) ([]item.Item, error),
) (map[string]row, error) {
	all, userOf, keys := make(map[string]row, len(users)), map[item.Key]string{}, []item.Key(nil)
	for _, user := range users {
		name := f.Pepper.Erasure(user)
		key := departure.StateKey(name)
		all[user], userOf[key], keys = row{name: name}, user, append(keys, key)
	}
	f.mu.Lock()
	isChecked := f.isChecked
	f.mu.Unlock()
	if !isChecked {
		keys = append(keys, departure.PepperKey())
	}
	rows, err := get(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read the state of an account: %w", err)
	}
	for _, it := range rows {
		if it.Key() == departure.PepperKey() {
			if it.Str(attrCheck) != f.Pepper.Check() {
				return nil, ErrPepper
			}
			f.mu.Lock()
			f.isChecked = true
			f.mu.Unlock()
			continue
		}
		user := userOf[it.Key()]
		all[user] = readRow(all[user].name, it, now)
	}
	return all, nil
}
