package command

import (
	"context"
	"errors"
	"fmt"

	"nexus/pkg/entity"
	"nexus/pkg/idempotency"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// DelegatedCommand is a command whose write another package makes. This package adds its receipt: a repetition under
// the same idempotency key is answered with the entity as it is now, and has no second effect. Errors of Write are
// returned wrapped.
type DelegatedCommand struct {
	// Name distinguishes the command from others about the same entity.
	Name string
	Type *entity.Type
	ID   string
	// Write carries the command out in one transaction and returns the resulting entity. More make actions, of the entity
	// as it is to be written, that must be the last of that transaction; if one of them fails, the
	// [*table.ConditionError] counts from the first of them.
	Write func(ctx context.Context, more ...func(planned item.Item) table.Action) (item.Item, error)
}

func (cmd DelegatedCommand) content() []any {
	return []any{"external", cmd.Name, typeName(cmd.Type), cmd.ID}
}

func (cmd DelegatedCommand) run(ctx context.Context, c call) (Result, error) {
	ref, err := c.check(cmd.Type, cmd.ID)
	if err != nil {
		return Result{}, err
	}
	if c.receipt == nil {
		return c.repeat(ctx, func(c call) (Result, error) { return cmd.attempt(ctx, c, ref) })
	}
	row, err := table.Find(ctx, c.store, c.receipt.Key)
	if err != nil {
		return Result{}, err
	}
	if err := c.receipt.Check(row, c.now); err != nil {
		if replay, ok := err.(*idempotency.ReplayError); ok {
			return c.replay(ctx, replay.Receipt, nil)
		}
		return Result{}, err
	}
	res, err := c.repeat(ctx, func(c call) (Result, error) { return cmd.attempt(ctx, c, ref) })
	if err != nil && !errors.Is(err, idempotency.ErrKeyReused) {
		return c.recheck(ctx, err)
	}
	return res, err
}

func (cmd DelegatedCommand) attempt(ctx context.Context, c call, ref entity.Ref) (Result, error) {
	var more []func(item.Item) table.Action
	if c.receipt != nil {
		more = append(more, func(planned item.Item) table.Action {
			return c.receiptOf(effect{done: doneChange, ref: ref, version: planned.Int(entity.AttrVersion)})
		})
	}
	it, err := cmd.Write(ctx, more...)
	var failed *table.ConditionError
	switch {
	case err == nil:
		return Result{Type: cmd.Type, Ref: ref, Item: it, Version: it.Int(entity.AttrVersion)}, nil
	case !errors.As(err, &failed):
		return Result{}, fmt.Errorf("%s %s: %w", cmd.Name, ref, err)
	}
	if f, ok := failed.At(0); ok && c.receipt != nil {
		if err := c.receipt.Check(f.Old, c.now); err != nil {
			return Result{}, err
		}
	}
	return Result{}, errMoved
}
