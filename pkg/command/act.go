package command

import (
	"context"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
)

// CustomCommand lets another product add a command on one of its entities: the command's name, and its effect on the
// entity. It works like every change: one read, and one write under the version read. It starts again if another write
// came between, removes the ttl, derives everything again, and validates the whole entity. [ErrOwnCommands] for a type
// with separate commands.
type CustomCommand struct {
	// Name distinguishes this command from others under the same idempotency key.
	Name string
	Type *entity.Type
	ID   string
	// Arguments distinguish requests under the same idempotency key; anything that encodes as JSON.
	Arguments []any
	// Apply returns the changed entity, given as its user sees it now, without changing its input; an equal result means
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
		wantsMeta: cmd.Type.NeedsPreferences != nil, // whether Apply needs them is unknown before it runs
		apply: func(now time.Time, before, _ item.Item) (item.Item, []entity.FieldError, error) {
			after, err := cmd.Apply(before, now)
			return after, nil, err
		},
	})
}
