package command

import (
	"context"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

const (
	// attrDeletedAt is the deletion time of a GONE row's entity.
	attrDeletedAt = product.AttrDeletedAt
	// attrBecameID in the GONE row of an event is the id of the series that it became: the two have one UID in iCalendar.
	attrBecameID = product.AttrBecameID
)

// Delete removes an entity for good; its id is never used again. It needs the expected version. [ErrOwnCommands] for a
// type with separate commands.
type Delete struct {
	Type *entity.Type
	ID   string
}

func (cmd Delete) content() []any { return []any{"delete", typeName(cmd.Type), cmd.ID} }

func (cmd Delete) run(ctx context.Context, c call) (Result, error) {
	ref, err := c.check(cmd.Type, cmd.ID)
	if err != nil {
		return Result{}, err
	}
	if cmd.Type.OwnCommands {
		return Result{}, ErrOwnCommands
	}
	return c.remove(ctx, cmd.Type, ref)
}

// remove carries out a delete.
func (c call) remove(ctx context.Context, t *entity.Type, ref entity.Ref) (Result, error) {
	if c.expected == nil {
		return Result{}, ErrNoVersion
	}
	r := removal{typ: t, ref: ref, version: *c.expected}
	return c.repeat(ctx, func(c call) (Result, error) {
		steps := []step{r.item(c), r.gone(c)}
		steps = append(steps, r.kept(c)...)
		removal := r.version + 1 // it counts as a version
		if _, err := c.commit(ctx, steps, effect{done: doneDelete, ref: ref, version: removal}); err != nil {
			return Result{}, err
		}
		return Result{Type: t, Ref: ref, Version: removal, Deleted: true, Removal: removal}, nil
	})
}

// removal is a delete that reads nothing first. It assumes an entity at the expected version, without ttl and without
// a KEPT row, which is true for nearly all; a failed condition returns the row, which decides.
type removal struct {
	typ     *entity.Type
	ref     entity.Ref
	version int64
	// Of the row as it was last read; nil for none.
	ttl, beside item.Value
	// became is the id of the series that the entity became; "" for none.
	became string
}

func (r *removal) item(c call) step {
	still := func(attr string, v item.Value) table.Test {
		if v == nil {
			return table.Missing(attr)
		}
		return table.Equal(attr, v)
	}
	return step{
		action: table.Delete{
			Key: entity.ItemKey(c.user, r.ref),
			If: table.Exists(
				table.Equal(entity.AttrVersion, item.Int(r.version)), still(entity.AttrTTL, r.ttl),
				still(product.AttrKept, r.beside),
			),
		},
		failed: func(old item.Item) error {
			err := c.overtaken(r.typ, r.ref, old)
			if err == errMoved {
				r.version = old.Int(entity.AttrVersion)
				r.ttl, r.beside = old[entity.AttrTTL], old[product.AttrKept]
			}
			return err
		},
	}
}

// kept deletes the entity's KEPT row.
func (r *removal) kept(c call) []step {
	if r.beside == nil {
		return nil
	}
	return []step{{
		action: table.Delete{Key: entity.KeptKey(entity.ItemKey(c.user, r.ref))},
		failed: func(item.Item) error { return errMoved },
	}}
}

// goneRow returns the row that remains of an entity that is deleted at a version: its removal counts as the next.
func goneRow(user, id string, version int64, now time.Time) item.Item {
	row := entity.GoneKey(user, id).Item()
	row.SetTime(attrDeletedAt, now)
	row[entity.AttrVersion] = item.Int(version + 1)
	return row
}

func (r *removal) gone(c call) step {
	row := goneRow(c.user, r.ref.ID, r.version, c.now)
	if r.became != "" {
		row[attrBecameID] = item.String(r.became)
	}
	return step{
		action: table.Put{Item: row},
		failed: func(item.Item) error { return errMoved },
	}
}
