package search

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"nexus/pkg/text"
)

// Sort is an order of hits.
type Sort string

// The orders. ByRank needs a query that ranks.
const (
	ByRank    Sort = "rank"    // the best first, of equal ones what was updated last
	ByUpdated Sort = "updated" // what was updated last first
	ByStart   Sort = "start"   // the earliest first, then what has no time
	ByTitle   Sort = "title"   // by the folded title
)

// Question asks for documents.
type Question struct {
	Query Query
	Now   time.Time
	// Keep, if set, selects among the matches. The document is a copy with its status as of Now. Keep may replace its
	// spans: by them [ByStart] orders.
	Keep func(*Document) bool
	Sort Sort
	// Limit bounds the hits; at least 1.
	Limit int
	// After is the place of the last hit of the page before; nil on the first one.
	After *Place
}

// Place is where a hit stands in its order.
type Place struct {
	// Number is the rank or the second of a time, and Text the beginning of the folded title: by which of them the order
	// goes.
	Number float64 `json:"n,omitempty"`
	Text   string  `json:"t,omitempty"`
	// Updated is the second of the last change, by which equal ranks are ordered.
	Updated int64 `json:"u,omitempty"`
	Ref     Ref   `json:"r"`
}

// Hit is a document that was found.
type Hit struct {
	Document // its status as of the question's instant
	// Title is that of the document, or of its parent if it has none of its own.
	Title    string
	Snippets []Snippet
	Place    Place
}

// Found is an answer: a page of hits, whether there are more behind it, and the number of all matches.
type Found struct {
	Hits  []Hit
	More  bool
	Total int
}

// Parameters of BM25, as Robertson and Zaragoza give them (The Probabilistic Relevance Framework, 2009, section 3.3).
const (
	saturation = 1.2
	byLength   = 0.75
)

// Find answers a question.
func (x *Index) Find(q Question) Found {
	alive := x.alive(q.Now)
	candidates, of := x.candidates(q.Query, alive)
	scores := x.scores(append(slices.Clone(of), x.whole(q.Query, alive)...), alive)
	var places []Place
	for _, doc := range candidates {
		d := *x.docs[doc].Document
		if d.advance(q.Now); q.Keep != nil && !q.Keep(&d) {
			continue
		}
		places = append(places, x.place(q.Sort, &d, scores[doc]))
	}
	order := q.Sort.compare
	slices.SortFunc(places, order)
	out := Found{Total: len(places)}
	if q.After != nil {
		first, _ := slices.BinarySearchFunc(places, *q.After, func(a, b Place) int {
			if order(a, b) <= 0 {
				return -1
			}
			return 1
		})
		places = places[first:]
	}
	out.More = len(places) > q.Limit
	for _, p := range places[:min(q.Limit, len(places))] {
		out.Hits = append(out.Hits, x.hit(p, of, q))
	}
	return out
}

// candidates returns the documents that match, and where each clause is in them.
func (x *Index) candidates(q Query, alive []bool) (docs []int32, of []matches) {
	for _, c := range q.must {
		of = append(of, x.find(c, alive))
	}
	not := make([]matches, len(q.not))
	for i, c := range q.not {
		not[i] = x.find(c, alive)
	}
	has := func(doc int32) func(matches) bool {
		return func(m matches) bool { return len(m[doc]) > 0 }
	}
	lacks := func(doc int32) func(matches) bool {
		return func(m matches) bool { return len(m[doc]) == 0 }
	}
	for i, there := range alive {
		if doc := int32(i); there && !slices.ContainsFunc(of, lacks(doc)) && !slices.ContainsFunc(not, has(doc)) {
			docs = append(docs, doc)
		}
	}
	return docs, of
}

// whole returns where the words that may be beginnings are whole: there they count once more.
func (x *Index) whole(q Query, alive []bool) (of []matches) {
	for _, c := range q.must {
		if c.prefix {
			c.prefix, c.exact = false, true
			of = append(of, x.find(c, alive))
		}
	}
	return of
}

// scores returns the rank of each document by the places of the clauses (BM25).
func (x *Index) scores(of []matches, alive []bool) map[int32]float64 {
	count, length := 0, 0
	for i, there := range alive {
		if there {
			count++
			length += x.docs[i].length
		}
	}
	out := map[int32]float64{}
	for _, m := range of {
		with := float64(len(m))
		rarity := math.Log(1 + (float64(count)-with+0.5)/(with+0.5))
		for doc, positions := range m {
			often := 0
			for _, p := range positions {
				if often++; p < textStride {
					often += titleWeight - 1
				}
			}
			relative := float64(x.docs[doc].length) * float64(count) / float64(max(length, 1))
			bound := saturation * (1 - byLength + byLength*relative)
			out[doc] += rarity * float64(often) * (saturation + 1) / (float64(often) + bound)
		}
	}
	return out
}

// place returns the place of a document in an order.
func (x *Index) place(s Sort, d *Document, score float64) Place {
	p := Place{Ref: d.Ref}
	switch s {
	case ByUpdated:
		p.Number = seconds(d.Updated)
	case ByStart:
		p.Number = never
		if start := d.Start(); !start.IsZero() {
			p.Number = seconds(start)
		}
	case ByTitle:
		p.Text = x.foldedTitle(d)
	default:
		p.Number, p.Updated = score, d.Updated.Unix()
	}
	return p
}

// never stands for the second of a time that there is not: it is after all others, and JSON has it.
const never = 1e18

func seconds(t time.Time) float64 { return float64(t.Unix()) }

// maxSorted is how many bytes of a folded title its order looks at.
const maxSorted = 200

// foldedTitle joins the words of a title.
func (x *Index) foldedTitle(d *Document) string {
	var out []string
	for _, w := range x.split(x.title(d)) {
		out = append(out, w.Folded)
	}
	return text.Clip(strings.Join(out, " "), maxSorted)
}

// title returns the title of the document or, if it has none of its own, of its parent.
func (x *Index) title(d *Document) string {
	if title := d.Title(); title != "" || d.Parent == (Ref{}) {
		return title
	}
	if parent := x.Get(d.Parent); parent != nil {
		return parent.Title()
	}
	return ""
}

// compare compares two places in the order.
func (s Sort) compare(a, b Place) int {
	byNumber := cmp.Compare(a.Number, b.Number)
	if s != ByStart {
		byNumber = -byNumber
	}
	return cmp.Or(compareText(a.Text, b.Text), byNumber, cmp.Compare(b.Updated, a.Updated), a.Ref.Compare(b.Ref))
}

func compareText(a, b string) int { return strings.Compare(a, b) }

// hit returns the document at a place with its snippets.
func (x *Index) hit(p Place, of []matches, q Question) Hit {
	doc := x.at[p.Ref]
	h := Hit{Document: *x.docs[doc].Document, Place: p}
	h.advance(q.Now)
	h.Title = x.title(&h.Document)
	h.Snippets = x.snippets(doc, of, q.Query.must)
	return h
}
