package account

import (
	"context"
	"encoding/json"
	"fmt"

	"nexus/pkg/blob"
	"nexus/pkg/bus"
	"nexus/pkg/item"
	"nexus/pkg/register"
	"nexus/pkg/schedule"
	"nexus/pkg/table"
)

// Guard keeps work from a shell from writing anything for an account that is gone. A process there may stand still for
// any time between a read and a write, so the state is asked before each write and event, consistently. The work itself
// then fails with [ErrErased].
type Guard struct{ fence *Fence }

// NewGuard returns a guard that asks the fence.
func NewGuard(f *Fence) Guard { return Guard{f} }

func (g Guard) check(ctx context.Context, users ...string) error {
	for i, user := range users {
		if user == "" || i > 0 && users[i-1] == user {
			continue
		}
		switch state, err := g.fence.Fresh(ctx, user); {
		case err != nil:
			return err
		case state.IsGone():
			return ErrErased
		}
	}
	return nil
}

// Store returns a store whose writes are guarded.
func (g Guard) Store(s table.Store) table.Store { return guardedStore{s, g} }

type guardedStore struct {
	table.Store
	guard Guard
}

func (s guardedStore) check(ctx context.Context, keys ...item.Key) error {
	users := make([]string, len(keys))
	for i, key := range keys {
		users[i], _ = OwnerOf(key.PK)
	}
	return s.guard.check(ctx, users...)
}

func (s guardedStore) Put(ctx context.Context, p table.Put) error {
	if err := s.check(ctx, p.Target()); err != nil {
		return err
	}
	return s.Store.Put(ctx, p)
}

func (s guardedStore) Update(ctx context.Context, u table.Update) (item.Item, error) {
	if err := s.check(ctx, u.Target()); err != nil {
		return nil, err
	}
	return s.Store.Update(ctx, u)
}

func (s guardedStore) Transact(ctx context.Context, actions ...table.Action) error {
	keys := make([]item.Key, len(actions))
	for i, a := range actions {
		keys[i] = a.Target()
	}
	if err := s.check(ctx, keys...); err != nil {
		return err
	}
	return s.Store.Transact(ctx, actions...)
}

func (s guardedStore) Load(ctx context.Context, rows []item.Item) error {
	keys := make([]item.Key, len(rows))
	for i, row := range rows {
		keys[i] = row.Key()
	}
	if err := s.check(ctx, keys...); err != nil {
		return err
	}
	return s.Store.Load(ctx, rows)
}

// Scheduler returns a scheduler whose Puts are guarded; nil for nil. A payload names its user.
func (g Guard) Scheduler(s schedule.Scheduler) schedule.Scheduler {
	if s == nil {
		return nil
	}
	return guardedScheduler{s, g}
}

type guardedScheduler struct {
	schedule.Scheduler
	guard Guard
}

func (s guardedScheduler) Put(ctx context.Context, in schedule.Schedule) error {
	if err := s.guard.checkNamed(ctx, in.Payload); err != nil {
		return fmt.Errorf("guard schedule %s: %w", in.Name, err)
	}
	return s.Scheduler.Put(ctx, in)
}

// checkNamed checks the user whom a JSON object names.
func (g Guard) checkNamed(ctx context.Context, object []byte) error {
	var of struct {
		UserID string `json:"userId"`
	}
	if err := json.Unmarshal(object, &of); err != nil {
		return err
	}
	return g.check(ctx, of.UserID)
}

// Bus returns a bus whose events are guarded; nil for nil. An event's detail names its user.
func (g Guard) Bus(b bus.Bus) bus.Bus {
	if b == nil {
		return nil
	}
	return guardedBus{b, g}
}

type guardedBus struct {
	bus.Bus
	guard Guard
}

func (b guardedBus) Publish(ctx context.Context, events ...bus.Event) error {
	for _, e := range events {
		if err := b.guard.checkNamed(ctx, e.Detail); err != nil {
			return fmt.Errorf("guard event %s: %w", e.Type, err)
		}
	}
	return b.Bus.Publish(ctx, events...)
}

// Objects returns an object store whose Puts are guarded; nil for nil.
func (g Guard) Objects(s blob.Store) blob.Store {
	if s == nil {
		return nil
	}
	return guardedObjects{s, g}
}

type guardedObjects struct {
	blob.Store
	guard Guard
}

func (o guardedObjects) Put(ctx context.Context, name string, body []byte) error {
	user, _ := register.OwnerOf(name)
	if err := o.guard.check(ctx, user); err != nil {
		return err
	}
	return o.Store.Put(ctx, name, body)
}
