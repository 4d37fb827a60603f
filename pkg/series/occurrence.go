package series

import (
	"cmp"
	"slices"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/recurrence"
)

// Occurrence is one occurrence of a series.
type Occurrence struct {
	// Date is the local date YYYYMMDD that the rule gives it: its name, even after a move.
	Date string
	// Start and End are real instants in UTC.
	Start, End time.Time
	// Original is the occurrence of the rule.
	Original recurrence.Occurrence
	// Exception is the row that changed or cancelled it; nil for one that is virtual.
	Exception item.Item
}

// Virtual reports whether the occurrence comes from the master's row alone.
func (o Occurrence) Virtual() bool { return o.Exception == nil }

// Cancelled reports whether this single occurrence was cancelled.
func (o Occurrence) Cancelled() bool {
	return o.Owns(entity.AttrStatus) && o.Exception.Str(entity.AttrStatus) == product.StatusCancelled
}

// Owns reports whether the field is the occurrence's own rather than the series'.
func (o Occurrence) Owns(field string) bool {
	return slices.Contains(modified(o.Exception), item.Value(item.String(field)))
}

// Tags returns the tags of the occurrence: its own if it has changed them, else the series'.
func (s *Series) Tags(o Occurrence) []string {
	if o.Owns(entity.AttrTags) {
		return o.Exception.Strings(entity.AttrTags)
	}
	return s.master.Strings(entity.AttrTags)
}

// HasOwnTimes reports whether an exception has its own times: all of them, if one was changed.
func HasOwnTimes(exception item.Item) bool {
	return slices.ContainsFunc(modified(exception), func(v item.Value) bool {
		name, _ := v.(item.String)
		return slices.Contains(spanFields, string(name))
	})
}

func modified(exception item.Item) item.List {
	names, _ := exception[product.AttrModifiedFields].(item.List)
	return names
}

func compare(a, b Occurrence) int {
	return cmp.Or(a.Start.Compare(b.Start), cmp.Compare(a.Date, b.Date))
}

func (s *Series) virtual(original recurrence.Occurrence) Occurrence {
	return Occurrence{
		Date: item.CompactDate(original.Wall), Start: original.Start, End: s.End(original), Original: original,
	}
}

// End returns the end of an occurrence of the rule: after the same exact time as the first (RFC 5545 §3.8.5.3). A
// floating or all-day occurrence ends at the reading that far on.
func (s *Series) End(original recurrence.Occurrence) time.Time {
	length := s.first.End.Sub(s.first.Start)
	switch {
	case length == 0:
		return original.Start
	case s.first.Floating:
		return item.Resolve(original.Wall.Add(length), s.zone)
	}
	return original.Start.Add(length)
}

func (s *Series) excepted(original recurrence.Occurrence, exception item.Item) Occurrence {
	o := s.virtual(original)
	o.Exception = exception
	if !HasOwnTimes(exception) {
		return o
	}
	span := product.EventSpan(exception)
	o.Start, o.End = span.Start, span.End
	if span.Floating {
		o.Start, o.End = item.Resolve(span.Start, s.zone), item.Resolve(span.End, s.zone)
	}
	return o
}
