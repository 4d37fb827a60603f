package search

import (
	"slices"
	"unicode/utf8"

	"nexus/pkg/text"
)

// Snippet is a part of a text with the words that were found. A title is whole.
type Snippet struct {
	Field string
	Text  string
	// Marks are the places of the words that were found, in characters of Text.
	Marks []Mark
	// Before and After say that the text goes on there.
	Before, After bool
}

// Mark is from one character up to another.
type Mark struct{ From, To int }

const (
	// maxSnippets bounds the snippets of a hit.
	maxSnippets = 3
	// aroundFirst are the words that a snippet shows in front of the first mark, and perSnippet those in all.
	aroundFirst = 5
	perSnippet  = 25
	// maxSnippetBytes bounds a snippet, of which a word may be as long as a text.
	maxSnippetBytes = 600
)

// snippets returns the parts of the document's texts in which clauses were found, each word of a clause marked.
func (x *Index) snippets(doc int32, of []matches, clauses []clause) []Snippet {
	d := x.docs[doc]
	marked := make([][]int, len(d.Texts)) // of each text, the words that were found
	for n, m := range of {
		for _, p := range m[doc] {
			i := int(p) / textStride
			for word := range clauses[n].words {
				marked[i] = append(marked[i], int(p)%textStride+word)
			}
		}
	}
	var out []Snippet
	for i, words := range marked {
		if len(words) == 0 || len(out) == maxSnippets {
			continue
		}
		slices.Sort(words)
		out = append(out, cut(d.Texts[i], x.split(d.Texts[i].Text), slices.Compact(words), i == 0))
	}
	return out
}

// cut returns the part of the text around the first mark; the whole text if it is a title.
func cut(t Text, words []text.Word, marked []int, whole bool) Snippet {
	from, to := 0, len(t.Text)
	if !whole {
		first, mark := max(0, marked[0]-aroundFirst), words[marked[0]]
		if first > 0 {
			from = words[first].From
		}
		if mark.To-from > maxSnippetBytes/2 {
			from = mark.From
		}
		if last := first + perSnippet; last < len(words) {
			to = words[last].From
		}
		if to-from > maxSnippetBytes {
			to = from + maxSnippetBytes
		}
		for to < len(t.Text) && !utf8.RuneStart(t.Text[to]) {
			to--
		}
	}
	s := Snippet{Field: t.Field, Text: t.Text[from:to], Before: from > 0, After: to < len(t.Text)}
	for _, n := range marked {
		if w := words[n]; w.From >= from && w.From < to {
			s.Marks = append(s.Marks, Mark{
				From: utf8.RuneCountInString(t.Text[from:w.From]), To: utf8.RuneCountInString(t.Text[from:min(w.To, to)]),
			})
		}
	}
	return s
}
