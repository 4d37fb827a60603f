package fault

import (
	"context"

	"nexus/pkg/bus"
	"nexus/pkg/item"
	"nexus/pkg/schedule"
	"nexus/pkg/table"
)

// Store is the table as one part has it.
type Store struct {
	table.Store
	Box  *Box
	Part string
}

// value makes a call that returns a value.
func value[T any](ctx context.Context, s Store, operation string, do func() (T, error)) (out T, err error) {
	err = s.Box.Call(ctx, s.Part, operation, table.ErrThrottled, table.ErrUnavailable, func() (err error) {
		out, err = do()
		return err
	})
	return out, err
}

func (s Store) call(ctx context.Context, operation string, do func() error) error {
	return s.Box.Call(ctx, s.Part, operation, table.ErrThrottled, table.ErrUnavailable, do)
}

// Get implements [table.Store].
func (s Store) Get(ctx context.Context, key item.Key) (item.Item, error) {
	return value(ctx, s, "Get", func() (item.Item, error) { return s.Store.Get(ctx, key) })
}

// BatchGet implements [table.Store].
func (s Store) BatchGet(ctx context.Context, keys []item.Key) ([]item.Item, error) {
	return value(ctx, s, "BatchGet", func() ([]item.Item, error) { return s.Store.BatchGet(ctx, keys) })
}

// Query implements [table.Store].
func (s Store) Query(ctx context.Context, q table.Query) (table.Page, error) {
	return value(ctx, s, "Query", func() (table.Page, error) { return s.Store.Query(ctx, q) })
}

// Put implements [table.Store].
func (s Store) Put(ctx context.Context, p table.Put) error {
	return s.call(ctx, "Put", func() error { return s.Store.Put(ctx, p) })
}

// Update implements [table.Store].
func (s Store) Update(ctx context.Context, u table.Update) (item.Item, error) {
	return value(ctx, s, "Update", func() (item.Item, error) { return s.Store.Update(ctx, u) })
}

// Delete implements [table.Store].
func (s Store) Delete(ctx context.Context, d table.Delete) error {
	return s.call(ctx, "Delete", func() error { return s.Store.Delete(ctx, d) })
}

// Transact implements [table.Store].
func (s Store) Transact(ctx context.Context, actions ...table.Action) error {
	return s.call(ctx, "Transact", func() error { return s.Store.Transact(ctx, actions...) })
}

// The parts of ports that all parts of the system share.
const (
	PartScheduler = "scheduler"
	PartBus       = "bus"
)

// Scheduler is the scheduler of all parts.
type Scheduler struct {
	schedule.Scheduler
	Box *Box
}

// Put implements [schedule.Scheduler].
func (s Scheduler) Put(ctx context.Context, one schedule.Schedule) error {
	return s.Box.Call(ctx, PartScheduler, "Put", schedule.ErrThrottled, schedule.ErrUnavailable,
		func() error { return s.Scheduler.Put(ctx, one) })
}

// Delete implements [schedule.Scheduler].
func (s Scheduler) Delete(ctx context.Context, name string) error {
	return s.Box.Call(ctx, PartScheduler, "Delete", schedule.ErrThrottled, schedule.ErrUnavailable,
		func() error { return s.Scheduler.Delete(ctx, name) })
}

// Bus is the bus of all parts.
type Bus struct {
	bus.Bus
	Box *Box
}

// Publish implements [bus.Bus].
func (s Bus) Publish(ctx context.Context, events ...bus.Event) error {
	return s.Box.Call(ctx, PartBus, "Publish", bus.ErrThrottled, bus.ErrUnavailable,
		func() error { return s.Bus.Publish(ctx, events...) })
}
