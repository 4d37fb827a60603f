package revision_test

import (
	"context"
	"errors"
	"slices"

	"nexus/pkg/item"
	"nexus/pkg/table"
)

// fate is the outcome of one call to the store.
type fate int

const (
	done        fate = iota
	diedBefore       // the process dies, and the call has no effect
	diedAfter        // the process dies, and the call has had its effect
	lostBefore       // the answer is lost, and the call has no effect
	lostAfter        // the answer is lost, and the call has had its effect
	conflicting      // another transaction is on the rows
	throttled        // the store has too much to do
)

var errDied = errors.New("the process has died")

// actor is a process whose every call to the store waits for its turn. One goroutine runs it, another directs it, and
// never both at once.
type actor struct {
	table.Store
	turn   chan fate
	parked chan bool // true: waits at a call; false: its work is done
	dead   bool
	during string // the call at which it waits
	// published is called for each transaction that took effect.
	published func(actions []table.Action)
}

func newActor(store table.Store, published func([]table.Action)) *actor {
	return &actor{Store: store, turn: make(chan fate), parked: make(chan bool), published: published}
}

// begin lets the actor work until its first call, and reports whether it came to one.
func (a *actor) begin(work func()) bool {
	a.dead = false
	go func() {
		defer func() { a.parked <- false }() // also if an assertion ends it
		work()
	}()
	return <-a.parked
}

// proceed lets the call happen, and reports whether the actor came to another.
func (a *actor) proceed(f fate) bool {
	a.turn <- f
	return <-a.parked
}

func (a *actor) call(op string, act func() error) error {
	if a.dead {
		return errDied
	}
	a.during = op
	a.parked <- true
	f := <-a.turn
	if f == conflicting && op != "Transact" {
		f = done
	}
	var err error
	if f == done || f == diedAfter || f == lostAfter {
		err = act()
	}
	switch f {
	case diedBefore, diedAfter:
		a.dead = true
		return errDied
	case lostBefore, lostAfter:
		return table.ErrUnavailable
	case conflicting:
		return table.ErrConflict
	case throttled:
		return table.ErrThrottled
	}
	return err
}

func (a *actor) Get(ctx context.Context, key item.Key) (row item.Item, err error) {
	err = a.call("Get", func() (err error) { row, err = a.Store.Get(ctx, key); return err })
	return row, err
}

func (a *actor) BatchGet(ctx context.Context, keys []item.Key) (rows []item.Item, err error) {
	err = a.call("BatchGet", func() (err error) { rows, err = a.Store.BatchGet(ctx, keys); return err })
	return rows, err
}

func (a *actor) Query(ctx context.Context, q table.Query) (page table.Page, err error) {
	err = a.call("Query", func() (err error) { page, err = a.Store.Query(ctx, q); return err })
	return page, err
}

func (a *actor) Count(ctx context.Context, q table.Query) (n int, err error) {
	err = a.call("Count", func() (err error) { n, err = a.Store.Count(ctx, q); return err })
	return n, err
}

func (a *actor) Put(ctx context.Context, p table.Put) error {
	return a.call("Put", func() error { return a.Store.Put(ctx, p) })
}

func (a *actor) Update(ctx context.Context, u table.Update) (row item.Item, err error) {
	err = a.call("Update", func() (err error) { row, err = a.Store.Update(ctx, u); return err })
	return row, err
}

func (a *actor) Delete(ctx context.Context, d table.Delete) error {
	return a.call("Delete", func() error { return a.Store.Delete(ctx, d) })
}

func (a *actor) Transact(ctx context.Context, actions ...table.Action) error {
	return a.call("Transact", func() error {
		err := a.Store.Transact(ctx, actions...)
		if err == nil {
			a.published(actions)
		}
		return err
	})
}

// Load writes a few rows at a time, as the service does, with room for trouble in between.
func (a *actor) Load(ctx context.Context, rows []item.Item) error {
	for chunk := range slices.Chunk(rows, 7) {
		if err := a.call("Load", func() error { return a.Store.Load(ctx, chunk) }); err != nil {
			return err
		}
	}
	return nil
}
