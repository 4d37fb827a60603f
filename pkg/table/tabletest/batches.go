package tabletest

import (
	"fmt"
	"slices"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

func batchCases() []testCase {
	return []testCase{
		{"a batch of keys is answered in their order, without the missing", func(f *fixture) {
			rows := f.load(5, nil)
			got, err := f.store.BatchGet(f.ctx, []item.Key{
				rows[4].Key(), f.key("missing"), rows[0].Key(), rows[2].Key(), f.key("missing-too"),
			})
			f.NoError(err)
			f.sameRows([]item.Item{rows[4], rows[0], rows[2]}, got)
		}},
		{"a repeated key is answered once, where it stood first", func(f *fixture) {
			rows := f.load(2, nil)
			a, b := rows[0].Key(), rows[1].Key()
			got, err := f.store.BatchGet(f.ctx, []item.Key{b, a, b, a, a, f.key("missing"), f.key("missing")})
			f.NoError(err)
			f.sameRows([]item.Item{rows[1], rows[0]}, got)
		}},
		{"a tally has the units of the calls of its context, and of no others", func(f *fixture) {
			var tally table.Tally
			ctx := table.WithTally(f.ctx, &tally)
			rows := f.load(2, nil)
			f.Zero(tally.Units())
			_, err := f.store.Get(ctx, rows[0].Key())
			f.NoError(err)
			f.InDelta(1, tally.Units(), 0, "a consistent read")
			_, err = f.store.Peek(ctx, []item.Key{rows[0].Key()})
			f.NoError(err)
			f.InDelta(1.5, tally.Units(), 0, "half a unit for one that may lag")
			changed := rows[1].Clone()
			changed["note"] = item.String("x")
			f.NoError(f.store.Put(ctx, table.Put{Item: changed}))
			f.InDelta(2.5, tally.Units(), 0, "a write that moves no index")
			_, err = f.store.Get(f.ctx, rows[0].Key())
			f.NoError(err)
			f.InDelta(2.5, tally.Units(), 0)
		}},
		{"a batch of no keys is answered with none", func(f *fixture) {
			got, err := f.store.BatchGet(f.ctx, nil)
			f.NoError(err)
			f.Empty(got)
		}},
		{"a batch of more than 100 keys is answered in their order", func(f *fixture) {
			rows := f.load(2*table.MaxBatchGet+30, nil)
			slices.Reverse(rows)
			var keys []item.Key
			for i, row := range rows {
				keys = append(keys, row.Key(), f.key(fmt.Sprintf("missing-%d", i)))
			}
			got, err := f.store.BatchGet(f.ctx, keys)
			f.NoError(err)
			f.sameRows(rows, got)
		}},
		{"a batch sees what was written before", func(f *fixture) {
			row := f.put("a", item.Item{attrCount: item.Int(1)})
			row[attrCount] = item.Int(2)
			f.NoError(f.store.Put(f.ctx, table.Put{Item: row}))
			got, err := f.store.BatchGet(f.ctx, []item.Key{row.Key()})
			f.NoError(err)
			f.sameRows([]item.Item{row}, got)
		}},
		{"a peek comes to see what was written before, in the order of its keys", func(f *fixture) {
			rows := f.load(3, nil)
			f.await([]string{"002", "000"}, func() []string {
				got, err := f.store.Peek(f.ctx, []item.Key{rows[2].Key(), f.key("missing"), rows[0].Key(), rows[2].Key()})
				f.NoError(err)
				return names(got)
			})
		}},
		{"a query of the table that may lag comes to see what was written before", func(f *fixture) {
			f.load(3, nil)
			q := f.mine()
			q.Eventual = true
			f.eventually(q, "000", "001", "002")
		}},
		{"a load writes hundreds of rows", func(f *fixture) {
			rows := f.load(260, func(i int) item.Item { return item.Item{attrText: item.String(fmt.Sprint("row ", i))} })
			f.sameRows(rows, f.rows(f.mine()))
		}},
		{"a load replaces rows, and repeats without harm", func(f *fixture) {
			f.put("000", item.Item{attrText: item.String("former")})
			f.load(3, nil)
			f.sameRows(f.load(3, nil), f.rows(f.mine()))
		}},
		{"a load of no rows does nothing", func(f *fixture) {
			f.NoError(f.store.Load(f.ctx, nil))
		}},
		{"a load that names a row twice is refused before it writes", func(f *fixture) {
			rows := make([]item.Item, 0, 60)
			for i := range cap(rows) - 1 {
				rows = append(rows, f.row(fmt.Sprintf("%03d", i), nil))
			}
			rows = append(rows, rows[0])
			f.ErrorIs(f.store.Load(f.ctx, rows), table.ErrInvalid)
			f.Empty(f.rows(f.mine()))
		}},
		{"a load shows in the indexes", func(f *fixture) {
			f.load(3, func(int) item.Item {
				return item.Item{item.AttrGSI3PK: item.String(entity.UserPK(f.user)), item.AttrGSI3SK: item.String("x")}
			})
			f.eventuallyHas(table.Query{Index: table.StateView, Partition: entity.UserPK(f.user)}, "000", "001", "002")
		}},
	}
}
