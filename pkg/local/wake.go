package local

import (
	"context"
	"time"

	"nexus/pkg/fault"
	"nexus/pkg/item"
	"nexus/pkg/system"
	"nexus/pkg/table"
)

// wakeWithin is the time within which readers are woken after a write that serves no request. Such writes come in
// numbers, most of them of consumers, and few lead to anything: a read after each would be a quarter of all calls.
const wakeWithin = 20 * time.Millisecond

// storeOf returns the store of a part. A request's write wakes the stream's readers at once, any other one within
// [wakeWithin]. A change of an account's state holds as soon as it is written.
func (p *Platform) storeOf(part string) table.Store {
	servesRequests := part == system.PartAPI || part == system.PartLimits
	store := wakingStore{p.backend.newStore(p.meters.observerOf(part), servesRequests), p.wakeSoon}
	if p.faults != nil {
		store.Store = fault.Store{Store: store.Store, Box: p.faults, Part: part}
	}
	switch part {
	case system.PartAPI:
		store.wake = p.wake
	case system.PartErase:
		store.wake = func() {
			p.system.Fence.Forget()
			p.wakeSoon()
		}
	}
	return store
}

// wake makes every reader read the stream now.
func (p *Platform) wake() {
	p.stream.Wake()
	for _, r := range p.readers {
		r.mapping.Wake()
	}
}

// wakeSoon makes every reader read the stream within [wakeWithin].
func (p *Platform) wakeSoon() {
	if p.isWaking.CompareAndSwap(false, true) {
		time.AfterFunc(wakeWithin, func() {
			p.isWaking.Store(false)
			p.wake()
		})
	}
}

// wakingStore makes the stream's readers read after each write, rather than at their next poll: a poll's interval
// would be most of the time between a write and its effects. It wakes them after an error as well, because the write
// may be there.
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
