package calendar

import (
	"context"
	"iter"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

// keptRows reads what is kept beside the items of one type while these are read: both lie in the same order. Nothing is
// read as long as no item says that something lies beside it.
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

// upTo reads on to the item, and remembers what lies beside it. What lies beside items that were not asked about is
// skipped.
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
