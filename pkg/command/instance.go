package command

import (
	"context"
	"slices"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/series"
)

// PutInstance sets the own fields of one occurrence of a series: the fields given, of which null means deliberately
// empty. It takes all others from the series, also those that it overrode before; without any field the occurrence has
// no exception any more. A start without an end preserves the length. It needs the expected version: the occurrence's
// own if it already differs from the series, else the series', or the sum of both if it differed before.
type PutInstance struct {
	MasterID string
	// Date YYYYMMDD is the local date that the series gives the occurrence, even after a move.
	Date string
	// Fields is the decoded JSON document, as for [Create].
	Fields map[string]any
}

func (cmd PutInstance) content() []any {
	return []any{"putInstance", cmd.MasterID, cmd.Date, cmd.Fields}
}

func (cmd PutInstance) run(ctx context.Context, c call) (Result, error) {
	t := c.instanceType()
	if t == nil {
		return Result{}, &NotFoundError{Ref: entity.Ref{Type: entity.TypeInstance}}
	}
	fields, broken := t.Parse(cmd.Fields)
	return c.except(ctx, exceptionEdit{
		masterID: cmd.MasterID, date: cmd.Date, links: entity.LinksOf(fields),
		apply: func(plain item.Item, _ series.Occurrence) (item.Item, []entity.FieldError) {
			own, wrong := ownFields(t, plain, fields, cmd.Date)
			return own, append(slices.Clip(broken), wrong...)
		},
	})
}

// CancelInstance cancels one occurrence of a series. Its other own fields stay. It needs the expected version, as
// [PutInstance] does.
type CancelInstance struct{ MasterID, Date string }

func (cmd CancelInstance) content() []any { return []any{"cancelInstance", cmd.MasterID, cmd.Date} }

func (cmd CancelInstance) run(ctx context.Context, c call) (Result, error) {
	t := c.instanceType()
	return c.except(ctx, exceptionEdit{
		masterID: cmd.MasterID, date: cmd.Date,
		apply: func(plain item.Item, o series.Occurrence) (item.Item, []entity.FieldError) {
			own, names := item.Item{}, o.Exception.Strings(product.AttrModifiedFields)
			from := plain
			if series.HasOwnTimes(o.Exception) {
				from = o.Exception
			}
			copyFields(own, from, product.SpanFields())
			for _, name := range names {
				copyFields(own, o.Exception, []string{name})
			}
			own[entity.AttrStatus] = item.String(product.StatusCancelled)
			own[product.AttrModifiedFields] = inOrder(t, append(names, entity.AttrStatus))
			return own, nil
		},
	})
}

func copyFields(to, from item.Item, names []string) {
	for _, name := range names {
		delete(to, name)
		if v, ok := from[name]; ok {
			to[name] = v
		}
	}
}

// inOrder lists field names once each, in the type's order.
func inOrder(t *entity.Type, names []string) item.List {
	var list item.List
	for _, f := range t.Fields {
		if slices.Contains(names, f.Name) {
			list = append(list, item.String(f.Name))
		}
	}
	return list
}

// ownFields returns the fields that an occurrence stores for a patch of its own fields; nil if none is left.
func ownFields(t *entity.Type, plain, patch item.Item, date string) (item.Item, []entity.FieldError) {
	if len(patch) == 0 {
		return nil, nil
	}
	base, times := item.Item{}, product.SpanFields()
	copyFields(base, plain, times)
	own, wrong := mergeSpan(t, base, patch, date)
	var names []string
	for _, f := range t.Fields {
		moved := touchesSpan(patch) && slices.Contains(times, f.Name) && !item.Equal(own[f.Name], plain[f.Name])
		if patch[f.Name] != nil || moved {
			names = append(names, f.Name)
		}
	}
	for _, name := range []string{entity.AttrTitle, entity.AttrStatus, product.AttrIsAllDay} {
		if _, empty := patch[name].(item.Null); empty {
			wrong = append(wrong, entity.FieldError{
				Pointer: "/" + name, Detail: "must not be empty; left out, it is the series'",
			})
		}
	}
	own[product.AttrModifiedFields] = inOrder(t, names)
	return own, wrong
}
