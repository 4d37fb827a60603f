package projection

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// sourcePage bounds the rows of one source that are read again at a time.
const sourcePage = 200

// Repair corrects the ledger row and the rows of one source, for a projection of rows. Of an index it corrects the
// ledger row, and reads again what decides. It may run beside the stream: the ledger row guards the rows read, because
// every consumer that changes the rows changes it with them. So the evidence must have been read in this order: the
// ledger row, the rows, and the item last. Then no record that the ledger row lacks is newer than the item. Repair
// reads again what changed since then.
func (c *Consumer) Repair(ctx context.Context, e Evidence) error {
	engine := c.engine.(interface {
		repairItem(ctx context.Context, e Evidence) error
	})
	if err := engine.repairItem(ctx, e); err != nil {
		return fmt.Errorf("repair %s of %s: %w", c.name, e.Ref, err)
	}
	return nil
}

func (r *rowsEngine) repairItem(ctx context.Context, e Evidence) error {
	more := false
	for range maxRounds {
		again, err := r.repairOnce(ctx, e, more)
		var failed *table.ConditionError
		switch {
		case errors.As(err, &failed), errors.Is(err, table.ErrConflict):
		case err != nil:
			return err
		case !again:
			return nil
		}
		if e, more, err = r.readAgain(ctx, e); err != nil {
			return err
		}
	}
	return errContended
}

// repairOnce writes according to the evidence, in which rows may be missing if there are more. Again says that not all
// fitted into one transaction.
func (r *rowsEngine) repairOnce(ctx context.Context, e Evidence, more bool) (again bool, err error) {
	if err := entity.CheckForm(e.Ledger, entity.AttrForm); err != nil {
		return false, err
	}
	m := r.repair(e)
	surplus, missing := r.spec.rowsToRepair(e, m)
	edges := append(slices.Clone(surplus), missing...)
	guard := action(table.Check{Key: entity.LedgerKey(e.User, r.name, e.Ref.ID), If: m.condition()})
	switch {
	case len(edges) == 0 && m.isRight && !more:
		return false, nil
	case len(edges) >= table.MaxActions || more:
		// Surplus rows are deleted first, as many as fit; then everything is read again.
		edges = surplus[:min(len(surplus), table.MaxActions-1)]
		if len(edges) == 0 {
			return false, fmt.Errorf("%w: more rows than fit into a transaction", table.ErrInvalid)
		}
		again = true
	case !m.isRight:
		guard = table.Put{Item: r.ledgerRow(&m.move, r.now()), If: m.condition()}
	}
	return again, r.store.Transact(ctx, append([]action{guard}, edges...)...)
}

// rowsToRepair returns the rows to delete and those to put. The rows read are valid only as long as the ledger row
// names the same ones. Another repair may put the rows that it names, and delete others, without changing it. So a
// repair that changes the names in the ledger row writes each row that it names no longer, or newly, whether it was
// read or not.
func (s *RowsSpec) rowsToRepair(e Evidence, m repairMove) (surplus, missing []action) {
	wanted, named := s.wantedRows(e.User, e.Ref, m.to), s.namedRows(e.User, e.Ref, m.from)
	seen := map[item.Key]bool{}
	for _, row := range e.Rows {
		key := row.Key()
		seen[key] = true
		want, isWanted := wanted[key]
		isNamed := named[key]
		switch {
		case !isWanted:
			surplus = append(surplus, table.Delete{Key: key})
		case want.Equal(row) && (isNamed || m.isRight):
			delete(wanted, key)
		}
	}
	for _, key := range slices.SortedFunc(maps.Keys(named), item.Key.Compare) {
		if _, isWanted := wanted[key]; !isWanted && !seen[key] {
			surplus = append(surplus, table.Delete{Key: key})
		}
	}
	for _, key := range slices.SortedFunc(maps.Keys(wanted), item.Key.Compare) {
		missing = append(missing, table.Put{Item: wanted[key]})
	}
	return surplus, missing
}

// namedRows returns the keys of the rows that a ledger row names.
func (s *RowsSpec) namedRows(user string, source entity.Ref, c string) map[item.Key]bool {
	out := map[item.Key]bool{}
	for _, edge := range edgesOf(c) {
		if key, ok := s.keyOf(user, source, edge); ok {
			out[key] = true
		}
	}
	return out
}

// readAgain reads the ledger row, then the rows of the source, then the item; more says that there are more rows.
func (r *rowsEngine) readAgain(ctx context.Context, was Evidence) (e Evidence, more bool, err error) {
	e = Evidence{User: was.User, Type: was.Type, Ref: was.Ref}
	if e.Ledger, err = table.Find(ctx, r.store, entity.LedgerKey(e.User, r.name, e.Ref.ID)); err != nil {
		return e, false, err
	}
	if prefix := r.spec.Prefix(e.Ref.Type); prefix != "" {
		page, err := r.store.Query(ctx, table.Query{
			Partition: entity.UserPK(e.User), Range: table.Range{Prefix: entity.Under(prefix, e.Ref.ID)}, Limit: sourcePage,
		})
		if err != nil {
			return e, false, fmt.Errorf("rows of %s: %w", e.Ref, err)
		}
		e.Rows, more = page.Items, len(page.Next) > 0
	}
	e.Item, err = table.Find(ctx, r.store, entity.ItemKey(e.User, e.Ref))
	return e, more, err
}

// repairMove is a move to the item's present state.
type repairMove struct {
	move
	isRight bool // the ledger row is correct
}

// repair returns the move from the ledger row to the item's contribution. The version of a ledger row never goes back:
// records that it has must not be applied again. An item whose contribution no row can hold contributes nothing. Its
// row does not get the item's version, so that its record can be delivered again once the function is corrected.
func (p *Projection) repair(e Evidence) repairMove {
	row := e.Ledger
	to, known := p.wanted(e)
	version := max(row.Int(attrVersion), e.Item.Int(entity.AttrVersion))
	if e.Item == nil && to != "" {
		version = max(version, e.Cold.Int(entity.AttrVersion))
	}
	if p.refuses(e.User, e.Ref, to) != nil {
		to, version = "", row.Int(attrVersion)
	}
	return repairMove{
		move: move{
			user: e.User, ref: e.Ref, typ: e.Type, present: true, row: row, from: row.Str(attrContribution), to: to,
			version: version,
		},
		isRight: !known || row == nil && to == "" || row != nil && p.showLedger(row) == p.showWanted(to),
	}
}
