package projection

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// Bounds of a contribution, beside those of rows and keys.
const (
	// maxFact bounds each text of which the greatest counts, in bytes: an item that is gone again leaves it in the sum.
	maxFact = table.MaxSKBytes
	// maxPending bounds the contribution of a pending entry: the row that holds the sum has other writers, who need the
	// room.
	maxPending = 16 << 10
	// ledgerOverhead is more than what a ledger row takes besides its texts: names, numbers and keys that do not grow.
	ledgerOverhead = 128
)

// refuses returns why no ledger row can hold an item's contribution, and nil if one can. It is asked before anything is
// written: an entry that is counted first and refused then would stand in the way of all that follow it.
func (p *Projection) refuses(user, it, c string) error {
	if len(c)+len(it)+len(p.name) < maxFact-ledgerOverhead {
		return nil // whatever it says, and in every key
	}
	if len(c) > table.MaxItemBytes {
		return tooMuch(c)
	}
	row := p.ledgerRow(&move{user: user, ref: entity.Ref{ID: it}, to: c}, time.Time{})
	if err := table.CheckKeys(table.ProductSchema(), row); err != nil {
		return fmt.Errorf("contribution of %d bytes: %w", len(c), err)
	}
	size := ledgerOverhead
	for name, v := range row {
		text, _ := v.(item.String)
		size += len(name) + len(text)
	}
	if size > table.MaxItemBytes {
		return tooMuch(c)
	}
	for name, text := range p.shape.facts(c) {
		if len(text) > maxFact {
			return fmt.Errorf("contribution of %d bytes: %w: %d bytes in max of %.40q, at most %d",
				len(c), table.ErrInvalid, len(text), name, maxFact)
		}
	}
	return nil
}

func tooMuch(c string) error {
	return fmt.Errorf("contribution of %d bytes: %w: more than a row holds", len(c), table.ErrInvalid)
}

// flushOrDrop writes an entry that stands in the sum's row into its ledger row, which is behind it. If the store
// refuses that for good, the entry is taken back, as though its record had been parked at once, and is not kept. The
// ledger row was read after the sum's.
func (c *Consumer) flushOrDrop(ctx context.Context, e pendingEntry, target, row item.Item) (isKept bool, err error) {
	err = c.flush(ctx, e)
	if !errors.Is(err, table.ErrInvalid) {
		return err == nil, orNone(err)
	}
	if err := c.drop(ctx, e, target, row); err != nil {
		return false, fmt.Errorf("take back the entry of %s: %w", e.item, err)
	}
	return false, nil
}

// drop takes an entry back out of the sum. The ledger row is checked in the same transaction: it must still be the one
// that the entry counted in the place of. A sum that was written since is left to the next look at it.
func (c *Consumer) drop(ctx context.Context, e pendingEntry, target, row item.Item) error {
	spec := c.projection.shape.target()
	d := newDelta()
	d.move(&move{from: e.contribution, to: row.Str(attrContribution)})
	update := spec.write(e.user, target, d, c.now())
	update.Remove = []string{spec.PendingAttr}
	m := move{present: true, row: row}
	guard := table.Check{Key: entity.LedgerKey(e.user, c.projection.name, e.item), If: m.condition()}
	err := c.store.Transact(ctx, update, guard)
	var failed *table.ConditionError
	if errors.As(err, &failed) || errors.Is(err, table.ErrConflict) {
		return nil
	}
	return err
}
