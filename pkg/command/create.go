package command

import (
	"context"
	"maps"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// Create makes a new entity, at version 1. [ErrOwnCommands] for a type with separate commands.
type Create struct {
	Type *entity.Type
	// ID is the client's own choice: the type's prefix and a UUID. Empty lets the server choose. Fields may contain it
	// instead, under the type's id attribute.
	ID string
	// Fields is the decoded JSON document: string, bool, json.Number, nil, []any and map[string]any.
	Fields map[string]any
}

func (cmd Create) content() []any {
	return []any{"create", typeName(cmd.Type), cmd.ID, cmd.Fields}
}

func typeName(t *entity.Type) string {
	if t == nil {
		return ""
	}
	return t.Name
}

// creation is a create whose document was parsed.
type creation struct {
	typ       *entity.Type
	id        string
	chosen    bool // by the client
	fields    item.Item
	wantsMeta bool
	bare      item.Item // the entity without regard to preferences
}

func (cmd Create) run(ctx context.Context, c call) (Result, error) {
	if err := cmd.checkType(); err != nil {
		return Result{}, err
	}
	n, err := cmd.prepare(c)
	if err != nil {
		return Result{}, err
	}
	return c.decide(ctx, func(c call) (Result, error) { return n.attempt(ctx, c) })
}

// checkType refuses a type that has no collection, or commands of its own.
func (cmd Create) checkType() error {
	switch {
	case cmd.Type == nil || !cmd.Type.HasCollection():
		return &NotFoundError{Ref: entity.Ref{Type: typeName(cmd.Type), ID: cmd.ID}}
	case cmd.Type.OwnCommands:
		return ErrOwnCommands
	}
	return nil
}

// prepare makes all checks that need no read: most invalid requests fail here.
func (cmd Create) prepare(c call) (creation, error) {
	id, fields, wrongID := cmd.identify()
	patch, broken := cmd.Type.Parse(fields)
	merged, unsettled := cmd.Type.Merge(nil, patch)
	n := creation{typ: cmd.Type, id: id, chosen: id != "", fields: merged}
	n.wantsMeta = cmd.Type.NeedsPreferences != nil && cmd.Type.NeedsPreferences(patch)
	if !n.chosen || wrongID != nil {
		n.id = cmd.Type.IDPrefix + "_" + c.newID()
	}
	n.bare = n.item(c, nil)
	return n, entity.Invalid(wrongID, broken, unsettled, cmd.Type.Validate(n.bare), c.registry.CheckLinks(n.bare))
}

// identify removes the client's id from the document, in which it is a special field.
func (cmd Create) identify() (id string, fields map[string]any, wrong []entity.FieldError) {
	id, fields = cmd.ID, cmd.Fields
	raw, inFields := fields[cmd.Type.IDAttr]
	pointer := "/" + cmd.Type.IDAttr
	if inFields {
		fields = maps.Clone(fields)
		delete(fields, cmd.Type.IDAttr)
		text, isText := raw.(string)
		if !isText || text == "" || id != "" && id != text {
			return "", fields, []entity.FieldError{{Pointer: pointer, Detail: "must be a text, and one id only"}}
		}
		id = text
	}
	if id == "" {
		return "", fields, nil
	}
	if err := entity.CheckClientID(cmd.Type.IDPrefix, id); err != nil {
		wrong = append(wrong, entity.FieldError{Pointer: pointer, Detail: err.Error()})
	}
	return id, fields, wrong
}

// item returns the entity as it will be stored.
func (n creation) item(c call, preferences item.Item) item.Item {
	it := n.typ.NewItem(c.user, n.id, n.fields, c.now, preferences)
	if n.typ.Dues != nil && len(n.typ.Dues(it)) > 0 {
		it.SetTime(product.AttrDueSetAt, c.now)
	}
	return it
}

func (n creation) attempt(ctx context.Context, c call) (Result, error) {
	links := newLinks(nil, n.fields)
	rows := map[item.Key]item.Item{}
	if n.wantsMeta || len(links) > 0 {
		var err error
		if rows, err = n.read(ctx, c); err != nil {
			return Result{}, err
		}
	}
	if err := c.checkTargets(links, rows, pointerToTarget); err != nil {
		return Result{}, err
	}
	it := n.bare
	if n.wantsMeta {
		meta := c.userMeta(rows)
		it = n.item(c, product.Settings(meta))
		if err := entity.Invalid(c.checkWrite(n.typ, nil, it, meta)); err != nil {
			return Result{}, err
		}
	}
	ref := n.typ.Ref(it)
	steps := append([]step{n.put(ref, it)}, n.checkIDUnused(c)...)
	version := it.Int(entity.AttrVersion)
	if _, err := c.commit(ctx, steps, effect{done: doneCreate, ref: ref, version: version}); err != nil {
		return Result{}, err
	}
	return Result{Type: n.typ, Ref: ref, Item: it, Version: version, Created: true}, nil
}

func (n creation) put(ref entity.Ref, it item.Item) step {
	return step{
		action: table.Put{Item: it, If: table.NotExists()},
		failed: func(item.Item) error { return &StateError{ref, "exists already"} },
	}
}

// checkIDUnused returns checks that the id was never used. Only an id chosen by the client needs them: the server's own
// ids are random.
func (n creation) checkIDUnused(c call) []step {
	if !n.chosen {
		return nil
	}
	ref := entity.Ref{Type: n.typ.Name, ID: n.id}
	return []step{
		n.absent(ref, entity.GoneKey(c.user, n.id), "was deleted, and an id is never used again"),
		n.absent(ref, entity.ColdKey(c.user, n.id), "is in the archive"),
	}
}

func (n creation) absent(ref entity.Ref, key item.Key, reason string) step {
	return step{
		action: table.Check{Key: key, If: table.NotExists()},
		failed: func(item.Item) error { return &StateError{ref, reason} },
	}
}

// read reads the rows on which the entity depends, and the receipt with them, because that costs no further round
// trip.
func (n creation) read(ctx context.Context, c call) (map[item.Key]item.Item, error) {
	keys := c.targetKeys(entity.LinksOf(n.fields))
	if n.wantsMeta {
		keys = append(keys, entity.MetaKey(c.user))
	}
	if c.receipt != nil {
		keys = append(keys, c.receipt.Key)
	}
	rows, err := c.read(ctx, keys)
	if err == nil && c.receipt != nil {
		err = c.receipt.Check(rows[c.receipt.Key], c.now)
	}
	return rows, err
}
