package search

import (
	"encoding/binary"
	"slices"
	"time"
)

// Form is the form of what [Index.Encode] returns. A change of it, of what a word is or of what a document has gets the
// next number.
const Form = 2

// Encode returns the documents that are there at the instant, with their words. Two indexes of the same documents give
// the same bytes.
func (x *Index) Encode(now time.Time) []byte {
	var docs []entry
	for _, e := range x.docs {
		if e.Document != nil && !e.isExpired(now) {
			docs = append(docs, e)
		}
	}
	slices.SortFunc(docs, func(a, b entry) int { return a.Ref.Compare(b.Ref) })
	w := writer{}
	renumbered := w.dictionary(x.words, docs)
	w.number(len(docs))
	for _, e := range docs {
		d := *e.Document
		d.advance(now)
		w.document(&d)
		for _, list := range e.words {
			w.number(len(list))
			for _, n := range list {
				w.number(int(renumbered[n]))
			}
		}
	}
	return w
}

// writer appends to bytes.
type writer []byte

// dictionary writes the words that the documents have, in the order of their bytes. Of each it writes how many bytes
// are those of the word before, and the rest. It returns their new numbers by their old ones.
func (w *writer) dictionary(words []string, docs []entry) []int32 {
	used := make([]bool, len(words))
	for _, e := range docs {
		for _, list := range e.words {
			for _, n := range list {
				used[n] = true
			}
		}
	}
	var old []int32
	for n, is := range used {
		if is {
			old = append(old, int32(n))
		}
	}
	slices.SortFunc(old, func(a, b int32) int { return compareText(words[a], words[b]) })
	renumbered := make([]int32, len(words))
	w.number(len(old))
	before := ""
	for i, n := range old {
		word, shared := words[n], 0
		for shared < min(len(before), len(word)) && before[shared] == word[shared] {
			shared++
		}
		w.number(shared)
		w.text(word[shared:])
		renumbered[n], before = int32(i), word
	}
	return renumbered
}

func (w *writer) document(d *Document) {
	w.text(d.Type)
	w.text(d.ID)
	w.integer(d.Version)
	w.number(len(d.Tags))
	for _, tag := range d.Tags {
		w.text(tag)
	}
	w.text(d.Status)
	w.text(d.Then)
	w.time(d.StatusAt)
	w.text(d.Parent.Type)
	w.text(d.Parent.ID)
	w.time(d.Updated)
	w.time(d.ExpiresAt)
	w.number(len(d.Spans))
	for _, s := range d.Spans {
		w.span(s)
	}
	if d.Due == nil {
		w.number(0)
	} else {
		w.number(1)
		w.span(*d.Due)
	}
	*w = append(*w, byte(d.Flags))
	w.text(d.Data)
	w.number(len(d.Texts))
	for _, t := range d.Texts {
		w.text(t.Field)
		w.text(t.Text)
	}
}

func (w *writer) span(s Span) {
	w.time(s.Start)
	w.time(s.End)
	floating := 0
	if s.Floating {
		floating = 1
	}
	w.number(floating)
}

// time writes a second; none for the zero time.
func (w *writer) time(t time.Time) {
	if t.IsZero() {
		w.number(0)
		return
	}
	w.number(1)
	w.integer(t.Unix())
}

func (w *writer) number(n int)    { *w = binary.AppendUvarint(*w, uint64(n)) }
func (w *writer) integer(n int64) { *w = binary.AppendVarint(*w, n) }
func (w *writer) text(s string) {
	w.number(len(s))
	*w = append(*w, s...)
}
