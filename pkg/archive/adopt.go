package archive

import (
	"context"
	"fmt"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
)

// attrAdopted, in a COLD row, says that the copy came with an account from elsewhere. The item itself was never here,
// so no change log has to say that it left.
const attrAdopted = "adopted"

// Item returns the item in a cold copy that [Archive.List] named, as it was before it left. [ErrNoCopy] and
// [ErrForeign] say that there is no such item in the store.
func (a *Archive) Item(ctx context.Context, user string, c Copy) (item.Item, error) {
	it, err := a.read(ctx, object(user, c.Ref.ID, c.Version))
	if err != nil {
		return nil, err
	}
	if key := entity.ItemKey(user, c.Ref); it.Key() != key {
		return nil, fmt.Errorf("cold copy of %s: %w", key, ErrForeign)
	}
	return it, nil
}

// Leaves returns when an item in its state leaves the table; false if it stays.
func Leaves(t *entity.Type, it item.Item) (at time.Time, leaves bool) { return expiry(t, it) }

// Adopt writes the cold copy of a user's item that left elsewhere, and returns the row that names it. The caller has
// checked the item, and puts the row if there is neither such a row, nor the item, nor a GONE row of it. Both are named
// by the type, the id and the version of the item for this user. To repeat it writes the same object.
func (a *Archive) Adopt(ctx context.Context, user string, t *entity.Type, it item.Item) (cold item.Item, err error) {
	at, _ := expiry(t, it)
	ref := t.Ref(it)
	name, err := a.putCopy(ctx, user, ref, it)
	if err != nil {
		return nil, err
	}
	cold = coldRow(user, t, ref, it, name, at)
	cold[attrAdopted] = item.Bool(true)
	return cold, nil
}
