package calendar

import (
	"context"
	"iter"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

// keptRows reads the texts stored beside the items of one type while these are read: both are in the same order. It
// reads nothing until an item has such a text.
type keptRows struct {
	open func() iter.Seq2[item.Item, error]
	next func() (item.Item, error, bool)
	end  func()
	row  item.Item
	more bool
	text map[item.Key]string // by the item's key
}

func (s *Service) keptOf(ctx context.Context, user, typeName string) *keptRows {
	return &keptRows{text: map[item.Key]string{}, open: func() iter.Seq2[item.Item, error] {
		return s.rows(ctx, user, entity.KeptPrefix()+entity.ItemPrefix(typeName))
	}}
}

// upTo reads up to the item and records the text beside it. It skips the texts of other items.
func (k *keptRows) upTo(it item.Item) (err error) {
	if !it.Has(product.AttrKept) {
		return nil
	}
	if k.next == nil {
		k.next, k.end = iter.Pull2(k.open())
		if k.row, err, k.more = k.next(); err != nil {
			return err
		}
	}
	if it.Str(entity.AttrType) != entity.TypeInstance {
		k.forget()
	}
	want := entity.KeptKey(it.Key())
	for k.more && k.row.Key().SK < want.SK {
		if k.row, err, k.more = k.next(); err != nil {
			return err
		}
	}
	if k.more && k.row.Key() == want {
		k.text[it.Key()] = k.row.Str(command.AttrKeptText)
	}
	return nil
}

func (k *keptRows) forget() { clear(k.text) }

func (k *keptRows) beside(it item.Key) string { return k.text[it] }

func (k *keptRows) stop() {
	if k.end != nil {
		k.end()
	}
}
