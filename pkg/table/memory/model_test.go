package memory_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

// model is the table as a plain map, read by sorting everything.
type model map[item.Key]item.Item

func (m model) query(q table.Query) []string {
	index, _ := table.ProductSchema().Index(q.Index)
	var places []string
	for key, row := range m {
		sk := row.Str(index.SK)
		if row.Str(index.PK) == q.Partition && sk != "" && sk >= q.Range.From && (q.Range.To == "" || sk <= q.Range.To) &&
			strings.HasPrefix(sk, q.Range.Prefix) {
			places = append(places, sk+" "+key.SK)
		}
	}
	slices.Sort(places)
	if q.Descending {
		slices.Reverse(places)
	}
	return places
}

func TestStore_agreesWithAPlainModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		store, rows := memory.New(start, memory.Options{Shards: 2}), model{}
		names := rapid.IntRange(4, 2000).Draw(t, "names")
		for range rapid.IntRange(1, 400).Draw(t, "writes") {
			writeOne(t, store, rows, names)
		}
		// Fill and empty a stretch, so that chunks split and join.
		from, n := rapid.IntRange(0, 1000).Draw(t, "from"), rapid.IntRange(0, 900).Draw(t, "stretch")
		for i := range n {
			row := modelRow(from+i*7%997, i%5)
			require.NoError(t, store.Put(t.Context(), table.Put{Item: row}))
			rows[row.Key()] = row
		}
		for i := range n * rapid.IntRange(0, 10).Draw(t, "tenths") / 10 {
			key := noteKey(numbered(from + i*7%997))
			require.NoError(t, store.Delete(t.Context(), table.Delete{Key: key}))
			delete(rows, key)
		}
		require.Equal(t, len(rows), store.Len())
		for range 5 {
			compareQuery(t, store, rows)
		}
		require.Equal(t, map[item.Key]item.Item(rows), replayed(t, store))
	})
}

// modelRow is a row whose place in GSI3 is one of few; place 0 is none.
func modelRow(name, at int) item.Item {
	row := note(numbered(name), nil)
	if at > 0 {
		row[item.AttrGSI3PK], row[item.AttrGSI3SK] = item.String(entity.UserPK("u")), item.String(fmt.Sprint("at", at))
	}
	return row
}

func writeOne(t *rapid.T, store *memory.Store, rows model, names int) {
	name, at := rapid.IntRange(0, names).Draw(t, "name"), rapid.IntRange(0, 5).Draw(t, "at")
	row := modelRow(name, at)
	key := row.Key()
	switch rapid.IntRange(0, 3).Draw(t, "op") {
	case 0:
		require.NoError(t, store.Put(t.Context(), table.Put{Item: row}))
		rows[key] = row
	case 1:
		require.NoError(t, store.Delete(t.Context(), table.Delete{Key: key}))
		delete(rows, key)
	case 2:
		got, err := store.Update(t.Context(), table.Update{
			Key: key, Set: count(int64(at)), Remove: []string{item.AttrGSI3SK},
		})
		require.NoError(t, err)
		want := maps.Clone(rows[key])
		if want == nil {
			want = key.Item()
		}
		want["count"] = item.Int(int64(at))
		delete(want, item.AttrGSI3SK)
		require.Equal(t, want, got)
		rows[key] = want
	case 3:
		err := store.Transact(t.Context(), table.Put{Item: row, If: table.NotExists()}, table.Delete{Key: noteKey("other")})
		if _, exists := rows[key]; exists {
			var failed *table.ConditionError
			require.ErrorAs(t, err, &failed)
			return
		}
		require.NoError(t, err)
		rows[key] = row
	}
}

func compareQuery(t *rapid.T, store *memory.Store, rows model) {
	q := table.Query{
		Partition: entity.UserPK("u"), Descending: rapid.Bool().Draw(t, "descending"),
		Limit: rapid.IntRange(0, 40).Draw(t, "limit"),
	}
	bound := func() string { return noteKey(numbered(rapid.IntRange(0, 2000).Draw(t, "bound"))).SK }
	if rapid.Bool().Draw(t, "index") {
		q.Index = table.StateView
		bound = func() string { return fmt.Sprint("at", rapid.IntRange(0, 6).Draw(t, "bound")) }
	}
	switch rapid.IntRange(0, 3).Draw(t, "range") {
	case 1:
		q.Range.Prefix = bound()[:len(bound())-1]
	case 2:
		q.Range.From = bound()
	case 3:
		q.Range.From, q.Range.To = bound(), bound()
		if q.Range.From > q.Range.To {
			q.Range.From, q.Range.To = q.Range.To, q.Range.From
		}
	}
	index, _ := table.ProductSchema().Index(q.Index)
	want := rows.query(q)
	var got []string
	for {
		page, err := store.Query(t.Context(), q)
		require.NoError(t, err)
		for _, row := range page.Items {
			require.Equal(t, rows[row.Key()], row)
			got = append(got, row.Str(index.SK)+" "+row.Key().SK)
		}
		if len(page.Next) == 0 {
			break
		}
		q.Start = page.Next
	}
	require.Equal(t, want, got)
	n, err := store.Count(t.Context(), q)
	require.NoError(t, err)
	require.Equal(t, len(want), n)
}

// replayed is the table rebuilt from its stream: each record must start from what the one before left.
func replayed(t *rapid.T, store *memory.Store) map[item.Key]item.Item {
	rows := map[item.Key]item.Item{}
	shards, err := store.Feed().Shards(t.Context())
	require.NoError(t, err)
	for _, s := range shards {
		for after := ""; ; {
			slice, err := store.Feed().Read(t.Context(), s.ID, after, 100)
			require.NoError(t, err)
			if len(slice.Records) == 0 {
				break
			}
			for _, r := range slice.Records {
				require.Equal(t, rows[r.Key], r.Old)
				if r.Name == change.Remove {
					delete(rows, r.Key)
				} else {
					rows[r.Key] = r.New
				}
				after = r.Sequence
			}
		}
	}
	return rows
}
