package command

import (
	"context"

	"nexus/pkg/entity"
	"nexus/pkg/idempotency"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// AttrKeptText of a KEPT row is what another calendar says of the item and no field of it holds, as package ical writes
// it. The item names it by its digest in [product.AttrKept], so it is read only where there is something, and a change
// of it is a change of the item. Both are written, and deleted, in one transaction.
const AttrKeptText = "text"

// setKept says in the item what is to lie beside it.
func setKept(it item.Item, text string) {
	if text == "" {
		delete(it, product.AttrKept)
		return
	}
	it[product.AttrKept] = item.String(idempotency.Digest([]byte(text))[:32])
}

// keepStep is the step that writes the text beside the item; none if what is stored says it already.
func keepStep(stored, it item.Item, text string) []step {
	key := entity.KeptKey(it.Key())
	switch {
	case item.Equal(stored[product.AttrKept], it[product.AttrKept]):
		return nil
	case text == "":
		return []step{{action: table.Delete{Key: key}}}
	}
	row := key.Item()
	row[AttrKeptText] = item.String(text)
	return []step{{action: table.Put{Item: row}}}
}

// dropKept is the step that deletes what lies beside an item that goes; none if nothing does.
func dropKept(it item.Item) []step {
	if !it.Has(product.AttrKept) {
		return nil
	}
	return []step{{action: table.Delete{Key: entity.KeptKey(it.Key())}}}
}

// moveKept is the step that lays a text beside another item, which takes it over; none for none.
func (c call) moveKept(text string, to item.Item) []step {
	steps := keepStep(nil, to, text)
	for i := range steps {
		steps[i].failed = func(item.Item) error { return errMoved }
	}
	return steps
}

// readKept returns what lies beside the items, by their keys. The rows are those of one reading: an item that changes
// meanwhile fails the condition on its version.
func (c call) readKept(ctx context.Context, items ...item.Item) (map[item.Key]string, error) {
	var keys, of []item.Key
	for _, it := range items {
		if it.Has(product.AttrKept) {
			keys, of = append(keys, entity.KeptKey(it.Key())), append(of, it.Key())
		}
	}
	if len(keys) == 0 {
		return nil, nil
	}
	rows, err := c.read(ctx, keys)
	if err != nil {
		return nil, err
	}
	texts := map[item.Key]string{}
	for i, key := range keys {
		texts[of[i]] = rows[key].Str(AttrKeptText)
	}
	return texts, nil
}
