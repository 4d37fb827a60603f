package transfer

import (
	"context"
	"fmt"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// maxRounds bounds the readings of an item whose KEPT row belongs to another version.
const maxRounds = 5

// withKept returns the items with what another calendar says of them, by their keys. An item and its KEPT row are
// written in one transaction and read in two calls. Where the text is not the one that the item names, both are read
// again, if the items are of the table; one that is gone by then is left out.
func (s *Service) withKept(
	ctx context.Context, items []item.Item, ofTable bool,
) (same []item.Item, kept map[item.Key]string, err error) {
	kept = map[item.Key]string{}
	var keys []item.Key
	for _, it := range items {
		if it.Has(product.AttrKept) {
			keys = append(keys, entity.KeptKey(it.Key()))
		}
	}
	if len(keys) == 0 {
		return items, kept, nil
	}
	rows, err := s.Store.BatchGet(ctx, keys)
	if err != nil {
		return nil, nil, fmt.Errorf("read what is kept: %w", err)
	}
	texts := map[item.Key]string{}
	for _, row := range rows {
		texts[row.Key()] = row.Str(command.AttrKeptText)
	}
	for _, it := range items {
		text := texts[entity.KeptKey(it.Key())]
		if !belongs(it, text) {
			if text = ""; ofTable {
				if it, text, err = s.keptAgain(ctx, it); err != nil {
					return nil, nil, err
				}
			}
		}
		if it == nil {
			continue
		}
		if same = append(same, it); text != "" {
			kept[it.Key()] = text
		}
	}
	return same, kept, nil
}

// belongs reports whether the text is the one that the item names.
func belongs(it item.Item, text string) bool {
	if !it.Has(product.AttrKept) {
		return text == ""
	}
	return command.KeptDigest(text) == it.Str(product.AttrKept)
}

// keptAgain reads an item and its text until they belong together; nil if the item is gone. Of an item that does not
// change the text is lost: verification names that.
func (s *Service) keptAgain(ctx context.Context, was item.Item) (item.Item, string, error) {
	key := was.Key()
	for range maxRounds {
		now, err := table.Find(ctx, s.Store, key)
		if err != nil || now == nil {
			return nil, "", err
		}
		row, err := table.Find(ctx, s.Store, entity.KeptKey(key))
		if err != nil {
			return nil, "", err
		}
		switch text := row.Str(command.AttrKeptText); {
		case belongs(now, text):
			return now, text, nil
		case item.Equal(now[entity.AttrVersion], was[entity.AttrVersion]):
			return now, "", nil
		}
		was = now
	}
	return nil, "", fmt.Errorf("%s kept changing while it was read: %w", key, table.ErrConflict)
}
