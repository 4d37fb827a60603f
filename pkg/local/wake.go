package local

import (
	"context"

	"nexus/pkg/item"
	"nexus/pkg/table"
)

// wakingStore makes the stream's readers read at once after each write, rather than at their next poll: a poll's
// interval would be most of the time between a write and its effects. It wakes them after an error as well, because
// the write may be there.
type wakingStore struct {
	table.Store
	wake func()
}

func (s wakingStore) Put(ctx context.Context, p table.Put) error {
	defer s.wake()
	return s.Store.Put(ctx, p)
}

func (s wakingStore) Update(ctx context.Context, u table.Update) (item.Item, error) {
	defer s.wake()
	return s.Store.Update(ctx, u)
}

func (s wakingStore) Delete(ctx context.Context, d table.Delete) error {
	defer s.wake()
	return s.Store.Delete(ctx, d)
}

func (s wakingStore) Transact(ctx context.Context, actions ...table.Action) error {
	defer s.wake()
	return s.Store.Transact(ctx, actions...)
}

func (s wakingStore) Load(ctx context.Context, rows []item.Item) error {
	defer s.wake()
	return s.Store.Load(ctx, rows)
}
