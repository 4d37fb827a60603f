// Package projection keeps what is derived from a user's items in the table: one sum for each user, or rows for each
// item. A pure function of an item's image gives the item's contribution. The engine applies each contribution exactly
// once.
//
// For each item and projection one ledger row holds the version last applied (v) and the contribution applied (c). A
// change moves the ledger row and the projection in one transaction. The condition is that the row is older than the
// change and holds the contribution that the change starts from. So at every instant the projection equals the sum of
// the ledger's contributions, and v only grows.
//
// A change of a sum that is alone in its batch does the same in two single writes, at half the price. The first writes
// the sum and the ledger's entry into the sum's row, the second writes the entry into its own row (see
// [pendingEntry]). So one ledger serves three engines: [rowsEngine], [sumEngine] and [indexEngine], whose ledger rows
// are the projection themselves.
//
// That condition makes it safe to repeat a change:
//   - A change that was applied finds v at its version or past it, and is done.
//   - The order between items does not matter, because each has a separate row.
//   - A change that arrives without its predecessors finds another c than it expects, and takes its delta against it.
//   - The row of a deleted item may have expired if a change is more than an hour late (the tombstone lives 30 days).
//     If such a change would add a contribution that the ledger lacks, the engine ignores its image. It reads the item
//     and applies its present state. An index keeps what expires, so for a missing item it asks what the item left:
//     the GONE row first, then the COLD row.
//
// A repair of a sum becomes valid as a whole with its last write (see [Lease]), so one that dies and begins again is
// no repetition.
//
// The engine must never take a delta from a record's old image alone, never decide on an index, and never leave v
// unchanged.
package projection

import (
	"context"
	"time"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// Projection is one kind of derived data: a name, the function that returns an image's contribution, and the shape of
// the effect. Make one with [NewRows], [NewSum] or [NewIndex].
type Projection struct {
	name  string
	shape shape
}

// shape says what rows, sums and indexes differ in. A contribution is canonical text, empty for none: equal text, equal
// effect.
type shape interface {
	contribution(t *entity.Type, it item.Item) string
	// facts returns the facts that must be joined even from a record that the ledger has.
	facts(c string) facts
	// ledgerIndex returns the state-view sort key of a ledger row with this contribution; empty for none.
	ledgerIndex(c string) string
	// engine returns the engine that applies the effects of contributions.
	engine(l ledger) engine
	// prefix begins the sort keys of all rows whose source is of a type; empty for none.
	prefix(typeName string) string
	// checkRows returns the faults of the rows of an item whose contribution must be want.
	checkRows(e Evidence, want string) []Fault
}

// engine applies changes: a [rowsEngine], a [sumEngine] or an [indexEngine].
type engine interface {
	apply(ctx context.Context, batch []change.Change) []change.Outcome
}

// Name returns the noun under which the ledger, the consumer and its metrics appear.
func (p *Projection) Name() string { return p.name }

// Consumer runs a projection as a consumer of the stream.
type Consumer struct {
	name   string
	engine engine
}

// NewConsumer returns the consumer. Now gives the time for the age of records and the life of tombstones.
func NewConsumer(p *Projection, store table.Store, now func() time.Time) *Consumer {
	return &Consumer{p.name, p.shape.engine(ledger{p, store, now})}
}

// Name returns the projection's name.
func (c *Consumer) Name() string { return c.name }

// AcceptsBatches implements [change.BatchConsumer]: the changes of one item are applied together.
func (*Consumer) AcceptsBatches() {}

// Apply implements [change.Consumer]. A record that does not change the item's contribution costs no call.
func (c *Consumer) Apply(ctx context.Context, batch []change.Change) []change.Outcome {
	return c.engine.apply(ctx, batch)
}
