package search

import (
	"iter"
	"slices"
	"time"

	"nexus/pkg/text"
)

// Index holds documents and finds them by their words. It is not safe for concurrent use.
type Index struct {
	split func(string) []text.Word
	docs  []entry
	at    map[Ref]int32 // of a document, its place in docs
	// numbers has each word that a document ever had, and postings its places, by that number.
	numbers  map[string]int32
	words    []string
	postings [][]posting
	// sorted are the first words of words, in the order of their bytes: those that the index was decoded with.
	sorted int
	bytes  int // of the documents' texts and data
}

// entry is a document with its words by their numbers, one list for each text. A removed one has no document.
type entry struct {
	*Document
	words  [][]int32
	length int // in words, those of the title counted [titleWeight] times
}

// posting is a place of a word: the document, and the position in it. Positions of different texts are far apart.
type posting struct{ doc, position int32 }

const (
	// textStride is the distance between the positions of two texts: more than the words of one.
	textStride = 1 << 20
	// titleWeight is how often a word of the title counts.
	titleWeight = 3
)

// New returns an empty index. Split says which words a text has.
func New(split func(string) []text.Word) *Index {
	return &Index{split: split, at: map[Ref]int32{}, numbers: map[string]int32{}}
}

// Size returns how many documents there are, expired ones included, and how many bytes their texts and data have.
func (x *Index) Size() (documents, bytes int) { return len(x.at), x.bytes }

// SizeAt returns the same of the documents that have not expired at the instant. It visits all.
func (x *Index) SizeAt(now time.Time) (documents, bytes int) {
	for d := range x.All() {
		if !d.isExpired(now) {
			documents++
			bytes += d.bytes()
		}
	}
	return documents, bytes
}

// All yields the documents, expired ones included, in no order.
func (x *Index) All() iter.Seq[*Document] {
	return func(yield func(*Document) bool) {
		for _, e := range x.docs {
			if e.Document != nil && !yield(e.Document) {
				return
			}
		}
	}
}

// Put adds the document, or replaces the one of its name. The document must not be changed afterwards.
func (x *Index) Put(d Document) {
	lists := make([][]int32, len(d.Texts))
	for i, t := range d.Texts {
		for _, w := range x.split(t.Text) {
			if len(lists[i]) == textStride {
				break
			}
			lists[i] = append(lists[i], x.number(w.Folded))
		}
	}
	x.add(&d, lists)
}

func (x *Index) add(d *Document, lists [][]int32) {
	x.Remove(d.Ref)
	doc := int32(len(x.docs))
	e := entry{Document: d, words: lists}
	for i, list := range lists {
		weight := 1
		if i == 0 {
			weight = titleWeight
		}
		e.length += weight * len(list)
		for position, number := range list {
			x.postings[number] = append(x.postings[number], posting{doc, int32(i*textStride + position)})
		}
	}
	x.docs, x.at[d.Ref] = append(x.docs, e), doc
	x.bytes += d.bytes()
}

// IsWorn reports whether a fourth of the places has no document any more, or a fourth of the words is out of order. To
// encode the index and decode it mends both.
func (x *Index) IsWorn() bool {
	return 4*(len(x.docs)-len(x.at)) > len(x.docs) || 4*(len(x.words)-x.sorted) > len(x.words)
}

func (x *Index) number(word string) int32 {
	n, ok := x.numbers[word]
	if !ok {
		n = int32(len(x.words))
		x.numbers[word] = n
		x.words, x.postings = append(x.words, word), append(x.postings, nil)
	}
	return n
}

// Remove removes the document, if there is one.
func (x *Index) Remove(ref Ref) {
	if i, ok := x.at[ref]; ok {
		x.bytes -= x.docs[i].bytes()
		x.docs[i] = entry{}
		delete(x.at, ref)
	}
}

// Get returns the document; nil if there is none.
func (x *Index) Get(ref Ref) *Document {
	i, ok := x.at[ref]
	if !ok {
		return nil
	}
	return x.docs[i].Document
}

// alive says of each place in docs whether its document is there at the instant.
func (x *Index) alive(now time.Time) []bool {
	alive := make([]bool, len(x.docs))
	for i, e := range x.docs {
		alive[i] = e.Document != nil && !e.isExpired(now)
	}
	for i, e := range x.docs {
		if alive[i] && e.Parent != (Ref{}) {
			parent, ok := x.at[e.Parent]
			alive[i] = ok && !x.docs[parent].isExpired(now)
		}
	}
	return alive
}

// Tag is a tag with the number of documents that have it.
type Tag struct {
	Name  string
	Count int
}

// Tags returns the tags of the documents that are there at the instant, in the order of their bytes.
func (x *Index) Tags(now time.Time) []Tag {
	counts := map[string]int{}
	for i, there := range x.alive(now) {
		if there {
			for _, tag := range x.docs[i].Tags {
				counts[tag]++
			}
		}
	}
	out := make([]Tag, 0, len(counts))
	for name, n := range counts {
		out = append(out, Tag{name, n})
	}
	slices.SortFunc(out, func(a, b Tag) int { return compareText(a.Name, b.Name) })
	return out
}
