package memory

import (
	"context"
	"fmt"

	"nexus/pkg/item"
	"nexus/pkg/table"
)

// Stage says whether a hook runs before or after the effect of a call.
type Stage int

const (
	// Before: nothing has happened yet. An error here becomes the call's answer, and nothing happens.
	Before Stage = iota
	// After: the effect, if any, is there. An error here replaces the call's answer, so the caller does not receive the
	// outcome.
	After
)

// Call is one round trip to the store, as a fault hook receives it. The service splits some operations (BatchGet, Peek
// and Load by their number of rows, Count and Walk by pages). They make several calls, and a fault in one leaves the
// earlier ones done. The hook runs outside the store's locks: it may call the store, and so act between a caller's
// read and write.
type Call struct {
	// Op is the port's operation: Get, BatchGet, Peek, Query, Count, Put, Update, Delete, Transact, Load, Walk.
	Op    string
	Stage Stage
	// Keys are the rows named, a transaction's in the order of its actions; none for Query, Count and Walk.
	Keys []item.Key
	// Query is the query of a Query or Count; nil otherwise.
	Query *table.Query
	// Err is the call's answer unless the hook changes it; only After. A hook that returns an error where this is nil
	// simulates an unknown outcome of a write that took effect.
	Err error
}

// effect is the part of a call that reads or changes the table. Its consumption counts even if it fails.
type effect func() (table.Consumption, error)

// do makes one round trip: context, fault, effect, observer, fault.
func (s *Store) do(ctx context.Context, call func() Call, act effect) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.fault != nil {
		c := call()
		c.Stage = Before
		if err := s.fault(c); err != nil {
			return err
		}
	}
	usage, err := act()
	if usage.Op != "" {
		s.observe.Report(ctx, usage)
	}
	if s.fault != nil {
		c := call()
		c.Stage, c.Err = After, err
		if injected := s.fault(c); injected != nil {
			return injected
		}
	}
	return err
}

func wrap(op string, on any, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %v: %w", op, on, err)
}
