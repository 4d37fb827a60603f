package verify

import (
	"context"
	"fmt"
	"slices"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// lostWrite is a receipt whose write the table does not have, with conditions that say so.
type lostWrite struct {
	receipt item.Item
	checks  []table.Action
}

// receipts finds receipts of writes that the table does not have. Both are of one transaction, so only a copy of the
// table that took single rows has one without the other: a replica. A client that repeats such a request would be told
// that it was carried out. So a repair deletes the receipt, and a repetition is carried out.
func (r *run) receipts(ctx context.Context, user string) error {
	var rows, open []item.Item
	look := func() error {
		lost, err := r.lost(ctx, user, rows)
		for _, w := range lost {
			open = append(open, w.receipt)
		}
		rows = rows[:0]
		return err
	}
	err := r.each(ctx, user, family{prefix: entity.ReceiptPrefix()}, func(row item.Item, _ string) error {
		ref, _, ok := command.Written(row)
		// A command about an exception may leave it without a row: its receipt is no evidence.
		if !ok || ref.Type == entity.TypeInstance || !r.isOf(user, ref) {
			return nil
		}
		if rows = append(rows, row); len(rows) < lookItems {
			return nil
		}
		return look()
	})
	if err == nil {
		err = look()
	}
	if err == nil {
		err = r.recheckReceipts(ctx, user, open)
	}
	if err != nil {
		return fmt.Errorf("receipts: %w", err)
	}
	return nil
}

// isOf reports whether the user may have the item, or the settings.
func (r *run) isOf(user string, ref entity.Ref) bool {
	if ref.Type == entity.TypeUserMeta {
		return ref.ID == user
	}
	return isID(r.Registry.ByName(ref.Type), ref.ID)
}

// recheckReceipts looks a second time for the writes of receipts. The rows of a look are of several moments, also those
// of one transaction.
func (r *run) recheckReceipts(ctx context.Context, user string, open []item.Item) error {
	if len(open) == 0 {
		return nil
	}
	if err := r.Wait(ctx, r.Grace); err != nil {
		return err
	}
	for some := range slices.Chunk(open, lookItems) {
		lost, err := r.lost(ctx, user, some)
		if err != nil {
			return err
		}
		for _, w := range lost {
			if err := r.dropReceipt(ctx, user, w); err != nil {
				return err
			}
		}
	}
	return nil
}

// lost returns those of the receipts whose write the table does not have. An item that left the table has a GONE or a
// COLD row.
func (r *run) lost(ctx context.Context, user string, receipts []item.Item) (out []lostWrite, err error) {
	var keys []item.Key
	for _, row := range receipts {
		ref, _, _ := command.Written(row)
		keys = append(keys, entity.ItemKey(user, ref), entity.GoneKey(user, ref.ID), entity.ColdKey(user, ref.ID))
	}
	there, err := r.rows(ctx, keys)
	if err != nil {
		return nil, err
	}
	for i, row := range receipts {
		_, version, _ := command.Written(row)
		own, gone, cold := keys[3*i], keys[3*i+1], keys[3*i+2]
		switch it := there[own]; {
		case it != nil && it.Int(entity.AttrVersion) < version:
			out = append(out, lostWrite{row, []table.Action{
				table.Check{Key: own, If: table.AtVersion(it.Int(entity.AttrVersion))},
			}})
		case it == nil && there[gone] == nil && there[cold] == nil && !command.Deleted(row):
			out = append(out, lostWrite{row, []table.Action{
				table.Check{Key: own, If: table.NotExists()}, table.Check{Key: gone, If: table.NotExists()},
				table.Check{Key: cold, If: table.NotExists()},
			}})
		}
	}
	return out, nil
}

func (r *run) dropReceipt(ctx context.Context, user string, w lostWrite) error {
	row := w.receipt
	ref, version, _ := command.Written(row)
	err := r.found(Difference{
		Kind: Receipt, User: user, Key: row.Key().String(),
		Is: fmt.Sprintf("of version %d of %s, which was never written here", version, ref.ID), ShouldBe: "no row",
	})
	if err != nil || !r.repairing {
		return err
	}
	// Another request that took the key since has another ttl.
	actions := append([]table.Action{table.Delete{
		Key: row.Key(), If: table.OrNoRow(table.Equal(entity.AttrTTL, row[entity.AttrTTL])),
	}}, w.checks...)
	return r.forgive(ctx, user, row.Key().SK, r.Store.Transact(ctx, actions...))
}
