package calendar

import (
	"slices"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/ical"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

// imported converts a bundle to the types of package command.
func (i *Importer) imported(user string, b bundle) command.Imported {
	d := b.drafts[0]
	thing := command.Imported{
		UID: d.UID, Sequence: d.Sequence, Stamp: d.Stamp, CreatedAt: d.CreatedAt, CompletedAt: d.CompletedAt,
		Kept: d.KeptText(),
		ID:   func(prefix string, k int) string { return ical.ID(prefix, user, d.UID, k) },
		Says: func(stored item.Item, kept map[item.Key]string, instances []item.Item) bool {
			return b.isToldBy(i.registry, stored, kept, instances)
		},
	}
	thing.Known, _ = product.IDOfICalUID(d.UID)
	for _, x := range b.exceptions() {
		thing.Exceptions = append(thing.Exceptions, exception(x))
	}
	if b.isOrphans() {
		thing.Type, thing.OnlyExceptions = i.registry.ByName(entity.TypeMaster), true
		return thing
	}
	thing.Type = i.registry.ByName(d.Kind)
	thing.Fields = fieldsOf(thing.Type, d)
	return thing
}

func exception(d ical.Draft) command.Exception {
	date := func(string) string { return d.Date }
	if d.Orphan {
		date = d.Original.DateIn
	}
	return command.Exception{
		Date: date, Sequence: d.Sequence, Stamp: d.Stamp, Fields: d.Fields, Kept: d.KeptText(), Excluded: d.Excluded,
	}
}

// fieldsOf returns all fields that the draft could have; absent ones are null. Links are not among them: iCalendar has
// no property for them.
func fieldsOf(t *entity.Type, d ical.Draft) item.Item {
	fields := d.Fields.Clone()
	fields.Set(product.AttrExDate, dates(d.ExDates))
	fields.Set(product.AttrRDate, dates(d.RDates))
	if d.RRule != "" {
		fields[product.AttrRRule] = item.String(d.RRule)
	}
	for _, f := range t.Fields {
		if f.Origin == entity.FromClient && f.Name != entity.AttrLinks && !fields.Has(f.Name) {
			fields[f.Name] = item.Null{}
		}
	}
	return fields
}

func dates(list []string) item.List {
	var out item.List
	for _, date := range list {
		out = append(out, item.String(date))
	}
	return out
}

// isToldBy reports whether an export of the stored item, read again, would give exactly these drafts. So an export
// that is imported again changes nothing, even if the format alters it on the way.
func (b bundle) isToldBy(
	registry *entity.Registry, stored item.Item, kept map[item.Key]string, instances []item.Item,
) bool {
	if b.isOrphans() {
		return false
	}
	drafts, err := draftsOf(stored, func(it item.Key) string { return kept[it] }, instances)
	if err != nil {
		return false
	}
	built, err := ical.Calendar{}.Build(drafts)
	if err != nil {
		return false
	}
	document, err := ical.Decode(ical.Encode(built), ical.FileLimits())
	if err != nil {
		return false
	}
	told := ical.Map(registry, document)
	return len(told.Refused) == 0 && slices.EqualFunc(told.Drafts, b.drafts, saysTheSame)
}

func draftsOf(stored item.Item, beside ical.Beside, instances []item.Item) ([]ical.Draft, error) {
	if stored.Str(entity.AttrType) == entity.TypeMaster {
		return ical.FromSeries(stored, beside, instances...)
	}
	d, err := ical.FromItem(stored, beside)
	return []ical.Draft{d}, err
}

// saysTheSame compares the parts of two drafts that a user sees.
func saysTheSame(a, b ical.Draft) bool {
	return a.Kind == b.Kind && a.Date == b.Date && a.RRule == b.RRule && a.KeptText() == b.KeptText() &&
		a.Fields.Equal(b.Fields) &&
		slices.Equal(a.ExDates, b.ExDates) && slices.Equal(a.RDates, b.RDates)
}
