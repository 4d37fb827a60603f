// Package projection is the exactly-once engine behind everything that is a sum, over a user's items, of a pure
// function of each item's image.
//
// For each item and projection one ledger row holds the version last applied (v) and the contribution applied (c). A
// change moves the ledger row and the projection in one transaction, under the condition that the row is older than the
// change and holds the contribution the change starts from. So at every instant the projection equals the sum of the
// ledger's contributions, and v only grows. A change of a sum that is alone in its batch does the same in two single
// writes, at half the price: the ledger's entry is written into the sum's row with the sum, and then into its own (see
// [pendingEntry]).
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
	"strings"

	"nexus/pkg/entity"
	"nexus/pkg/item"
)

// Projection is one derived thing: a name, the function that says what an image contributes, and the shape of the
// effect. Make one with [NewRows] or [NewSum].
type Projection struct {
	name  string
	shape shape
}

// Name is the noun under which the ledger, the consumer and its metrics stand.
func (p *Projection) Name() string { return p.name }

// shape is what rows and sums differ in. A contribution is canonical text, empty for none: equal text, equal effect.
type shape interface {
	contribution(t *entity.Type, it item.Item) string
	// facts are what must be joined even from a record that the ledger calls done.
	facts(c string) facts
	// ledgerIndex is the state-view sort key of a ledger row with this contribution; empty for none.
	ledgerIndex(c string) string
	// actions are the writes that take one item's effect from a contribution to another, besides those on a target.
	actions(m *move) []action
	// target is the one row per user that the effect is summed in; nil for a shape without.
	target() *SumSpec
}

// contribution of an image: nothing for a missing one and for rows that are no entities.
func (p *Projection) contribution(t *entity.Type, it item.Item) string {
	if t == nil || it == nil {
		return ""
	}
	return p.shape.contribution(t, it)
}

// withRevision marks a contribution with the revision of the function that made it, so that a changed function never
// mistakes an old contribution for its own.
func withRevision(revision string, body string) string {
	if body == "" {
		return ""
	}
	return revision + " " + body
}

func withoutRevision(c string) string {
	_, body, _ := strings.Cut(c, " ")
	return body
}
