package command

import (
	"context"
	"errors"
	"fmt"

	"nexus/pkg/entity"
	"nexus/pkg/idempotency"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// Attributes of a command's receipt.
const (
	attrItemType    = "itemType"
	attrItemID      = "itemId"
	attrItemVersion = "itemVersion"
	// attrEndedVersion is in the receipt of a split alone, whose item is the new series.
	attrEndedVersion = "endedVersion"
)

// The effects in a receipt's status.
const (
	doneCreate = "CREATED"
	doneChange = "CHANGED"
	doneDelete = "DELETED"
)

// receiptOf returns the action that writes the receipt of an effect on an entity.
func (c call) receiptOf(e effect) table.Put {
	own := item.Item{
		entity.AttrStatus: item.String(e.done), attrItemType: item.String(e.ref.Type), attrItemID: item.String(e.ref.ID),
		attrItemVersion: item.Int(e.version),
	}
	if e.ended != 0 {
		own[attrEndedVersion] = item.Int(e.ended)
	}
	return c.receipt.Put(own, c.now)
}

// effectOf returns the effect that a receipt remembers.
func effectOf(receipt item.Item) effect {
	return effect{
		done:    receipt.Str(entity.AttrStatus),
		ref:     entity.Ref{Type: receipt.Str(attrItemType), ID: receipt.Str(attrItemID)},
		version: receipt.Int(attrItemVersion), ended: receipt.Int(attrEndedVersion),
	}
}

// Written returns the entity and the version that a receipt says was written. It is false for a receipt of no entity,
// and for one of settings that had no row and did not change.
func Written(receipt item.Item) (ref entity.Ref, version int64, ok bool) {
	e := effectOf(receipt)
	return e.ref, e.version, e.ref.Type != "" && e.ref.ID != "" && e.version > 0
}

// Deleted reports whether a receipt is of a deletion.
func Deleted(receipt item.Item) bool { return effectOf(receipt).done == doneDelete }

// replay answers according to the receipt, with the entity as it is now. Item is the entity's row if it was read
// already.
func (c call) replay(ctx context.Context, receipt, it item.Item) (Result, error) {
	e := effectOf(receipt)
	t := c.registry.ByName(e.ref.Type)
	if t == nil {
		return Result{}, fmt.Errorf("receipt %s: unknown entity type %q", receipt.Key(), e.ref.Type)
	}
	res := Result{Type: t, Ref: e.ref, Version: e.made(), Replayed: true}
	if e.done == doneDelete {
		res.Deleted, res.Removal = true, e.version
		return res, nil
	}
	if t.Name == entity.TypeInstance {
		return c.replayInstance(ctx, res)
	}
	// A batch read is no snapshot: the item may have been read before the receipt's transaction.
	if it == nil || it.Int(entity.AttrVersion) < e.version {
		var err error
		it, err = table.Find(ctx, c.store, entity.ItemKey(c.user, res.Ref))
		if err != nil {
			return Result{}, err
		}
		if it == nil {
			return c.unwritten(res), nil
		}
	}
	seen, ok := t.VisibleAt(it, c.now)
	if !ok {
		res.Deleted = true
		return res, nil
	}
	res.Item, res.Created = seen, e.done == doneCreate
	return res, nil
}

// unwritten completes the answer about an entity without a row: USER_META then has its defaults, any other entity has
// gone.
func (c call) unwritten(res Result) Result {
	if res.Type == c.meta {
		res.Item = product.NewUserMeta(c.user, c.now)
		return res
	}
	res.Deleted = true
	return res
}

// decide is [call.repeat] for attempts that may be refused by what they have read.
func (c call) decide(ctx context.Context, attempt func(c call) (Result, error)) (Result, error) {
	res, err := c.repeat(ctx, attempt)
	if isRefusal(err) {
		return c.recheck(ctx, err)
	}
	return res, err
}

// recheck reads the receipt again after a refusal: a twin may have run between two reads, and its effect may be the
// reason for the refusal. Without a key the refusal stands.
func (c call) recheck(ctx context.Context, refusal error) (Result, error) {
	if c.receipt == nil {
		return Result{}, refusal
	}
	row, err := table.Find(ctx, c.store, c.receipt.Key)
	if err != nil {
		return Result{}, err
	}
	var replay *idempotency.ReplayError
	if errors.As(c.receipt.Check(row, c.now), &replay) {
		return c.replay(ctx, row, nil)
	}
	return Result{}, refusal
}
