package query_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/internal/long"
	"nexus/pkg/blob"
	blobmemory "nexus/pkg/blob/memory"
	"nexus/pkg/changes/changelog"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/query"
	"nexus/pkg/search"
	"nexus/pkg/snapshot"
	"nexus/pkg/table"
	"nexus/pkg/text/fold"
	"nexus/pkg/text/words"
)

// notes puts so many notes of ann, with one row of the log for each hundred.
func (b *fixture) notes(n int) (newest int64) {
	var rows []item.Item
	var entries []changelog.Entry
	for i := range n {
		ref := entity.Ref{Type: product.TypeNote, ID: fmt.Sprintf("note_%06d", i)}
		row := entity.ItemKey(ann, ref).Item()
		row[entity.AttrType], row["noteId"] = item.String(ref.Type), item.String(ref.ID)
		row[entity.AttrVersion], row[entity.AttrTitle] = item.Int(1), item.String("n")
		rows, entries = append(rows, row), append(entries, changelog.Entry{Ref: ref, Version: 1})
	}
	for some := range slices.Chunk(entries, 100) {
		newest++
		rows = append(rows, changelog.NewRow(newest, some, uint64(newest), newest == 1, b.now).Item(ann))
	}
	require.NoError(b, b.store.Load(ctx, rows))
	b.trips()
	b.readUnits()
	return newest
}

func TestSearch_costsWhatHasChanged(t *testing.T) {
	t.Parallel()
	b := setup(t)
	newest := b.notes(1000)
	calls := map[string]int{}
	objects := blobmemory.New(func(op, _ string, after bool) error {
		if !after {
			calls[op]++
		}
		return nil
	})
	s := b.unfailing(objects)
	cost := func(s *query.Service, total int, units float64, table, objects map[string]int) {
		t.Helper()
		b.trips()
		b.readUnits()
		clear(calls)
		page, err := s.Search(ctx, ann, query.SearchQuery{Text: "n"})
		require.NoError(t, err)
		require.Equal(t, total, page.Total)
		require.InDelta(t, units, b.readUnits(), 0)
		require.Equal(t, table, b.trips())
		require.Equal(t, objects, calls)
	}
	none := map[string]int{}
	// The first reads the settings, the log's newest row, and all items of each type.
	cost(s, 1000, 27, map[string]int{"Get": 1, "Query": 8}, map[string]int{"list": 1, "put": 1})
	cost(s, 1000, 2, map[string]int{"Get": 1, "Query": 1}, none)
	cost(b.unfailing(objects), 1000, 2, map[string]int{"Get": 1, "Query": 1}, map[string]int{"list": 1, "get": 1})
	tail := func(n int64) {
		var entries []changelog.Entry
		for i := range 100 {
			id := fmt.Sprintf("note_%06d", i)
			entries = append(entries, changelog.Entry{Ref: entity.Ref{Type: product.TypeNote, ID: id}, Version: 1})
		}
		b.appendRow(ann, n, entries...)
	}
	tail(newest + 1)
	cost(s, 1000, 52, map[string]int{"Get": 1, "Query": 1, "Peek": 1}, none)
	tail(newest + 2)
	tail(newest + 3)
	cost(b.unfailing(objects), 1000, 53, map[string]int{"Get": 1, "Query": 1, "Peek": 1},
		map[string]int{"list": 1, "get": 1, "put": 1})
}

func TestSearch_goesOnWithoutSnapshotsAndTells(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.notes(3)
	for _, op := range []string{"list", "get", "put", "delete"} {
		down := false
		objects := blobmemory.New(func(is, _ string, _ bool) error {
			if down && is == op {
				return blob.ErrUnavailable
			}
			return nil
		})
		_, err := b.unfailing(objects).Search(ctx, ann, query.SearchQuery{})
		require.NoError(t, err)
		if op == "put" {
			names, err := objects.List(ctx, "", 10, "")
			require.NoError(t, err)
			require.NoError(t, objects.Delete(ctx, names[0]))
		}
		if op == "delete" {
			names, err := objects.List(ctx, "", 10, "")
			require.NoError(t, err)
			require.NoError(t, objects.Put(ctx, names[0], []byte("damaged")))
		}
		down = true
		var told []error
		page, err := b.searching(objects, func(err error) { told = append(told, err) }).Search(ctx, ann, query.SearchQuery{})
		require.NoError(t, err, op)
		require.Equal(t, 3, page.Total, op)
		require.NotEmpty(t, told, op)
		require.True(t, slices.ContainsFunc(told, func(err error) bool { return errors.Is(err, blob.ErrUnavailable) }), op)
	}
}

func TestSearch_endsWithTheErrorOfTheTable(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.notes(3)
	s := query.New(query.Config{
		Store: brokenLog{b.store}, Registry: product.Registry(), Now: func() time.Time { return b.now }, Fold: fold.String,
		Searching: &query.Searching{Split: words.Split},
	})
	_, err := s.Search(ctx, ann, query.SearchQuery{})
	require.ErrorIs(t, err, table.ErrThrottled)
}

type brokenLog struct{ table.Reader }

func (brokenLog) Query(context.Context, table.Query) (table.Page, error) {
	return table.Page{}, table.ErrThrottled
}

func TestSearch_refusesASnapshotOfAnotherForm(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.notes(3)
	objects := blobmemory.New(nil)
	_, err := b.unfailing(objects).Search(ctx, ann, query.SearchQuery{})
	require.NoError(t, err)
	b.ids = 100
	// Without an entry in the log, as after a rollback of the projections: then an operator raises the form.
	b.add(ann, product.Note(), `{"title":"unannounced"}`, nil)
	page, err := b.unfailing(objects).Search(ctx, ann, query.SearchQuery{})
	require.NoError(t, err)
	require.Equal(t, 3, page.Total)
	raised := query.New(query.Config{
		Store: b.store, Registry: product.Registry(), Now: func() time.Time { return b.now }, Fold: fold.String, Form: 1,
		Searching: &query.Searching{Split: words.Split, Snapshots: objects},
	})
	page, err = raised.Search(ctx, ann, query.SearchQuery{})
	require.NoError(t, err)
	require.Equal(t, 4, page.Total)
}

func TestSearch_refusesTooManyItems(t *testing.T) {
	t.Parallel()
	long.Only(t, "makes 50,001 items")
	b := setup(t)
	newest := b.notes(query.MaxSearched + 1)
	objects := blobmemory.New(nil)
	s := b.unfailing(objects)
	for range 2 {
		_, err := s.Search(ctx, ann, query.SearchQuery{})
		require.ErrorIs(t, err, query.ErrTooManyItems)
	}
	first := entity.Ref{Type: product.TypeNote, ID: "note_000000"}
	require.NoError(t, b.store.Delete(ctx, table.Delete{Key: entity.ItemKey(ann, first)}))
	b.appendRow(ann, newest+1, changelog.Entry{Ref: first, Version: 2})
	page, err := s.Search(ctx, ann, query.SearchQuery{})
	require.NoError(t, err)
	require.Equal(t, query.MaxSearched, page.Total)
	b.ids = 900_000
	b.appendRow(ann, newest+2, entryOf(b.add(ann, product.Note(), `{"title":"one more"}`, nil)))
	_, err = s.Search(ctx, ann, query.SearchQuery{})
	require.ErrorIs(t, err, query.ErrTooManyItems, "by the log, too")
}

func TestSearch_showsNoOtherUsersItems(t *testing.T) {
	t.Parallel()
	b := setup(t)
	objects := blobmemory.New(nil)
	s := b.unfailing(objects)
	for _, user := range []string{ann, bob, ann, bob} {
		it := b.add(user, product.Note(), `{"title":"of `+user+`","tags":["`+user+`"]}`, nil)
		b.appendRow(user, int64(1+(b.ids-1)/2), entryOf(it)) // the same rows of two logs, also by their random bits
		for _, who := range []string{ann, bob} {
			for _, s := range []*query.Service{s, b.unfailing(objects)} {
				page, err := s.Search(ctx, who, query.SearchQuery{})
				require.NoError(t, err)
				for _, h := range page.Hits {
					require.Equal(t, "of "+who, h.Title)
				}
				tags, err := s.Tags(ctx, who)
				require.NoError(t, err)
				for _, tag := range tags {
					require.Equal(t, who, tag.Name)
				}
			}
		}
	}
}

// A table that was restored leaves names of the future. They must not stand first for days.
func TestSearch_removesASnapshotThatItRefuses(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.notes(150)
	objects := blobmemory.New(nil)
	future := snapshot.New(objects, "search", search.Form<<16)
	body := search.New(words.Split).Encode(noon)
	require.NoError(t, future.Save(ctx, ann, snapshot.At{N: 7, X: 7}, body, noon))
	require.NoError(t, future.Save(ctx, ann, snapshot.At{N: 2, X: 9}, body, noon)) // of another history
	for range 2 {
		page, err := b.unfailing(objects).Search(ctx, ann, query.SearchQuery{})
		require.NoError(t, err)
		require.Equal(t, 150, page.Total)
		names, err := objects.List(ctx, "", blob.MaxList, "")
		require.NoError(t, err)
		require.Equal(t, []string{"snap/ann/search/999999999998-0000000000000002"}, names)
	}
}

// One that is in use is made again before the bucket's rule would take it, 30 days after it was made.
func TestSearch_makesASnapshotAgainAfterTwentyDays(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.notes(3)
	puts := 0
	objects := blobmemory.New(func(op, _ string, after bool) error {
		if op == "put" && !after {
			puts++
		}
		return nil
	})
	for _, c := range []struct{ day, puts int }{{0, 1}, {19, 1}, {20, 2}, {39, 2}, {40, 3}, {60, 4}} {
		b.now = noon.AddDate(0, 0, c.day)
		page, err := b.unfailing(objects).Search(ctx, ann, query.SearchQuery{})
		require.NoError(t, err)
		require.Equal(t, 3, page.Total)
		require.Equal(t, c.puts, puts, "day %d", c.day)
		names, err := objects.List(ctx, "", blob.MaxList, "")
		require.NoError(t, err)
		require.Len(t, names, 1)
	}
}
