package tabletest

import (
	"fmt"
	"strings"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

func pagingCases() []testCase {
	cases := []testCase{
		{"a limit bounds each page, and the pages together are everything", func(f *fixture) {
			want := names(f.load(7, nil))
			q := f.mine()
			for limit := 1; limit <= 8; limit++ {
				q.Limit = limit
				var got []string
				for _, page := range f.pages(q) {
					f.LessOrEqual(len(page), limit)
					got = append(got, names(page)...)
				}
				f.Equal(want, got, "limit %d", limit)
			}
		}},
		{"pages end at 1 MB", func(f *fixture) {
			text := item.String(strings.Repeat("x", 250<<10))
			rows := f.load(6, func(int) item.Item { return item.Item{attrText: text} })
			for _, descending := range []bool{false, true} {
				q := f.mine()
				q.Descending = descending
				pages := f.pages(q)
				f.GreaterOrEqual(len(pages), 2)
				for _, page := range pages {
					f.LessOrEqual(len(page), 5)
				}
				f.Len(f.rows(q), len(rows))
			}
			n, err := f.store.Count(f.ctx, f.mine())
			f.NoError(err)
			f.Equal(len(rows), n)
		}},
		{"rows are read over all pages, and over no more than are wanted", func(f *fixture) {
			want := names(f.load(7, nil))
			q := f.mine()
			q.Limit = 3
			for _, pages := range []int{0, 3, 4} {
				rows, err := table.All(f.ctx, f.store, q, pages)
				f.NoError(err)
				f.Equal(want, names(rows), "%d pages", pages)
			}
			_, err := table.All(f.ctx, f.store, q, 2)
			f.ErrorIs(err, table.ErrTooMany)
			for row, err := range table.Rows(f.ctx, f.store, q, 1) { // a caller that has read enough stops
				f.NoError(err)
				f.Equal(want[0], names([]item.Item{row})[0])
				break
			}
		}},
		{"a count ignores limit and start", func(f *fixture) {
			rows := f.load(5, nil)
			q := f.mine()
			q.Limit, q.Start = 2, table.Position(rows[3].Key().Item())
			n, err := f.store.Count(f.ctx, q)
			f.NoError(err)
			f.Equal(5, n)
		}},
		{"a page goes on behind its start although that row is gone", func(f *fixture) {
			rows := f.load(6, nil)
			q := f.mine()
			q.Limit = 3
			page, err := f.store.Query(f.ctx, q)
			f.NoError(err)
			f.Equal([]string{"000", "001", "002"}, names(page.Items))
			f.NoError(f.store.Delete(f.ctx, table.Delete{Key: rows[2].Key()}))
			f.put("001a", nil)
			q.Start = page.Next
			page, err = f.store.Query(f.ctx, q)
			f.NoError(err)
			f.Equal([]string{"003", "004", "005"}, names(page.Items))
			q.Descending = true
			page, err = f.store.Query(f.ctx, q)
			f.NoError(err)
			f.Equal([]string{"001a", "001", "000"}, names(page.Items))
		}},
		{"a start in another partition, of another index, or outside the range is refused", func(f *fixture) {
			rows := f.load(3, func(int) item.Item {
				return item.Item{item.AttrGSI3PK: item.String(entity.UserPK(f.user)), item.AttrGSI3SK: item.String("x")}
			})
			at := rows[0].Key()
			elsewhere := item.Key{PK: at.PK + "-other", SK: at.SK}
			for _, q := range []table.Query{
				{Start: table.Position(elsewhere.Item())},
				{Start: table.Position{item.AttrPK: item.String(at.PK)}},
				{Start: table.Position(rows[0])},
				{Start: table.Position(at.Item()), Index: table.StateView},
				{Start: table.Position(at.Item()), Range: table.Range{From: rows[1].Key().SK}},
				{Start: table.Position(rows[2].Key().Item()), Range: table.Range{Prefix: at.SK}},
				{Start: table.Position(rows[2].Key().Item()), Range: table.Range{To: at.SK}},
			} {
				q.Partition = at.PK
				_, err := f.store.Query(f.ctx, q)
				f.ErrorIs(err, table.ErrInvalid, "%+v", q)
			}
		}},
	}
	for _, index := range table.ProductSchema().Indexes {
		cases = append(cases, testCase{"positions in " + string(index.Name), func(f *fixture) { tryPositions(f, index) }})
	}
	base, _ := table.ProductSchema().Index(table.Base)
	return append(cases, testCase{"positions in the table", func(f *fixture) { tryPositions(f, base) }})
}

// tryPositions pages through rows of which many share their place in the index: a position with only the index's keys
// would lose or repeat some of them.
func tryPositions(f *fixture, index table.IndexSchema) {
	const n = 12
	partition := entity.LinkedPK(f.user, entity.Ref{Type: product.TypeNote, ID: "note_1"})
	keys := map[string]bool{item.AttrPK: true, item.AttrSK: true, index.PK: true, index.SK: true}
	if index.Name == table.Base {
		partition = entity.UserPK(f.user)
	}
	var all []string
	for _, row := range f.load(n, func(i int) item.Item {
		if index.Name == table.Base {
			return nil
		}
		return item.Item{index.PK: item.String(partition), index.SK: item.String(fmt.Sprint("at", i/5))}
	}) {
		all = append(all, names([]item.Item{row})...)
	}
	q := table.Query{Index: index.Name, Partition: partition}
	f.eventuallyHas(q, all...)
	for _, descending := range []bool{false, true} {
		q.Descending, q.Start, q.Limit = descending, nil, 0
		whole := names(f.rows(q))
		q.Limit = 1
		for range n {
			page, err := f.store.Query(f.ctx, q)
			f.NoError(err)
			f.Equal(whole[:1], names(page.Items))
			whole = whole[1:]
			if len(whole) == 0 {
				break
			}
			f.Len(page.Next, len(keys))
			for name := range keys {
				f.NotEmpty(item.Item(page.Next).Str(name), name)
			}
			f.Equal(page.Items[0].Key(), item.Item(page.Next).Key())
			q.Start = page.Next
		}
		f.Empty(whole)
	}
}

func filterCases() []testCase {
	return []testCase{
		{"a tag filter keeps the rows with one of the tags", func(f *fixture) {
			f.tagged()
			q := f.mine()
			for _, c := range []struct{ tags, want []string }{
				{[]string{"home"}, []string{"000", "003", "006", "009"}},
				{[]string{"rare"}, []string{"009"}},
				{[]string{"rare", "work"}, []string{"001", "004", "007", "009", "010"}},
				{[]string{"home", "home"}, []string{"000", "003", "006", "009"}},
				{[]string{"hom"}, []string{}},
				{[]string{"Home"}, []string{}},
			} {
				q.AnyTag = c.tags
				f.Equal(c.want, names(f.rows(q)), "%v", c.tags)
				n, err := f.store.Count(f.ctx, q)
				f.NoError(err)
				f.Equal(len(c.want), n, "%v", c.tags)
			}
		}},
		{"a limit counts the rows before the tag filter, so pages may be empty", func(f *fixture) {
			f.tagged()
			q := f.mine()
			q.AnyTag, q.Limit = []string{"rare"}, 3
			page, err := f.store.Query(f.ctx, q)
			f.NoError(err)
			f.Empty(page.Items)
			f.NotEmpty(page.Next)
			f.Equal([]string{"009"}, names(f.rows(q)))
			q.Descending = true
			f.Equal([]string{"009"}, names(f.rows(q)))
		}},
		{"a tag filter works within a range and an index", func(f *fixture) {
			f.tagged()
			q := f.mine()
			q.Index, q.AnyTag, q.Range = table.StateView, []string{"home"},
				table.Range{From: sortKey("003"), To: sortKey("008")}
			f.eventually(q, "003", "006")
		}},
		{"a tag filter lets rows with the attribute named beside it pass", func(f *fixture) {
			f.tagged()
			f.put("002", item.Item{attrFlag: item.Bool(false)})
			q := f.mine()
			q.AnyTag, q.AnyTagOr = []string{"rare"}, attrFlag
			f.Equal([]string{"002", "009"}, names(f.rows(q)))
			n, err := f.store.Count(f.ctx, q)
			f.NoError(err)
			f.Equal(2, n)
			q.AnyTag = nil
			f.Len(f.rows(q), 12, "without tags there is no filter")
		}},
		{"more tags than an item may have are refused", func(f *fixture) {
			q := f.mine()
			for i := range 51 {
				q.AnyTag = append(q.AnyTag, fmt.Sprint("tag", i))
			}
			_, err := f.store.Query(f.ctx, q)
			f.ErrorIs(err, table.ErrInvalid)
		}},
	}
}

// tagged writes rows 000 to 011: every third tagged home, the next of each work, the third not at all, and 009 rare
// too.
func (f *fixture) tagged() {
	f.t.Helper()
	f.load(12, func(i int) item.Item {
		attributes := item.Item{
			item.AttrGSI3PK: item.String(entity.UserPK(f.user)),
			item.AttrGSI3SK: item.String(sortKey(fmt.Sprintf("%03d", i))),
		}
		switch {
		case i == 9:
			attributes[entity.AttrTags] = item.Strings("home", "rare")
		case i%3 == 0:
			attributes[entity.AttrTags] = item.Strings("home")
		case i%3 == 1:
			attributes[entity.AttrTags] = item.Strings("work", "x")
		}
		return attributes
	})
}
