// Package projection is the exactly-once engine behind everything that is a sum, over a user's items, of a pure
// function of each item's image.
//
// For each item and projection one ledger row holds the version last applied (v) and the contribution applied (c). A
// change moves the ledger row and the projection in one transaction, under the condition that the row is older than the
// change and holds the contribution the change starts from. So at every instant the projection equals the sum of the
// ledger's contributions, and v only grows. A change of a sum that is alone in its batch does the same in two single
// writes, at half the price: the ledger's entry is written into the sum's row with the sum, and then into its own (see
// [pendingEntry]). So one ledger serves two engines: [rowsEngine] and [sumEngine].
//
// Repeating is safe because of that condition: a change that was applied finds v at or past its version and is done.
// Order between items does not matter, because each has a row of its own. A change that arrives without its
// predecessors finds another c than it expects, and takes its delta against that c instead. A change that arrives so
// late that the row of a deleted item may have expired (an hour; the tombstone lives 30 days) is not believed where it
// would bring something to life: the item itself is read, and its present state applied.
//
// A repair of a sum counts once it has been through, all of it at once (see [Lease]), so one that dies and begins again
// is no repetition.
//
// The engine must never take a delta from a record's old image alone, never decide on an index, and never leave v
// behind.
package projection

import (
	"context"
	"time"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// Projection is one derived thing: a name, the function that says what an image contributes, and the shape of the
// effect. Make one with [NewRows] or [NewSum].
type Projection struct {
	name  string
	shape shape
}

// shape says what rows and sums differ in. A contribution is canonical text, empty for none: equal text, equal effect.
type shape interface {
	contribution(t *entity.Type, it item.Item) string
	// facts are what must be joined even from a record that the ledger calls done.
	facts(c string) facts
	// ledgerIndex is the state-view sort key of a ledger row with this contribution; empty for none.
	ledgerIndex(c string) string
	// engine applies what contributions have for their effect.
	engine(l ledger) engine
	// prefix begins the sort keys of all rows whose source is of a type; empty for none.
	prefix(typeName string) string
	// checkRows returns what is wrong with the rows of an item that is to contribute want.
	checkRows(e Evidence, want string) []Fault
}

// engine applies changes: a [rowsEngine] or a [sumEngine].
type engine interface {
	apply(ctx context.Context, batch []change.Change) []change.Outcome
}

// Name is the noun under which the ledger, the consumer and its metrics stand.
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

// Name is the projection's name.
func (c *Consumer) Name() string { return c.name }

// AcceptsBatches implements [change.BatchConsumer]: the changes of one item are applied together.
func (*Consumer) AcceptsBatches() {}

// Apply implements [change.Consumer]. A record that leaves the item's contribution as it was costs no call.
func (c *Consumer) Apply(ctx context.Context, batch []change.Change) []change.Outcome {
	return c.engine.apply(ctx, batch)
}
