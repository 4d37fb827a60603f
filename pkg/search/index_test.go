package search_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nexus/pkg/search"
	"nexus/pkg/text/words"
)

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// fromNothing returns an index of the documents.
func fromNothing(docs map[search.Ref]search.Document, order []search.Ref) *search.Index {
	x := search.New(words.Split)
	for _, ref := range order {
		x.Put(docs[ref])
	}
	return x
}

func sortedRefs(docs map[search.Ref]search.Document) []search.Ref {
	return slices.SortedFunc(maps.Keys(docs), search.Ref.Compare)
}

// someDocument draws a document. A word of its texts occurs in many.
func someDocument(t *rapid.T) search.Document {
	word := rapid.SampledFrom(strings.Fields("plan plans planet garden Gärten gardener alpha beta gamma 東京 can't e-mail"))
	texts := rapid.SliceOfN(word, 0, 6)
	number := rapid.IntRange(0, 8).Draw(t, "number")
	d := search.Document{
		Ref:     search.Ref{Type: rapid.SampledFrom([]string{"NOTE", "TASK"}).Draw(t, "type"), ID: fmt.Sprint(number)},
		Version: rapid.Int64Range(1, 3).Draw(t, "version"), Updated: noon.Add(-time.Duration(number%3) * time.Hour),
		Texts: []search.Text{
			{Field: "title", Text: strings.Join(texts.Draw(t, "title"), " ")},
			{Field: "body", Text: strings.Join(texts.Draw(t, "body"), ", ")},
		},
		Status: "OPEN",
	}
	for _, tag := range []string{"home", "work"} {
		if rapid.Bool().Draw(t, tag) {
			d.Tags = append(d.Tags, tag)
		}
	}
	switch rapid.IntRange(0, 6).Draw(t, "kind") {
	case 0:
		d.ExpiresAt = noon.Add(time.Duration(rapid.IntRange(-2, 2).Draw(t, "expires")) * time.Hour)
	case 1:
		d.Parent = search.Ref{Type: "NOTE", ID: "1"}
	case 2:
		d.Then, d.StatusAt = "ARCHIVED", noon.Add(time.Duration(rapid.IntRange(-2, 2).Draw(t, "archived"))*time.Hour)
	case 3:
		start := noon.AddDate(0, 0, number)
		d.Spans = []search.Span{{Start: start, End: start.Add(time.Hour), Floating: number%2 == 0}}
		d.Due = &d.Spans[0]
	}
	return d
}

// TestIndex_isThatOfItsDocuments changes an index at random, also through its bytes, and compares its bytes and answers
// with those of an index of the same documents from nothing.
func TestIndex_isThatOfItsDocuments(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		docs, x, now := map[search.Ref]search.Document{}, search.New(words.Split), noon.Add(-time.Hour)
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				d := someDocument(t)
				docs[d.Ref] = d
				x.Put(d)
			},
			"remove": func(t *rapid.T) {
				ref := someDocument(t).Ref
				delete(docs, ref)
				x.Remove(ref)
			},
			"later": func(*rapid.T) { now = now.Add(time.Minute * 20) },
			"through its bytes": func(t *rapid.T) {
				var err error
				x, err = search.Decode(x.Encode(now), words.Split)
				require.NoError(t, err)
			},
			"": func(t *rapid.T) {
				order := rapid.Permutation(sortedRefs(docs)).Draw(t, "order")
				other := fromNothing(docs, order)
				require.Equal(t, other.Encode(now), x.Encode(now))
				require.Equal(t, other.Tags(now), x.Tags(now))
				text := rapid.SampledFrom([]string{
					"", "plan", "plan garden", `"plan planet"`, "-plan", "gardn", "plannet", "gart -beta", "can't", "東京",
				}).Draw(t, "query")
				q, err := search.Parse(text, words.Split)
				require.NoError(t, err)
				for _, sort := range []search.Sort{search.ByRank, search.ByUpdated, search.ByStart, search.ByTitle} {
					all := search.Question{Query: q, Now: now, Sort: sort, Limit: 100}
					whole := other.Find(all)
					require.Equal(t, whole, x.Find(all))
					require.Equal(t, whole.Hits, byPages(x, all))
				}
			},
		})
	})
}

// byPages reads an answer two hits at a time.
func byPages(x *search.Index, q search.Question) (hits []search.Hit) {
	q.Limit = 2
	for {
		page := x.Find(q)
		if hits = append(hits, page.Hits...); !page.More {
			return hits
		}
		q.After = &page.Hits[len(page.Hits)-1].Place
	}
}

func TestDecode_refusesOtherBytes(t *testing.T) {
	t.Parallel()
	x := search.New(words.Split)
	x.Put(search.Document{Ref: search.Ref{Type: "NOTE", ID: "1"}, Texts: []search.Text{{"title", "One two three"}}})
	whole := x.Encode(noon)
	for n := range whole {
		_, err := search.Decode(whole[:n], words.Split)
		require.ErrorIs(t, err, search.ErrBytes, "the first %d bytes", n)
	}
	_, err := search.Decode(append(whole, 0), words.Split)
	require.ErrorIs(t, err, search.ErrBytes)
}

func FuzzDecode(f *testing.F) {
	x := search.New(words.Split)
	x.Put(search.Document{Ref: search.Ref{Type: "NOTE", ID: "1"}, Texts: []search.Text{{"title", "One two three"}}})
	f.Add(x.Encode(noon))
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := search.Decode(b, words.Split)
		if err != nil {
			require.ErrorIs(t, err, search.ErrBytes)
			return
		}
		x.Find(search.Question{Now: noon, Limit: 1, Sort: search.ByRank})
	})
}
