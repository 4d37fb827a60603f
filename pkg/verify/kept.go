package verify

import (
	"context"
	"fmt"
	"slices"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// keptRow is a row with another calendar's properties of an item, with that item. The row and the item that names it
// are written and deleted in one transaction. While only the item's cold copy is left, its row waits for it.
type keptRow struct {
	key item.Key
	ref entity.Ref
}

// unnamedRow is a KEPT row that no item names and no copy waits for.
type unnamedRow struct {
	keptRow
	is     string
	checks []table.Action // they hold while it is unnamed
}

// kept finds KEPT rows that no item names and no copy waits for. No reader shows them, so a repair deletes them. Each
// goes in one transaction with checks that it is still unnamed.
func (r *run) kept(ctx context.Context, user string) error {
	var rows, open []keptRow
	look := func() error {
		unnamed, err := r.unnamedRows(ctx, user, rows)
		for _, u := range unnamed {
			open = append(open, u.keptRow)
		}
		rows = rows[:0]
		if err != nil || len(open) < maxSuspects {
			return err
		}
		err = r.recheckKept(ctx, user, open)
		open = nil
		return err
	}
	err := r.each(ctx, user, family{prefix: entity.KeptPrefix()}, func(row item.Item, _ string) error {
		ref, err := entity.ParseKept(row.Str(item.AttrSK), r.Registry.Types()...)
		if err != nil || !isID(r.Registry.ByName(ref.Type), ref.ID) {
			return r.foreignKept(user, row)
		}
		if rows = append(rows, keptRow{row.Key(), ref}); len(rows) < lookItems {
			return nil
		}
		return look()
	})
	if err == nil {
		err = look()
	}
	if err == nil {
		err = r.recheckKept(ctx, user, open)
	}
	if err != nil {
		return fmt.Errorf("what is kept: %w", err)
	}
	return nil
}

// foreignKept reports a row under a key that no item can have. It remains, because a later release may know the type,
// and the row could not be restored.
func (r *run) foreignKept(user string, row item.Item) error {
	return r.found(Difference{
		Kind: Stray, User: user, Key: row.Key().String(),
		Is: "kept of what can be no item", ShouldBe: "the key of an item",
	})
}

// recheckKept reads the rows that seem unnamed a second time. It reads an item after its row, so that an item that was
// deleted with its row shows no difference.
func (r *run) recheckKept(ctx context.Context, user string, open []keptRow) error {
	if len(open) == 0 {
		return nil
	}
	if err := r.Wait(ctx, r.Grace); err != nil {
		return err
	}
	for some := range slices.Chunk(open, lookItems) {
		keys := make([]item.Key, len(some))
		for i, row := range some {
			keys[i] = row.key
		}
		there, err := r.rows(ctx, keys)
		if err != nil {
			return err
		}
		some = slices.DeleteFunc(some, func(row keptRow) bool { return there[row.key] == nil })
		unnamed, err := r.unnamedRows(ctx, user, some)
		if err != nil {
			return err
		}
		for _, u := range unnamed {
			if err := r.dropUnnamed(ctx, user, u); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *run) dropUnnamed(ctx context.Context, user string, u unnamedRow) error {
	err := r.found(Difference{Kind: Kept, User: user, Key: u.key.String(), Is: u.is, ShouldBe: "no row"})
	if err != nil || !r.repairing {
		return err
	}
	actions := append([]table.Action{table.Delete{Key: u.key}}, u.checks...)
	return r.forgive(ctx, user, u.key.SK, r.Store.Transact(ctx, actions...))
}

// unnamedRows returns those of the rows that no item names and no copy waits for.
func (r *run) unnamedRows(ctx context.Context, user string, rows []keptRow) (out []unnamedRow, err error) {
	var keys []item.Key
	for _, row := range rows {
		id := row.ref.ID
		keys = append(keys, entity.ItemKey(user, row.ref), entity.ColdKey(user, id), entity.GoneKey(user, id))
	}
	there, err := r.rows(ctx, keys)
	if err != nil {
		return nil, err
	}
	for i, row := range rows {
		it, cold, gone := keys[3*i], keys[3*i+1], keys[3*i+2]
		if there[it] != nil {
			if !there[it].Has(product.AttrKept) {
				out = append(out, unnamedRow{row, "kept of an item that does not name it", []table.Action{
					table.Check{Key: it, If: table.Exists(table.Missing(product.AttrKept))},
				}})
			}
			continue
		}
		still := table.Check{Key: cold, If: table.NotExists()}
		switch {
		case there[gone] != nil:
			still = table.Check{Key: gone, If: table.Exists()}
		case there[cold] != nil:
			continue // the item can be restored, and names it again
		}
		out = append(out, unnamedRow{row, "kept of an item that is not there", []table.Action{
			table.Check{Key: it, If: table.NotExists()}, still,
		}})
	}
	return out, nil
}
