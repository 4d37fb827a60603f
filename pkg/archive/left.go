package archive

import (
	"context"
	"fmt"

	"nexus/pkg/entity"
	"nexus/pkg/item"
)

// Departure is why an item that was there is there no more.
type Departure string

// The departures. An item that never was has none, and one of another user never was.
const (
	NoDeparture Departure = ""
	// Deleted: its user deleted it.
	Deleted Departure = "deleted"
	// Expired: it left at the end of its time, and its cold copy can be restored.
	Expired Departure = "expired"
)

// Left returns why the user has no such item any more, in one call. It is for an item that was looked for and not
// found: an item that is there may have a cold row, too. A deletion counts before a cold row that is left beside it.
// Left makes no call for what can have no such row.
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
	case rows[0].Key() == gone: // rows come in the order of their keys
		return Deleted, nil
	}
	return Expired, nil
}

// mayLeave reports whether a row may say that the item left. No row says it of an occurrence, nor of an id that has not
// the form of its type's ids.
func (a *Archive) mayLeave(ref entity.Ref) bool {
	t := a.Registry.ByName(ref.Type)
	return t != nil && t.HasCollection() && t.Name != entity.TypeInstance && entity.CheckID(t.IDPrefix, ref.ID) == nil
}
