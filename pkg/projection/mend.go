package projection

import (
	"context"
	"errors"
	"fmt"

	"nexus/pkg/entity"
	"nexus/pkg/table"
)

// sourcePage bounds the rows of one source that are put right at a time.
const sourcePage = 200

// Mend puts the ledger row and the rows of one source right, of a projection of rows; mended says whether there was
// anything to do. It may run beside the stream: what it read is guarded by the ledger row, which every consumer that
// changes the rows changes with them. The ledger row is read first and the item last, so that no record which the row
// has not seen is newer than the item.
func (c *Consumer) Mend(ctx context.Context, user string, t *entity.Type, ref entity.Ref) (mended bool, err error) {
	for range maxRounds {
		again, did, err := c.mendOnce(ctx, user, t, ref)
		mended = mended || did
		var failed *table.ConditionError
		switch {
		case errors.As(err, &failed), errors.Is(err, table.ErrConflict):
			continue
		case err != nil:
			return mended, fmt.Errorf("mend %s of %s: %w", c.projection.name, ref, err)
		case !again:
			return mended, nil
		}
	}
	return mended, fmt.Errorf("mend %s of %s: %w", c.projection.name, ref, errUnsettled)
}

func (c *Consumer) mendOnce(ctx context.Context, user string, t *entity.Type, ref entity.Ref) (again, did bool, err error) {
	m, err := c.readRepair(ctx, user, t, ref)
	if err != nil {
		return false, false, err
	}
	wanted := c.projection.wantedRows(user, ref, m.to)
	var edges []action
	for _, row := range m.rows {
		if want, ok := wanted[row.Key()]; ok && want.Equal(row) {
			delete(wanted, row.Key())
		} else if !ok {
			edges = append(edges, table.Delete{Key: row.Key()})
		}
	}
	surplus := len(edges)
	for _, row := range wanted {
		edges = append(edges, table.Put{Item: row})
	}
	guard := action(table.Check{Key: entity.LedgerKey(user, c.projection.name, ref.ID), If: m.condition()})
	switch {
	case len(edges) == 0 && m.isRight:
		return false, false, nil
	case len(edges) >= table.MaxActions || m.more:
		// What nobody wants goes first, as much as fits; then everything is looked at again.
		edges = edges[:min(surplus, table.MaxActions-1)]
		if len(edges) == 0 {
			return false, false, fmt.Errorf("%w: more rows than fit into a transaction", table.ErrInvalid)
		}
		again = true
	case !m.isRight:
		guard = table.Put{Item: c.projection.ledgerRow(&m.move, c.now()), If: m.condition()}
	}
	return again, true, c.store.Transact(ctx, append([]action{guard}, edges...)...)
}

// repairMove is a move to the item's present state.
type repairMove struct {
	move
	isRight bool // the ledger row is as it has to be
	rows    []entity.Item
	more    bool // rows may be missing from rows
}

// readRepair reads the ledger row, then the rows of the source, then the item.
func (c *Consumer) readRepair(ctx context.Context, user string, t *entity.Type, ref entity.Ref) (repairMove, error) {
	row, err := c.get(ctx, entity.LedgerKey(user, c.projection.name, ref.ID))
	if err != nil {
		return repairMove{}, err
	}
	e := Evidence{User: user, Type: t, Ref: ref, Ledger: row}
	more := false
	if prefix := c.projection.RowsPrefix(ref.Type); prefix != "" {
		page, err := c.store.Query(ctx, table.Query{
			Partition: entity.UserPK(user), Range: table.Range{Prefix: entity.Under(prefix, ref.ID)}, Limit: sourcePage,
		})
		if err != nil {
			return repairMove{}, fmt.Errorf("rows of %s: %w", ref, err)
		}
		e.Rows, more = page.Items, len(page.Next) > 0
	}
	if e.Item, err = c.get(ctx, entity.ItemKey(user, ref)); err != nil {
		return repairMove{}, err
	}
	m := c.projection.repair(e)
	m.more = more
	return m, nil
}

// repair is the move from what stands in the ledger to what the item contributes. The version of a ledger row never goes
// back: what it has seen must not be applied again.
func (p *Projection) repair(e Evidence) repairMove {
	row, to := e.Ledger, p.contribution(e.Type, e.Item)
	return repairMove{
		move: move{
			user: e.User, ref: e.Ref, typ: e.Type, present: true, row: row, from: row.Str(attrContribution), to: to,
			version: max(row.Int(attrVersion), e.Item.Int(entity.AttrVersion)),
		},
		rows:    e.Rows,
		isRight: row == nil && to == "" || row != nil && p.showLedger(row) == p.showWanted(to),
	}
}
