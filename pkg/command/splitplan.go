package command

import (
	"context"
	"slices"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/series"
)

// splitPlan holds the results of a split.
type splitPlan struct {
	ended, following item.Item
	taken            []item.Item         // the following series' instances
	left             []item.Item         // the ended series' instances whose dates it has lost
	kept             map[item.Key]string // the texts beside the series and its instances, by their keys
}

func (w *splitting) plan(ctx context.Context, s *series.Series) (splitPlan, error) {
	at, err := w.place(s)
	if err != nil {
		return splitPlan{}, err
	}
	following, err := w.following(s, at)
	if err != nil {
		return splitPlan{}, err
	}
	p := splitPlan{ended: w.ended(s, at)}
	if err := entity.Invalid(w.masterType().Validate(p.ended)); err != nil {
		return splitPlan{}, err
	}
	if p.taken, p.left, err = w.divide(s, following); err != nil {
		return splitPlan{}, err
	}
	p.following = following
	p.kept, err = w.readKept(ctx, append(exceptionRows(s), s.Master())...)
	return p, err
}

// place returns the occurrence at which the series can be split.
func (w *splitting) place(s *series.Series) (series.Occurrence, error) {
	refuse := func(reason string) error {
		return entity.Invalid([]entity.FieldError{{Pointer: pointerToDate, Detail: reason}})
	}
	at, ok := s.Plain(w.date)
	first, _ := s.Rule().First()
	switch {
	case !entity.IsCompactDate(w.date):
		return at, refuse(entity.ExplainOccurrenceDate(w.date))
	case !ok:
		return at, refuse("is no occurrence of the series")
	case first.Wall.Equal(at.Original.Wall):
		return at, refuse("is the first occurrence: change the series itself")
	case !s.RuleGives(w.date):
		return at, refuse("is an additional date: split at an occurrence of the rule")
	case !w.patch.Has(product.AttrStartUtc) && s.IsSkipped(at):
		return at, refuse("is a date on which the clocks skip the time of the series: split at another, or send startUtc")
	}
	return at, nil
}

// ended returns the series up to the split.
func (w *splitting) ended(s *series.Series, at series.Occurrence) item.Item {
	before := s.Master()
	after := before.Clone()
	after.SetTime(product.AttrRRuleUntil, justBefore(s.RecurrenceID(at)))
	for _, name := range []string{product.AttrExDate, product.AttrRDate} {
		setDates(after, name, before.Strings(name), func(date string) bool { return date < w.date })
	}
	ended := w.masterType().NextVersion(entity.ByUser, w.user, before, after, w.now, nil)
	if w.masterType().DuesDiffer(before, ended) {
		ended.SetTime(product.AttrDueSetAt, w.now)
	}
	return ended
}

func setDates(it item.Item, name string, dates []string, keep func(string) bool) {
	var list item.List
	for _, date := range dates {
		if keep(date) {
			list = append(list, item.String(date))
		}
	}
	it.Set(name, list)
}

// following returns the series from the split on, with the changes.
func (w *splitting) following(s *series.Series, at series.Occurrence) (item.Item, error) {
	t := w.masterType()
	fields, plain := item.Item{}, s.Item(at)
	for _, f := range t.Fields {
		if f.Origin == entity.FromClient {
			copyFields(fields, s.Master(), []string{f.Name})
		}
	}
	copyFields(fields, plain, product.SpanFields())
	fields[product.AttrRRule] = item.String(s.RestOfRule(at))
	for _, name := range []string{product.AttrExDate, product.AttrRDate} {
		setDates(fields, name, fields.Strings(name), func(date string) bool { return date >= w.date })
	}
	merged, unsettled := mergeSpan(t, fields, w.patch, w.date)
	followStart(fields, merged, w.changes)
	if !w.patch.Has(product.AttrExDate) {
		start := series.StartDate(merged)
		setDates(merged, product.AttrExDate, merged.Strings(product.AttrExDate),
			func(date string) bool { return date != start })
	}
	merged.Set(product.AttrKept, s.Master()[product.AttrKept])
	n := creation{typ: t, id: w.id, fields: merged}
	it := n.item(w.call, nil)
	if err := entity.Invalid(w.broken, unsettled, t.Validate(it), w.registry.CheckLinks(it)); err != nil {
		return nil, underChanges(err)
	}
	return it, nil
}

// underChanges converts the pointers of a validation error to the request, in which the series' fields are in changes.
func underChanges(err error) error {
	invalid, ok := err.(*entity.ValidationError)
	if !ok {
		return err
	}
	fields := slices.Clone(invalid.Fields)
	for i := range fields {
		fields[i].Pointer = pointerToChanges + fields[i].Pointer
	}
	return entity.Invalid(fields)
}

// divide returns the instances that the following series gets, and those that the ended one loses.
func (w *splitting) divide(s *series.Series, following item.Item) (taken, left []item.Item, err error) {
	next, err := open(following)
	if err != nil {
		return nil, nil, err
	}
	for _, o := range s.Exceptions() {
		if o.Date < w.date {
			continue
		}
		left = append(left, o.Exception)
		if plain, ok := next.Plain(o.Date); ok {
			if row := w.take(o, following, next.Item(plain)); row != nil {
				taken = append(taken, row)
			}
		}
	}
	return taken, left, nil
}

// take converts an exception to one of the following series, of which plain is the occurrence without it; nil if no
// own field is left. At the split itself, the fields in the changes are not the exception's own, because the user has
// just set them.
func (w *splitting) take(o series.Occurrence, following, plain item.Item) item.Item {
	t := w.instanceType()
	names := o.Exception.Strings(product.AttrModifiedFields)
	ownSpan := series.HasOwnTimes(o.Exception)
	if o.Date == w.date {
		ownSpan = ownSpan && !touchesSpan(w.patch)
		names = slices.DeleteFunc(names, func(name string) bool {
			return w.patch.Has(name) || !ownSpan && slices.Contains(product.SpanFields(), name)
		})
	}
	if len(names) == 0 {
		return nil
	}
	own := item.Item{}
	copyFields(own, o.Exception, names)
	from := plain
	if ownSpan {
		from = o.Exception
	}
	copyFields(own, from, product.SpanFields())
	copyFields(own, plain, []string{product.AttrMasterID, product.AttrRecurrenceID})
	own[product.AttrModifiedFields] = inOrder(t, names)
	row := w.firstInstance(following, entity.InstanceID(w.id, o.Date), own)
	row.SetTime(product.AttrDueSetAt, w.now)
	return row
}
