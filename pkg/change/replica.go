package change

import (
	"context"

	"nexus/pkg/entity"
	"nexus/pkg/item"
)

// KindOf returns what a removal was, where the record may not say. What TTL removes in another region arrives here as a
// removal by replication, without the identity of the TTL service; which region removes a row first, AWS does not say.
// So the removal of a row past its ttl is an expiry, unless its user deleted the item. No setting decides that: a
// replica may be there before the functions know, and long after they forgot. In one region it costs nothing, since no
// command but an import deletes an item past its ttl. Each deletion by a user leaves a GONE row, in one transaction
// with the removal, and no GONE row ever leaves. Its version tells which removal it is: an item that expired may have
// been restored and deleted since. find reads a row of the table, and returns nil if there is none.
func KindOf(
	ctx context.Context, ch Change, find func(context.Context, item.Key) (item.Item, error),
) (Kind, error) {
	if ch.Kind != Removed || !entity.Expired(ch.Old, ch.Created) {
		return ch.Kind, nil
	}
	if ch.Type == nil { // a timer: no user deletes one
		return Expired, nil
	}
	gone, err := find(ctx, entity.GoneKey(ch.User, ch.Ref.ID))
	if err != nil {
		return ch.Kind, err
	}
	removal := ch.Old.Int(entity.AttrVersion) + 1
	if gone != nil && (!gone.Has(entity.AttrVersion) || gone.Int(entity.AttrVersion) == removal) {
		return ch.Kind, nil
	}
	return Expired, nil
}
