package series

import (
	"sync"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/recurrence"
)

// spanFields place an occurrence in time: an exception has all of them or none.
var spanFields = product.SpanFields()

// instance is the type of occurrences; made on first use, not at every start.
var instance = sync.OnceValue(product.Instance)

// usualAttributes is the approximate number of attributes of an occurrence. A map of this size need not grow.
const usualAttributes = 24

// AppendMembers appends the members of the occurrence's JSON: those of [Series.Item], without making it.
func (s *Series) AppendMembers(dst []byte, o Occurrence) []byte {
	seen := s.seen(o)
	return instance().AppendMembersOf(dst, seen.value)
}

// Item returns the occurrence as its user sees it: an INSTANCE with all fields, its own or the series'. A virtual one
// has the series' times of change.
func (s *Series) Item(o Occurrence) item.Item {
	it := make(item.Item, usualAttributes)
	it[item.AttrPK] = s.master[item.AttrPK]
	it[item.AttrSK] = item.String(entity.InstancePrefix(s.ID()) + o.Date)
	seen, fields := s.seen(o), instance().Fields
	for i := range fields {
		f := &fields[i]
		if v := seen.value(f.Name, f.Origin); v != nil {
			it[f.Name] = v
		}
	}
	return it
}

// seen is an occurrence as its user sees it.
type seen struct {
	*Series
	Occurrence
	row         item.Item // has its times of change
	hasOwnTimes bool
	originally  item.Value // when it would start
}

func (s *Series) seen(o Occurrence) seen {
	originally := item.String(item.FormatInstant(s.recurrenceID(o.Original)))
	if o.Exception == nil {
		return seen{s, o, s.master, false, originally}
	}
	return seen{s, o, o.Exception, HasOwnTimes(o.Exception), originally}
}

// value returns the value of a field of INSTANCE; nil for none. A field of the client's is the series', unless the
// exception names it.
func (s *seen) value(name string, origin entity.Origin) item.Value {
	switch name {
	case entity.AttrType:
		return item.String(entity.TypeInstance)
	case product.AttrEventID:
		return item.String(entity.InstanceID(s.ID(), s.Date))
	case product.AttrMasterID:
		return s.master[name]
	case product.AttrRecurrenceID:
		return s.originally
	case entity.AttrVersion:
		return s.version()
	case entity.AttrCreatedAt, entity.AttrUpdatedAt, product.AttrDueSetAt:
		return s.row[name]
	case product.AttrModifiedFields:
		return s.Exception[name]
	case product.AttrIsAllDay, product.AttrStartTzid, product.AttrEndTzid:
		if !s.hasOwnTimes {
			return s.master[name]
		}
		return s.Exception[name]
	case product.AttrStartDate, product.AttrEndDate, product.AttrStartUtc, product.AttrEndUtc:
		if !s.hasOwnTimes {
			return s.given(name)
		}
		return s.Exception[name]
	}
	switch {
	case origin != entity.FromClient:
		return nil
	case s.Exception != nil && s.Owns(name): // which is seldom asked: it copies the occurrence
		return s.Exception[name]
	}
	return s.master[name]
}

// version returns the version of the exception. While an occurrence does not differ from its series, its version is
// the sum of the versions of the series and of the row that an undone exception left. Both only grow, so no version
// comes a second time: under the series' version alone that of an earlier exception would fit again once the series
// has reached it.
func (s *seen) version() item.Value {
	if left := s.undone[s.Date]; s.Exception == nil && left != 0 {
		return item.Int(s.row.Int(entity.AttrVersion) + left)
	}
	return s.row[entity.AttrVersion]
}

// given returns the value that the rule gives a field of the occurrence's times; nil for none.
func (s *seen) given(name string) item.Value {
	isDate := name == product.AttrStartDate || name == product.AttrEndDate
	if isDate != s.master.Bool(product.AttrIsAllDay) {
		return nil
	}
	length := s.first.End.Sub(s.first.Start)
	switch name {
	case product.AttrStartDate:
		return item.String(item.FormatDate(s.Original.Wall))
	case product.AttrEndDate:
		return item.String(item.FormatDate(s.Original.Wall.Add(length)))
	case product.AttrStartUtc:
		return s.originally
	case product.AttrEndUtc:
		if s.master.Has(name) {
			return item.String(item.FormatInstant(s.recurrenceID(s.Original).Add(length)))
		}
	}
	return nil
}

// recurrenceID returns the original start (RFC 5545 §3.8.4.4): an instant, or the reading of a floating or all-day
// series.
func (s *Series) recurrenceID(original recurrence.Occurrence) time.Time {
	if s.first.Floating {
		return original.Wall
	}
	return original.Start
}
