package product

import (
	"nexus/pkg/entity"
	"nexus/pkg/item"
)

// LongPrefix begins the state-view sort keys of events longer than 24 h; the end follows it, in the form of the
// start's index key.
func LongPrefix() string { return entity.StatePrefix(TypeEvent, "LONG") }

// EventSpan returns when an event takes place: a single one, an exception with its own times, or the first occurrence
// of a series.
func EventSpan(it item.Item) entity.Span {
	start, end := eventSpan(it)
	return entity.Span{Start: start, End: end, Floating: !it.Has(AttrStartTzid)}
}

func eventSpans(it item.Item) []entity.Span { return []entity.Span{EventSpan(it)} }

// taskSpans returns both start and due of an open task, and only the earlier of a done one.
func taskSpans(it item.Item) []entity.Span {
	at, ok := taskAgendaTime(it)
	if !ok {
		return nil
	}
	if it.Bool(AttrIsAllDay) {
		return []entity.Span{{Start: at, End: at.AddDate(0, 0, 1), Floating: true}}
	}
	floating := !it.Has(AttrDueTzid)
	spans := []entity.Span{{Start: at, End: at, Floating: floating}}
	switch it.Str(entity.AttrStatus) {
	case StatusBacklog, StatusInProgress:
		if due, ok := it.Time(AttrDueUtc); ok && due.After(at) {
			spans = append(spans, entity.Span{Start: due, End: due, Floating: floating})
		}
	}
	return spans
}

func reminderSpans(it item.Item) []entity.Span {
	var spans []entity.Span
	for _, due := range reminderDues(it) {
		spans = append(spans, entity.Span{Start: due.At, End: due.At, Floating: due.Floating})
	}
	return spans
}
