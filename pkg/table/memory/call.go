package memory

import (
	"context"
	"fmt"

	"nexus/pkg/item"
	"nexus/pkg/table"
)

// Stage says on which side of its effect a call is.
type Stage int

const (
	// Before: nothing has happened yet. An error here is the call's answer, and nothing happens.
	Before Stage = iota
	// After: the effect, if any, is there. An error here replaces the call's answer: the caller does not learn the
	// outcome.
	After
)

// Call is one round trip to the store, as a fault hook sees it. An operation that the service splits (BatchGet and Load
// by their number of rows, Count and Walk by pages) makes several, and a fault in one leaves those before it done. The
// hook runs outside the store's locks: it may call the store, and so act between another's read and write.
type Call struct {
	// Op is the port's operation: Get, BatchGet, Query, Count, Put, Update, Delete, Transact, Load, Walk.
	Op    string
	Stage Stage
	// Keys are the rows named, a transaction's in the order of its actions; none for Query, Count and Walk.
	Keys []item.Key
	// Query is what a Query or Count asks; nil otherwise.
	Query *table.Query
	// Err is what the call will answer unless the hook changes it; only After. An unknown outcome of a write that took
	// effect is an error where this is nil.
	Err error
}

// effect is the part of a call that reads or changes the table. What it consumed counts even if it fails.
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
	if s.observe != nil && usage.Op != "" {
		s.observe(usage)
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
