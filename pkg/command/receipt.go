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
)

// The effects in a receipt's status.
const (
	doneCreate = "CREATED"
	doneChange = "CHANGED"
	doneDelete = "DELETED"
)

// receiptOf returns the action that writes the receipt of an effect on an entity.
func (c call) receiptOf(done string, ref entity.Ref, version int64) table.Put {
	return c.receipt.Put(item.Item{
		entity.AttrStatus: item.String(done), attrItemType: item.String(ref.Type), attrItemID: item.String(ref.ID),
		attrItemVersion: item.Int(version),
	}, c.now)
}

// replay answers according to the receipt, with the entity as it is now. Item is the entity's row if it was read
// already.
func (c call) replay(ctx context.Context, receipt, it item.Item) (Result, error) {
	t := c.registry.ByName(receipt.Str(attrItemType))
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
		it, err = table.Find(ctx, c.store, entity.ItemKey(c.user, res.Ref))
		if err != nil {
			return Result{}, err
		}
		if it == nil {
			return c.unwritten(res, done), nil
		}
	}
	seen, ok := t.VisibleAt(it, c.now)
	if !ok {
		res.Deleted = true
		return res, nil
	}
	res.Item, res.Created = seen, done == doneCreate
	return res, nil
}

// unwritten completes the answer about an entity without a row: USER_META then has its defaults, any other entity has
// gone.
func (c call) unwritten(res Result, done string) Result {
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
