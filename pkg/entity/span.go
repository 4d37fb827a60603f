package entity

import (
	"time"

	"nexus/pkg/item"
)

// Span is one entry of an item in an agenda. Start and End are readings labelled UTC if floating.
type Span struct {
	Start, End time.Time
	// Floating readings are to be resolved in the reader's zone.
	Floating bool
}

// ShownIn returns the item's entries in an agenda; none for an item that is not indexed by time.
func (t *Type) ShownIn(it item.Item) []Span {
	if t.Spans != nil {
		return t.Spans(it)
	}
	at, ok := it.Time(item.AttrGSI1SK)
	if !ok {
		return nil
	}
	return []Span{{Start: at, End: at}}
}
