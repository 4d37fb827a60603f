package entity

import "nexus/pkg/item"

// LongPrefix begins the state-view sort keys of events longer than 24 h; behind it stands the end, as the index key of
// the start is written.
func LongPrefix() string { return StatePrefix(TypeEvent, "LONG") }

// EventSpan returns when an event is: a single one, an exception with times of its own, or the first occurrence of a series.
func EventSpan(it item.Item) Span {
	start, end := eventSpan(it)
	return Span{start, end, !it.Has(AttrStartTzid)}
}

func eventSpans(it item.Item) []Span { return []Span{EventSpan(it)} }

// taskSpans: an open task with start and due is shown at both; one that is done at the earlier only.
func taskSpans(it item.Item) []Span {
	at, ok := taskAgendaTime(it)
	if !ok {
		return nil
	}
	if it.Bool(AttrIsAllDay) {
		return []Span{{at, at.AddDate(0, 0, 1), true}}
	}
	floating := !it.Has(AttrDueTzid)
	spans := []Span{{at, at, floating}}
	switch it.Str(AttrStatus) {
	case StatusBacklog, StatusInProgress:
		if due, ok := it.Time(AttrDueUtc); ok && due.After(at) {
			spans = append(spans, Span{due, due, floating})
		}
	}
	return spans
}

func reminderSpans(it item.Item) []Span {
	var spans []Span
	for _, due := range reminderDues(it) {
		spans = append(spans, Span{due.At, due.At, due.Floating})
	}
	return spans
}
