package search

import (
	"cmp"
	"time"
)

// Ref names a document.
type Ref struct{ Type, ID string }

// Compare orders references by type, then by id.
func (r Ref) Compare(other Ref) int {
	return cmp.Or(cmp.Compare(r.Type, other.Type), cmp.Compare(r.ID, other.ID))
}

// Document has all that an index knows of one item.
type Document struct {
	Ref
	Version int64
	// Texts are searched. The first one is the title, which counts three times; it may be empty.
	Texts []Text
	Tags  []string
	// Status is the item's status. From StatusAt on, if it is set, the status is Then.
	Status, Then string
	StatusAt     time.Time
	// Parent names a document without which this one is not shown; the zero Ref is none.
	Parent  Ref
	Updated time.Time
	// ExpiresAt is when the document is there no more; the zero time is never.
	ExpiresAt time.Time
	// Spans are when the item takes place; Due is when a task is due.
	Spans []Span
	Due   *Span
	Flags Flags
	// Data holds more that its owner keeps of it. The index does not read it.
	Data string
}

// Text is one text of a document.
type Text struct{ Field, Text string }

// Span is a time of an item, in whole seconds. Floating readings are labelled UTC.
type Span struct {
	Start, End time.Time
	Floating   bool
}

// Flags are marks of a document that its owner defines.
type Flags uint8

// Title returns the first text.
func (d *Document) Title() string {
	if len(d.Texts) == 0 {
		return ""
	}
	return d.Texts[0].Text
}

// Start returns the earliest start of the spans; the zero time without one.
func (d *Document) Start() time.Time {
	var first time.Time
	for _, s := range d.Spans {
		if first.IsZero() || s.Start.Before(first) {
			first = s.Start
		}
	}
	return first
}

// advance sets the status that the document has at the instant.
func (d *Document) advance(now time.Time) {
	if !d.StatusAt.IsZero() && !now.Before(d.StatusAt) {
		d.Status, d.Then, d.StatusAt = d.Then, "", time.Time{}
	}
}

// bytes counts those of the texts and of the data.
func (d *Document) bytes() int {
	n := len(d.Data)
	for _, t := range d.Texts {
		n += len(t.Text)
	}
	return n
}

func (d *Document) isExpired(now time.Time) bool {
	return !d.ExpiresAt.IsZero() && !now.Before(d.ExpiresAt)
}
