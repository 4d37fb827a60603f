package tabletest

import (
	"slices"
	"strings"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// rangeNames returns the rows of the range cases in the order of bytes, which is that of the table.
func rangeNames() []string {
	return []string{"A", "B", "Z", "a", "a1", "a10", "a2", "ab", "b", "z", "é", "漢"}
}

func rangeCases() []testCase {
	cases := []testCase{
		{"a query of an empty partition is an empty page", func(f *fixture) {
			page, err := f.store.Query(f.ctx, f.mine())
			f.NoError(err)
			f.Empty(page.Items)
			f.Empty(page.Next)
			n, err := f.store.Count(f.ctx, f.mine())
			f.NoError(err)
			f.Zero(n)
		}},
		{"a query without partition, of an unknown index, or with an impossible range is refused", func(f *fixture) {
			mine := f.mine().Partition
			for _, q := range []table.Query{
				{},
				{Index: table.StateView},
				{Partition: mine, Index: "GSI9"},
				{Partition: mine, Range: table.Range{Prefix: sortKey("a"), From: sortKey("a")}},
				{Partition: mine, Range: table.Range{Prefix: sortKey("a"), To: sortKey("b")}},
				{Partition: mine, Range: table.Range{From: sortKey("b"), To: sortKey("a")}},
				{Partition: mine, Limit: -1},
			} {
				_, err := f.store.Query(f.ctx, q)
				f.ErrorIs(err, table.ErrInvalid, "%+v", q)
				if q.Limit == 0 {
					_, err = f.store.Count(f.ctx, q)
					f.ErrorIs(err, table.ErrInvalid, "%+v", q)
				}
			}
		}},
		{"a query of the table sees what was written before", func(f *fixture) {
			f.put("a", item.Item{attrCount: item.Int(1)})
			row := f.put("a", item.Item{attrCount: item.Int(2)})
			f.sameRows([]item.Item{row}, f.rows(f.mine()))
			f.NoError(f.store.Delete(f.ctx, table.Delete{Key: row.Key()}))
			f.Empty(f.rows(f.mine()))
		}},
	}
	for name, c := range rangeShapes() {
		cases = append(cases,
			testCase{"range of the table: " + name, func(f *fixture) { tryRange(f, table.Base, c.bounds, c.want) }},
			testCase{"range of an index: " + name, func(f *fixture) { tryRange(f, table.StateView, c.bounds, c.want) }},
		)
	}
	slices.SortFunc(cases, func(a, b testCase) int { return strings.Compare(a.name, b.name) })
	return cases
}

type rangeShape struct {
	bounds table.Range
	want   []string
}

func rangeShapes() map[string]rangeShape {
	key := sortKey
	return map[string]rangeShape{
		"everything":                       {table.Range{}, rangeNames()},
		"a prefix":                         {table.Range{Prefix: key("a")}, []string{"a", "a1", "a10", "a2", "ab"}},
		"a longer prefix":                  {table.Range{Prefix: key("a1")}, []string{"a1", "a10"}},
		"a prefix of several bytes a rune": {table.Range{Prefix: key("漢")}, []string{"漢"}},
		"a prefix of half a name":          {table.Range{Prefix: entity.ItemPrefix(product.TypeNote)}, rangeNames()},
		"a prefix that nothing has":        {table.Range{Prefix: key("a3")}, nil},
		"a prefix before all":              {table.Range{Prefix: entity.ItemPrefix(product.TypeEvent)}, nil},
		"a prefix after all":               {table.Range{Prefix: entity.ItemPrefix(product.TypeTask)}, nil},
		"from a row":                       {table.Range{From: key("b")}, []string{"b", "z", "é", "漢"}},
		"from between rows":                {table.Range{From: key("aa")}, []string{"ab", "b", "z", "é", "漢"}},
		"from behind all":                  {table.Range{From: entity.ItemPrefix(product.TypeTask)}, nil},
		"to a row":                         {table.Range{To: key("a")}, []string{"A", "B", "Z", "a"}},
		"to between rows":                  {table.Range{To: key("Y")}, []string{"A", "B"}},
		"to before all":                    {table.Range{To: entity.ItemPrefix(product.TypeEvent)}, nil},
		"from a row to a row":              {table.Range{From: key("a1"), To: key("a2")}, []string{"a1", "a10", "a2"}},
		"from a row to itself":             {table.Range{From: key("a1"), To: key("a1")}, []string{"a1"}},
		"from and to between two rows":     {table.Range{From: key("c"), To: key("y")}, nil},
	}
}

// tryRange reads the range forwards and backwards, whole, row by row, and as a count.
func tryRange(f *fixture, index table.Index, bounds table.Range, want []string) {
	rows := make([]item.Item, 0, len(rangeNames()))
	partition := entity.UserPK(f.user)
	for _, name := range rangeNames() {
		rows = append(rows, f.row(name, item.Item{
			item.AttrGSI3PK: item.String(partition), item.AttrGSI3SK: item.String(sortKey(name)),
		}))
	}
	f.NoError(f.store.Load(f.ctx, rows))
	f.eventually(table.Query{Index: index, Partition: partition}, rangeNames()...)

	q := table.Query{Index: index, Partition: partition, Range: bounds}
	f.eventually(q, want...)
	n, err := f.store.Count(f.ctx, q)
	f.NoError(err)
	f.Equal(len(want), n)
	q.Limit = 2
	f.eventually(q, want...)

	backwards := slices.Clone(want)
	slices.Reverse(backwards)
	q.Descending = true
	f.eventually(q, backwards...)
	q.Limit = 0
	f.eventually(q, backwards...)
}
