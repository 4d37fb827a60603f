package archive

import (
	"context"
	"fmt"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

// Departure is the reason why an item is no longer there.
type Departure string

// The departures. An item that never existed has none, and another user's item counts as such.
const (
	NoDeparture Departure = ""
	// Deleted says that its user deleted it.
	Deleted Departure = "deleted"
	// Expired says that its retention ended, and that its cold copy can be restored.
	Expired Departure = "expired"
)

// Left returns why the user no longer has the item, in one call. It is for an item that was not found: an existing
// item may have a cold row, too. A deletion has priority over a cold row that remains beside it. For an id that can
// have no such row, Left makes no call.
func (a *Archive) Left(ctx context.Context, user string, ref entity.Ref) (Departure, error) {
	if !a.mayLeave(ref) {
		return NoDeparture, nil
	}
	gone, cold := entity.GoneKey(user, ref.ID), entity.ColdKey(user, ref.ID)
	rows, err := a.Store.BatchGet(ctx, []item.Key{gone, cold})
	if err != nil {
		return NoDeparture, fmt.Errorf("read %s and %s: %w", gone, cold, err)
	}
	switch {
	case len(rows) == 0:
		return NoDeparture, nil
	case rows[0].Key() == gone: // rows are in the order of their keys
		return Deleted, nil
	}
	return Expired, nil
}

// LeftAt returns from the GONE and the COLD row of an item that is not there which version its removal counts as, and
// when it left at the earliest; false if the rows do not say, or if it left elsewhere. Nil is a missing row.
func LeftAt(gone, cold item.Item) (version int64, at time.Time, ok bool) {
	if gone != nil {
		at, ok = gone.Time(product.AttrDeletedAt)
		return gone.Int(entity.AttrVersion), at, ok
	}
	at, ok = cold.Time(attrExpiresAt)
	ok = ok && !cold.Bool(attrAdopted)
	return cold.Int(entity.AttrVersion) + 1, at, ok
}

// mayLeave reports whether a row may record that the item left. No row does so for an occurrence or a malformed id.
func (a *Archive) mayLeave(ref entity.Ref) bool {
	t := a.Registry.ByName(ref.Type)
	return t != nil && t.HasCollection() && t.Name != entity.TypeInstance && entity.CheckID(t.IDPrefix, ref.ID) == nil
}
