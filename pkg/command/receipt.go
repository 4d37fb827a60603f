package command

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// receiptRetention is how long a request is remembered under its idempotency key.
const receiptRetention = 24 * time.Hour

// Attributes of a RECEIPT row.
const (
	attrFingerprint = "fingerprint"
	attrItemType    = "itemType"
	attrItemID      = "itemId"
	attrItemVersion = "itemVersion"
)

// What a receipt says was done, in its status.
const (
	doneCreate = "CREATED"
	doneChange = "CHANGED"
	doneDelete = "DELETED"
)

// receipt is how a request is to be remembered.
type receipt struct {
	key         item.Key
	fingerprint string
}

// twinError ends an attempt that found its own request carried out already.
type twinError struct{ receipt item.Item }

func (e *twinError) Error() string { return "the request was carried out before" }

// put is the action that writes the receipt, unless there is one in force. TTL removes rows days late, so a receipt past
// its ttl counts as none.
func (r *receipt) put(done string, ref entity.Ref, version int64, now time.Time) table.Put {
	row := r.key.Item()
	row[attrFingerprint] = item.String(r.fingerprint)
	row[entity.AttrStatus] = item.String(done)
	row[attrItemType] = item.String(ref.Type)
	row[attrItemID] = item.String(ref.ID)
	row[attrItemVersion] = item.Int(version)
	row[entity.AttrTTL] = item.Int(now.Add(receiptRetention).Unix())
	// entity.Lapsed holds from the second of the ttl on, so the second after now is the bound.
	return table.Put{Item: row, If: table.OrNoRow(table.Less(entity.AttrTTL, item.Int(now.Unix()+1)))}
}

// look judges a row read under the receipt's key: a twinError if it is this request's, [ErrKeyReused] if it is
// another's, nil if there is none in force.
func (c call) look(row item.Item) error {
	switch {
	case row == nil || entity.Lapsed(row, c.now):
		return nil
	case row.Str(attrFingerprint) != c.receipt.fingerprint:
		return ErrKeyReused
	}
	return &twinError{row}
}

// replay answers as the receipt says, with the entity as it is now. Item is the entity's row if it was read already.
func (c call) replay(ctx context.Context, receipt, it item.Item) (Result, error) {
	t := c.registry.Named(receipt.Str(attrItemType))
	if t == nil {
		return Result{}, fmt.Errorf("receipt %s: unknown entity type %q", receipt.Key(), receipt.Str(attrItemType))
	}
	done := receipt.Str(entity.AttrStatus)
	res := Result{Type: t, Ref: entity.Ref{Type: t.Name, ID: receipt.Str(attrItemID)}, Replayed: true}
	if done == doneDelete {
		res.Deleted = true
		return res, nil
	}
	if t.Name == entity.TypeInstance {
		return c.replayInstance(ctx, res)
	}
	// A batch read is no snapshot: the item may have been read before the receipt's transaction.
	if it == nil || it.Int(entity.AttrVersion) < receipt.Int(attrItemVersion) {
		var err error
		it, err = c.store.Get(ctx, entity.ItemKey(c.user, res.Ref))
		if errors.Is(err, table.ErrNotFound) {
			return c.unwritten(res, done), nil
		}
		if err != nil {
			return Result{}, fmt.Errorf("read the entity of receipt %s: %w", receipt.Key(), err)
		}
	}
	seen, ok := t.Seen(it, c.now)
	if !ok {
		res.Deleted = true
		return res, nil
	}
	res.Item, res.Created = seen, done == doneCreate
	return res, nil
}

// unwritten completes the answer about an entity that has no row: USER_META still has its defaults then, anything else
// has gone.
func (c call) unwritten(res Result, done string) Result {
	if res.Type == c.meta {
		res.Item = product.NewUserMeta(c.user, c.now)
		return res
	}
	res.Deleted = true
	return res
}

// recheck looks for the receipt once more after a refusal: a twin may have been at work between two reads, and what it did
// is then what the refusal is about.
func (c call) recheck(ctx context.Context, refusal error) (Result, error) {
	row, err := c.store.Get(ctx, c.receipt.key)
	if err != nil && !errors.Is(err, table.ErrNotFound) {
		return Result{}, fmt.Errorf("read receipt %s: %w", c.receipt.key, err)
	}
	var twin *twinError
	if errors.As(c.look(row), &twin) {
		return c.replay(ctx, row, nil)
	}
	return Result{}, refusal
}
