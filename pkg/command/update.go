package command

import (
	"context"

	"nexus/pkg/entity"
)

// Update changes fields of an entity: a JSON Merge Patch (RFC 7396). It needs the expected version. A patch that
// changes nothing writes nothing. [ErrOwnCommands] for a type with separate commands.
type Update struct {
	Type *entity.Type
	ID   string
	// Patch is the decoded JSON document, null included, as for [Create].
	Patch map[string]any
}

func (cmd Update) content() []any { return []any{"update", typeName(cmd.Type), cmd.ID, cmd.Patch} }

func (cmd Update) run(ctx context.Context, c call) (Result, error) {
	ref, err := c.check(cmd.Type, cmd.ID)
	if err != nil {
		return Result{}, err
	}
	if cmd.Type.OwnCommands {
		return Result{}, ErrOwnCommands
	}
	fields, broken := cmd.Type.Parse(cmd.Patch)
	return c.edit(ctx, edit{
		typ: cmd.Type, ref: ref, versioned: true,
		wantsMeta: cmd.Type.NeedsPreferences != nil && cmd.Type.NeedsPreferences(fields),
		links:     entity.LinksOf(fields), pointer: pointerToTarget,
		apply: patch(cmd.Type, fields, broken),
	})
}
