package command

import (
	"context"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
)

// CustomCommand is how another product adds a command of its own on one of its entities: what the command is called,
// and what becomes of the entity. It goes the way of every change: one read, one write under the version read, begun
// again if another write came between, ttl removed, everything derived again, the whole entity validated.
// [ErrOwnCommands] for a type that has commands of its own.
type CustomCommand struct {
	// Name tells this command from others under the same idempotency key.
	Name string
	Type *entity.Type
	ID   string
	// Arguments tell one request from another under the same idempotency key; anything that encodes as JSON.
	Arguments []any
	// Apply returns what becomes of the entity, as its user sees it now, without changing what it is given; the same means
	// that there is nothing to do. It may run several times. A [StateError] (409) or *entity.ValidationError (422)
	// refuses.
	Apply func(before item.Item, now time.Time) (after item.Item, err error)
}

func (cmd CustomCommand) content() []any {
	return []any{"act", cmd.Name, typeName(cmd.Type), cmd.ID, cmd.Arguments}
}

func (cmd CustomCommand) run(ctx context.Context, c call) (Result, error) {
	ref, err := c.check(cmd.Type, cmd.ID)
	if err != nil {
		return Result{}, err
	}
	if cmd.Type.OwnCommands {
		return Result{}, ErrOwnCommands
	}
	return c.edit(ctx, edit{
		typ: cmd.Type, ref: ref,
		wantsMeta: cmd.Type.NeedsPreferences != nil, // what Apply will ask for, nobody knows before
		apply: func(before, _ item.Item) (item.Item, []entity.FieldError, error) {
			after, err := cmd.Apply(before, c.now)
			return after, nil, err
		},
	})
}
