package table

import (
	"slices"

	"nexus/pkg/entity"
	"nexus/pkg/item"
)

// Diff returns the update that turns the row before into after, attribute by attribute, under the condition. It
// removes ttl whenever after has none, even if before had none. Bookkeeping may have set a ttl since before was read,
// and it would let the changed item expire.
func Diff(before, after item.Item, condition Condition) Update {
	u := Update{Key: after.Key(), Set: item.Item{}, If: condition}
	for name, v := range after {
		if name != item.AttrPK && name != item.AttrSK && !item.Equal(before[name], v) {
			u.Set[name] = v
		}
	}
	for name := range before {
		if !after.Has(name) && name != entity.AttrTTL {
			u.Remove = append(u.Remove, name)
		}
	}
	if !after.Has(entity.AttrTTL) {
		u.Remove = append(u.Remove, entity.AttrTTL)
	}
	slices.Sort(u.Remove)
	return u
}
