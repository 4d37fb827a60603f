package command

import (
	"context"
	"errors"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

// CreateSeries makes a series, at version 1: as [Create] does, or out of an event. An event that becomes a series is
// deleted. The series takes its fields unless Fields sets them, its links, and its UID in iCalendar, where the two are
// revisions of one thing. That needs the expected version, which is the event's.
type CreateSeries struct {
	// Fields is the decoded JSON document, as for [Create]; with FromEventID a merge patch of the event's fields.
	Fields map[string]any
	// FromEventID is the event that becomes the series; empty for none.
	FromEventID string
}

// pointerToEvent names the event in the request.
const pointerToEvent = "/fromEventId"

func (cmd CreateSeries) content() []any { return []any{"createSeries", cmd.Fields, cmd.FromEventID} }

func (cmd CreateSeries) run(ctx context.Context, c call) (Result, error) {
	t := c.masterType()
	if t == nil {
		return Result{}, &NotFoundError{Ref: entity.Ref{Type: entity.TypeMaster}}
	}
	create := Create{Type: t, Fields: cmd.Fields}
	if cmd.FromEventID == "" {
		n, err := create.prepare(c)
		if err != nil {
			return Result{}, err
		}
		return c.decide(ctx, func(c call) (Result, error) { return n.attempt(ctx, c) })
	}
	event := c.registry.ByName(product.TypeEvent)
	ref, err := c.check(event, cmd.FromEventID)
	if err != nil {
		return Result{},
			&NotFoundError{Ref: entity.Ref{Type: product.TypeEvent, ID: cmd.FromEventID}, Pointer: pointerToEvent}
	}
	if c.expected == nil {
		return Result{}, ErrNoVersion
	}
	id, fields, wrongID := create.identify()
	patch, broken := t.Parse(fields)
	p := promotion{event: event, ref: ref, patch: patch, chosen: id != "", id: id}
	if !p.chosen {
		p.id = t.IDPrefix + "_" + c.newID()
	}
	return c.decide(ctx, func(c call) (Result, error) {
		return p.attempt(ctx, c, append(wrongID, broken...))
	})
}

// promotion makes a series out of an event.
type promotion struct {
	event  *entity.Type
	ref    entity.Ref
	patch  item.Item
	id     string // of the series
	chosen bool   // by the client
}

func (p promotion) attempt(ctx context.Context, c call, wrong []entity.FieldError) (Result, error) {
	key := entity.ItemKey(c.user, p.ref)
	keys := append([]item.Key{key}, c.targetKeys(entity.LinksOf(p.patch))...)
	if c.receipt != nil {
		keys = append(keys, c.receipt.Key)
	}
	rows, err := c.read(ctx, keys)
	if err != nil {
		return Result{}, err
	}
	if c.receipt != nil {
		if err := c.receipt.Check(rows[c.receipt.Key], c.now); err != nil {
			return Result{}, err
		}
	}
	before := rows[key]
	if before == nil || entity.Expired(before, c.now) {
		return Result{}, &NotFoundError{Ref: p.ref, Pointer: pointerToEvent}
	}
	if err := c.expects(p.event, p.ref, before); err != nil {
		return Result{}, err
	}
	n, unsettled := p.creation(c, before)
	if err := entity.Invalid(wrong, unsettled, n.typ.Validate(n.bare), c.registry.CheckLinks(n.bare)); err != nil {
		return Result{}, err
	}
	delete(rows, key) // the event is deleted: no link may lead to it
	if err := c.checkTargets(newLinks(before, n.bare), rows, pointerToTarget); err != nil {
		return Result{}, err
	}
	kept, err := c.readKept(ctx, before)
	if err != nil {
		return Result{}, err
	}
	ref := n.typ.Ref(n.bare)
	r := removal{
		typ: p.event, ref: p.ref, version: before.Int(entity.AttrVersion),
		ttl: before[entity.AttrTTL], beside: before[product.AttrKept], became: ref.ID,
	}
	steps := []step{n.put(ref, n.bare), r.item(c), r.gone(c)}
	steps = append(append(steps, r.kept(c)...), c.moveKept(kept[before.Key()], n.bare)...)
	steps = append(steps, n.checkIDUnused(c)...)
	version := n.bare.Int(entity.AttrVersion)
	if _, err := c.commit(ctx, steps, effect{done: doneCreate, ref: ref, version: version}); err != nil {
		var missing *NotFoundError
		if errors.As(err, &missing) && missing.Ref == p.ref {
			missing.Pointer = pointerToEvent
		}
		return Result{}, err
	}
	return Result{Type: n.typ, Ref: ref, Item: n.bare, Version: version, Created: true}, nil
}

// creation returns the series that replaces the event.
func (p promotion) creation(c call, event item.Item) (creation, []entity.FieldError) {
	t := c.masterType()
	fields := item.Item{}
	for _, f := range p.event.Fields {
		if _, shared := t.Field(f.Name); shared && f.Origin == entity.FromClient {
			copyFields(fields, event, []string{f.Name})
		}
	}
	merged, unsettled := t.Merge(fields, p.patch)
	merged[product.AttrICalUID] = event[product.AttrICalUID]
	merged.Set(product.AttrKept, event[product.AttrKept])
	merged[product.AttrSequence] = item.Int(event.Int(product.AttrSequence) + 1)
	n := creation{typ: t, id: p.id, chosen: p.chosen, fields: merged}
	n.bare = n.item(c, nil)
	return n, unsettled
}
