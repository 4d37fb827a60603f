package verify

import (
	"context"
	"fmt"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// receipts finds receipts of writes that the table does not have. Both are of one transaction, so only a copy of the
// table that took single rows has one without the other: a replica. A client that repeats such a request would be told
// that it was carried out. So a repair deletes the receipt, and a repetition is carried out.
func (r *run) receipts(ctx context.Context, user string) error {
	var rows []item.Item
	look := func() error {
		lost, err := r.lost(ctx, user, rows)
		if rows = rows[:0]; err == nil && len(lost) > 0 {
			// The rows of a look are of several moments. What left the table while it was taken, the next one sees.
			lost, err = r.lost(ctx, user, lost)
		}
		for _, row := range lost {
			if err == nil {
				err = r.dropReceipt(ctx, user, row)
			}
		}
		return err
	}
	err := r.each(ctx, user, family{prefix: entity.ReceiptPrefix()}, func(row item.Item, _ string) error {
		ref, _, ok := command.Written(row)
		// A command about an exception may leave it without a row: its receipt is no evidence.
		if !ok || r.Registry.ByName(ref.Type) == nil || ref.Type == entity.TypeInstance {
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
	if err != nil {
		return fmt.Errorf("receipts: %w", err)
	}
	return nil
}

// lost returns those of the receipts whose write the table does not have. An item that left the table has a GONE or a
// COLD row.
func (r *run) lost(ctx context.Context, user string, receipts []item.Item) (out []item.Item, err error) {
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
		it, gone, cold := there[keys[3*i]], there[keys[3*i+1]], there[keys[3*i+2]]
		never := it == nil && gone == nil && cold == nil && !command.Deleted(row)
		if never || it != nil && it.Int(entity.AttrVersion) < version {
			out = append(out, row)
		}
	}
	return out, nil
}

func (r *run) dropReceipt(ctx context.Context, user string, row item.Item) error {
	ref, version, _ := command.Written(row)
	err := r.found(Difference{
		Kind: Receipt, User: user, Key: row.Key().String(),
		Is: fmt.Sprintf("of version %d of %s, which was never written here", version, ref.ID), ShouldBe: "no row",
	})
	if err != nil || !r.repairing {
		return err
	}
	// Another request that took the key since has another ttl.
	return r.forgive(ctx, user, row.Key().SK, r.Store.Delete(ctx, table.Delete{
		Key: row.Key(), If: table.OrNoRow(table.Equal(entity.AttrTTL, row[entity.AttrTTL])),
	}))
}
