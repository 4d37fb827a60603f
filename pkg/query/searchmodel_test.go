package query_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nexus/internal/long"
	"nexus/pkg/blob"
	blobmemory "nexus/pkg/blob/memory"
	"nexus/pkg/changes/changelog"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/query"
	"nexus/pkg/text/fold"
	"nexus/pkg/text/words"
)

// searchWorld is a feedWorld whose user searches, in two processes that share the snapshots.
type searchWorld struct {
	*feedWorld
	objects   *blobmemory.Store
	searchers []*query.Service
	former    map[item.Key]item.Item // the table as it was, for a restore
	form      uint16
}

func (w *searchWorld) start() *query.Service {
	return query.New(query.Config{
		Store: reader{w.store, w.feedWorld}, Registry: product.Registry(), Now: func() time.Time { return w.now },
		Fold: fold.String, Form: w.form, Searching: &query.Searching{Split: words.Split, Snapshots: w.objects},
	})
}

// found returns the versions of what a search finds.
func (w *searchWorld) found(s *query.Service, q query.SearchQuery) map[entity.Ref]int64 {
	out := map[entity.Ref]int64{}
	for q.Limit = 2; ; {
		page, err := s.Search(ctx, ann, q)
		require.NoError(w, err)
		for _, h := range page.Hits {
			require.NotContains(w, out, entity.Ref(h.Ref), "twice")
			out[entity.Ref(h.Ref)] = h.Version
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return out
		}
	}
}

// there are the entities that a reader sees in the table, as rows.
func (w *searchWorld) there() map[entity.Ref]item.Item {
	out := map[entity.Ref]item.Item{}
	for _, row := range w.rows {
		t := product.Registry().ByName(row.Str(entity.AttrType))
		if t != nil && t.HasCollection() && t.Name != entity.TypeInstance && !entity.Expired(row, w.now) {
			out[t.Ref(row)] = row
		}
	}
	return out
}

// search searches at any moment. Others write at the same time. What is found has come at least as far as the log says.
func (w *searchWorld) search() {
	said := map[entity.Ref]changelog.Entry{}
	for row, err := range changelog.Rows(ctx, w.store, changelog.Read{User: ann}) {
		require.NoError(w, err)
		if row.Old(w.now) {
			break
		}
		for _, e := range row.Entries {
			if said[e.Ref].Compare(e) < 0 {
				said[e.Ref] = e
			}
		}
	}
	w.meddle = func() {
		if w.chance(30) {
			w.write()
		}
		if w.chance(30) {
			w.announce()
		}
	}
	s := w.searchers[w.IntN(len(w.searchers))]
	page, err := s.Search(ctx, ann, query.SearchQuery{Limit: 100})
	w.meddle = nil
	require.NoError(w, err)
	require.Empty(w, page.Next)
	got := map[entity.Ref]int64{}
	for _, h := range page.Hits {
		got[entity.Ref(h.Ref)] = h.Version
	}
	for ref, e := range said {
		t := product.Registry().ByName(ref.Type)
		if t == nil || !t.HasCollection() || t.Name == entity.TypeInstance {
			continue
		}
		row := w.rows[entity.ItemKey(ann, ref)]
		version, ok := got[ref]
		if !ok && row != nil && !entity.Expired(row, w.now) {
			require.Greater(w, row.Int(entity.AttrVersion), e.Version, "%s is not found", e)
		}
		if ok {
			require.GreaterOrEqual(w, version, e.Version, "%s", e)
		}
	}
}

// announce brings all that is pending into the log.
func (w *feedWorld) announce() {
	for len(w.pending) > 0 {
		n := min(len(w.pending), 100)
		a := &logWriter{batch: w.pending[:n]}
		w.pending = w.pending[n:]
		for !w.step(a) {
		}
	}
}

// harm loses or damages an object, restarts a process, or restores the table.
func (w *searchWorld) harm() {
	names, err := w.objects.List(ctx, "", blob.MaxList, "")
	require.NoError(w, err)
	switch k := w.IntN(6); {
	case k == 0:
		w.searchers[w.IntN(len(w.searchers))] = w.start()
	case k == 1 && w.former == nil && len(w.writers) == 0:
		w.former = maps.Clone(w.rows)
	case k == 2 && w.former != nil && len(w.writers) == 0:
		w.restore()
	case len(names) == 0:
	case k == 3:
		require.NoError(w, w.objects.Delete(ctx, names[w.IntN(len(names))]))
	default:
		name := names[w.IntN(len(names))]
		body, err := w.objects.Get(ctx, name)
		require.NoError(w, err)
		if len(body) > 0 {
			body[w.IntN(len(body))] ^= 1 << w.IntN(8)
		}
		require.NoError(w, w.objects.Put(ctx, name, body[:w.IntN(len(body)+1)]))
	}
}

// restore brings the table back to a former state, and the operator raises the form. Snapshots stay: they know a future
// that never was.
func (w *searchWorld) restore() {
	for key := range w.rows {
		if w.former[key] == nil {
			w.change(key, nil)
		}
	}
	for key, row := range w.former {
		w.change(key, row)
	}
	w.former, w.pending, w.done, w.before = nil, nil, nil, nil
	w.form++
	w.searchers = []*query.Service{w.start(), w.start()}
	// What the log of that moment lacked is announced by a repair.
	for _, row := range w.rows {
		if product.Registry().ByName(row.Str(entity.AttrType)) != nil {
			w.pending = append(w.pending, entryOf(row))
		}
	}
}

// compare compares what is found with what is in the table, once the log says all.
func (w *searchWorld) compare() {
	for _, a := range w.writers {
		for !w.step(a) {
		}
	}
	w.writers = nil
	w.announce()
	w.before = nil
	there := w.there()
	for i, s := range append(w.searchers, w.start()) {
		want := map[entity.Ref]int64{}
		for ref, row := range there {
			want[ref] = row.Int(entity.AttrVersion)
		}
		require.Equal(w, want, w.found(s, query.SearchQuery{}), "searcher %d", i)
		for _, word := range []string{"even", "odd"} {
			want := map[entity.Ref]int64{}
			for ref, row := range there {
				if strings.HasSuffix(row.Str(entity.AttrTitle), word) {
					want[ref] = row.Int(entity.AttrVersion)
				}
			}
			require.Equal(w, want, w.found(s, query.SearchQuery{Text: word}), "searcher %d, %s", i, word)
		}
	}
	names, err := w.objects.List(ctx, "", blob.MaxList, "")
	require.NoError(w, err)
	require.LessOrEqual(w, len(names), 8)
	require.False(w, slices.ContainsFunc(names, func(name string) bool { return !strings.HasPrefix(name, "snap/ann/") }))
}

// historiesOfACheck returns how many histories each check of rapid plays.
func historiesOfACheck() uint64 {
	if long.Tests() {
		return 10
	}
	return 2
}

// TestService_searchesWhatThereIs plays histories of one user by the rules of the change log: with snapshots that are
// old, lost, damaged, or of a table that was restored.
func TestService_searchesWhatThereIs(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine asks much: nothing for the race detector")
	}
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		for history := range historiesOfACheck() {
			w := &searchWorld{
				feedWorld: &feedWorld{
					T: t, Rand: rand.New(rand.NewPCG(seed, history)), now: noon, rows: map[item.Key]item.Item{},
					highest: map[entity.Ref]int64{}, resets: map[query.ResetReason]int{},
					devices: []*phone{{}},
				},
				objects: blobmemory.New(nil),
			}
			w.store = w.storeOf(nil)
			w.searchers = []*query.Service{w.start(), w.start()}
			calm := false
			for i := range 20 + w.IntN(80) {
				if i%13 == 0 {
					calm = w.chance(40)
				}
				switch k := w.IntN(10); {
				case k < 3:
					w.search()
				case k == 3:
					w.harm()
				default:
					w.act(calm)
				}
				if w.chance(3) {
					w.compare()
				}
			}
			w.compare()
		}
	})
}

func titleOf(version int64) string {
	return fmt.Sprintf("thing %s", []string{"even", "odd"}[version%2])
}
