package series

import (
	"slices"
	"sync"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/recurrence"
)

var (
	// spanFields place an occurrence in time: an exception has all of them or none.
	spanFields = product.SpanFields()
	// plainFields are the other fields that a client may set on an occurrence; computed on first use, not at every start.
	plainFields = sync.OnceValue(func() []string {
		var names []string
		for _, f := range product.Instance().Fields {
			if f.Origin == entity.FromClient && !slices.Contains(spanFields, f.Name) {
				names = append(names, f.Name)
			}
		}
		return names
	})
)

// The approximate number of attributes of an occurrence, and of those that it does not take from the series. Maps of
// this size need not grow.
const (
	usualAttributes = 24
	ownAttributes   = 9
)

// AppendVirtual appends the members of a virtual occurrence's JSON: those of [Series.Item], without making it.
func (s *Series) AppendVirtual(dst []byte, t *entity.Type, o Occurrence) []byte {
	it := make(item.Item, ownAttributes)
	s.identify(it, o)
	s.setSpan(it, o.Original)
	return t.AppendInherited(dst, it, s.master)
}

// identify writes the occurrence's identity, version and times of change, and returns the row that has them.
//
// While an occurrence does not differ from its series, its version is the sum of the versions of the series and of the
// row that an undone exception left. Both only grow, so no version comes a second time: under the series' version alone
// that of an earlier exception would fit again once the series has reached it.
func (s *Series) identify(it item.Item, o Occurrence) (row item.Item) {
	row = o.Exception
	version := row[entity.AttrVersion]
	if row == nil {
		row = s.master
		version = row[entity.AttrVersion]
		if left := s.undone[o.Date]; left != 0 {
			version = item.Int(row.Int(entity.AttrVersion) + left)
		}
	}
	it[entity.AttrType] = item.String(entity.TypeInstance)
	it[product.AttrEventID] = item.String(entity.InstanceID(s.ID(), o.Date))
	it[product.AttrMasterID] = s.master[product.AttrMasterID]
	it[product.AttrRecurrenceID] = item.String(item.FormatInstant(s.recurrenceID(o.Original)))
	it[entity.AttrVersion] = version
	it[entity.AttrCreatedAt], it[entity.AttrUpdatedAt] = row[entity.AttrCreatedAt], row[entity.AttrUpdatedAt]
	return row
}

// Item returns the occurrence as its user sees it: an INSTANCE with all fields, its own or the series'. A virtual one
// has the series' times of change.
func (s *Series) Item(o Occurrence) item.Item {
	it := make(item.Item, usualAttributes)
	it[item.AttrPK] = s.master[item.AttrPK]
	it[item.AttrSK] = item.String(entity.InstancePrefix(s.ID()) + o.Date)
	row := s.identify(it, o)
	for _, name := range plainFields() {
		from := s.master
		if o.Owns(name) {
			from = o.Exception
		}
		put(it, name, from)
	}
	if o.Exception == nil || !HasOwnTimes(o.Exception) {
		put(it, product.AttrIsAllDay, s.master)
		put(it, product.AttrStartTzid, s.master)
		put(it, product.AttrEndTzid, s.master)
		s.setSpan(it, o.Original)
	} else {
		for _, name := range spanFields {
			put(it, name, o.Exception)
		}
	}
	put(it, product.AttrModifiedFields, o.Exception)
	put(it, product.AttrDueSetAt, row)
	return it
}

func put(it item.Item, name string, from item.Item) {
	if v, ok := from[name]; ok {
		it[name] = v
	}
}

// recurrenceID returns the original start (RFC 5545 §3.8.4.4): an instant, or the reading of a floating or all-day
// series.
func (s *Series) recurrenceID(original recurrence.Occurrence) time.Time {
	if s.first.Floating {
		return original.Wall
	}
	return original.Start
}

// setSpan writes the times that the rule gives the occurrence.
func (s *Series) setSpan(it item.Item, original recurrence.Occurrence) {
	length := s.first.End.Sub(s.first.Start)
	if s.master.Bool(product.AttrIsAllDay) {
		it[product.AttrStartDate] = item.String(item.FormatDate(original.Wall))
		it[product.AttrEndDate] = item.String(item.FormatDate(original.Wall.Add(length)))
		return
	}
	start := s.recurrenceID(original)
	it[product.AttrStartUtc] = item.String(item.FormatInstant(start))
	if s.master.Has(product.AttrEndUtc) {
		it[product.AttrEndUtc] = item.String(item.FormatInstant(start.Add(length)))
	}
}
