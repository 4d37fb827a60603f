package command

import (
	"context"
	"slices"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
)

// AddLink adds a link to an entity, or changes the relation of its link to the target. The target must exist.
type AddLink struct {
	Type     *entity.Type
	ID       string
	Target   entity.Ref
	Relation string // the user's own word; may be empty
}

func (cmd AddLink) content() []any {
	return []any{"addLink", typeName(cmd.Type), cmd.ID, cmd.Target, cmd.Relation}
}

// pointerToTargetID names the target of a command about one link.
const pointerToTargetID = "/" + entity.LinkTargetID

func (cmd AddLink) run(ctx context.Context, c call) (Result, error) {
	ref, err := c.check(cmd.Type, cmd.ID)
	if err != nil {
		return Result{}, err
	}
	if _, err := c.check(c.registry.ByName(cmd.Target.Type), cmd.Target.ID); err != nil {
		return Result{}, &NotFoundError{Ref: cmd.Target, Pointer: pointerToTargetID}
	}
	if cmd.Type.Name == entity.TypeInstance {
		return Result{}, ErrOwnCommands
	}
	link := entity.Link{Target: cmd.Target, Relation: cmd.Relation}
	return c.edit(ctx, edit{
		typ: cmd.Type, ref: ref,
		links: []entity.Link{link}, pointer: func(int) string { return pointerToTargetID },
		apply: func(_ time.Time, before, _ item.Item) (item.Item, []entity.FieldError, error) {
			links := entity.LinksOf(before)
			if i := indexOf(links, cmd.Target); i >= 0 {
				links[i] = link
			} else {
				links = append(links, link)
			}
			return withLinks(cmd.Type, before, links)
		},
	})
}

// RemoveLink removes the link from an entity to the target. A missing link counts as removed.
type RemoveLink struct {
	Type   *entity.Type
	ID     string
	Target entity.Ref
}

func (cmd RemoveLink) content() []any {
	return []any{"removeLink", typeName(cmd.Type), cmd.ID, cmd.Target}
}

func (cmd RemoveLink) run(ctx context.Context, c call) (Result, error) {
	ref, err := c.check(cmd.Type, cmd.ID)
	if err != nil {
		return Result{}, err
	}
	if cmd.Type.Name == entity.TypeInstance {
		return Result{}, ErrOwnCommands
	}
	return c.edit(ctx, edit{
		typ: cmd.Type, ref: ref,
		apply: func(_ time.Time, before, _ item.Item) (item.Item, []entity.FieldError, error) {
			links := entity.LinksOf(before)
			i := indexOf(links, cmd.Target)
			if i < 0 {
				return before, nil, nil
			}
			return withLinks(cmd.Type, before, slices.Delete(links, i, i+1))
		},
	})
}

func indexOf(links []entity.Link, target entity.Ref) int {
	return slices.IndexFunc(links, func(l entity.Link) bool { return l.Target == target })
}

// withLinks returns the entity with these links, if its type has any.
func withLinks(t *entity.Type, before item.Item, links []entity.Link) (item.Item, []entity.FieldError, error) {
	var wrong []entity.FieldError
	if _, ok := t.Field(entity.AttrLinks); !ok {
		wrong = append(wrong, entity.FieldError{Pointer: "/" + entity.AttrLinks, Detail: "this type of entity has no links"})
	}
	after := before.Clone()
	entity.SetLinks(after, links)
	return after, wrong, nil
}
