package verify

import (
	"context"
	"fmt"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// deleteGone completes the deletion of an item that has a GONE row: only the transaction that deletes an item writes
// one, and an id never becomes alive again. A table has both only if it took single rows of the transaction, as a
// replica does. The item's KEPT row goes with it, and the group has no item from then on.
func (r *run) deleteGone(ctx context.Context, g *group, gone item.Item) error {
	key := g.item.Key()
	actions := []table.Action{
		// A suspect about one of its schedules may have been repaired before, and have deleted it.
		table.Delete{Key: key, If: table.OrNoRow(table.Equal(entity.AttrVersion, g.item[entity.AttrVersion]))},
		table.Check{Key: gone.Key(), If: table.Exists()},
	}
	if g.item.Has(product.AttrKept) {
		actions = append(actions, table.Delete{Key: entity.KeptKey(key)})
	}
	if err := r.Store.Transact(ctx, actions...); err != nil {
		return fmt.Errorf("delete %s: %w", key, err)
	}
	g.item = nil
	return nil
}
