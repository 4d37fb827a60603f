package command

import (
	"context"

	"nexus/pkg/entity"
	"nexus/pkg/idempotency"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// AttrKeptText of a KEPT row is the part of another calendar's text that no field of the item holds, as package ical
// writes it. The item names it by its digest in [product.AttrKept], so it is read only if it exists, and a change of
// it changes the item. Both are written, and deleted, in one transaction.
const AttrKeptText = "text"

// setKept records in the item the digest of its KEPT row's text.
func setKept(it item.Item, text string) {
	if text == "" {
		delete(it, product.AttrKept)
		return
	}
	it[product.AttrKept] = item.String(KeptDigest(text))
}

// KeptDigest returns the digest by which an item names the text of its KEPT row.
func KeptDigest(text string) string { return idempotency.Digest([]byte(text))[:32] }

// KeptRow returns the KEPT row of an item.
func KeptRow(of item.Key, text string) item.Item {
	row := entity.KeptKey(of).Item()
	row[AttrKeptText] = item.String(text)
	return row
}

// keepStep returns the step that writes the text beside the item; none if the stored one is equal.
func keepStep(stored, it item.Item, text string) []step {
	key := entity.KeptKey(it.Key())
	switch {
	case item.Equal(stored[product.AttrKept], it[product.AttrKept]):
		return nil
	case text == "":
		return []step{{action: table.Delete{Key: key}}}
	}
	return []step{{action: table.Put{Item: KeptRow(it.Key(), text)}}}
}

// dropKept returns the step that deletes the KEPT row of a deleted item; none if it has none.
func dropKept(it item.Item) []step {
	if !it.Has(product.AttrKept) {
		return nil
	}
	return []step{{action: table.Delete{Key: entity.KeptKey(it.Key())}}}
}

// moveKept returns the step that moves a text to the item that replaces its own; none for an empty text.
func (c call) moveKept(text string, to item.Item) []step {
	steps := keepStep(nil, to, text)
	for i := range steps {
		steps[i].failed = func(item.Item) error { return errMoved }
	}
	return steps
}

// readKept returns the texts stored beside the items, by their keys. They belong to the same read: an item that
// changes later fails the condition on its version.
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
