package tabletest

import (
	"errors"
	"fmt"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

func transactionCases() []testCase {
	return []testCase{
		{"a transaction applies puts, updates, deletes and checks together", func(f *fixture) {
			f.put("update", item.Item{attrCount: item.Int(1), attrFlag: item.Bool(true)})
			f.put("delete", nil)
			check := f.put("check", item.Item{attrCount: item.Int(5)})
			put := f.row("put", item.Item{attrText: item.String("new")})
			f.NoError(f.store.Transact(f.ctx,
				table.Put{Item: put, If: table.NotExists()},
				table.Update{Key: f.key("update"), Set: item.Item{attrCount: item.Int(2)}, Remove: []string{attrFlag},
					If: table.Exists(table.Equal(attrCount, item.Int(1)))},
				table.Update{Key: f.key("created"), Set: item.Item{attrCount: item.Int(9)}},
				table.Delete{Key: f.key("delete"), If: table.Exists()},
				table.Check{Key: check.Key(), If: table.Exists(table.Less(attrCount, item.Int(6)))},
			))
			f.is(put)
			f.is(f.row("update", item.Item{attrCount: item.Int(2)}))
			f.is(f.row("created", item.Item{attrCount: item.Int(9)}))
			f.absent(f.key("delete"))
			f.is(check)
		}},
		{"a transaction with one failed condition writes nothing", func(f *fixture) {
			held := f.put("held", item.Item{attrCount: item.Int(1)})
			stays := f.put("stays", item.Item{attrCount: item.Int(1)})
			err := f.store.Transact(f.ctx,
				table.Put{Item: f.row("new", nil), If: table.NotExists()},
				table.Delete{Key: stays.Key()},
				table.Check{Key: held.Key(), If: table.Exists(table.Equal(attrCount, item.Int(2)))},
				table.Update{Key: f.key("created"), Set: item.Item{attrCount: item.Int(1)}},
			)
			f.failed(err, table.Failure{Index: 2, Old: held})
			f.absent(f.key("new"))
			f.absent(f.key("created"))
			f.is(stays)
			f.is(held)
		}},
		{"a failed transaction names every failed condition with its row", func(f *fixture) {
			one := f.put("one", item.Item{attrCount: item.Int(1)})
			two := f.put("two", item.Item{attrCount: item.Int(2), "map": item.Map{"x": item.Strings("y")}})
			err := f.store.Transact(f.ctx,
				table.Put{Item: f.row("one", nil), If: table.NotExists()},
				table.Put{Item: f.row("fine", nil), If: table.NotExists()},
				table.Delete{Key: f.key("missing"), If: table.Exists()},
				table.Update{Key: two.Key(), Set: item.Item{attrCount: item.Int(3)}, If: table.AtVersion(1)},
				table.Check{Key: f.key("free"), If: table.NotExists()},
			)
			f.failed(err, table.Failure{Index: 0, Old: one}, table.Failure{Index: 2}, table.Failure{Index: 3, Old: two})
			var failed *table.ConditionError
			f.True(errors.As(err, &failed))
			failure, isFailed := failed.At(3)
			f.True(isFailed)
			f.same(two, failure.Old)
			_, isFailed = failed.At(1)
			f.False(isFailed)
			f.absent(f.key("fine"))
		}},
		{"a transaction of 100 actions is applied whole", func(f *fixture) {
			f.NoError(f.store.Transact(f.ctx, f.puts(table.MaxActions)...))
			n, err := f.store.Count(f.ctx, f.mine())
			f.NoError(err)
			f.Equal(table.MaxActions, n)
		}},
		{"a transaction of 100 actions fails whole", func(f *fixture) {
			held := f.put(fmt.Sprintf("%03d", table.MaxActions-1), item.Item{attrText: item.String("held")})
			err := f.store.Transact(f.ctx, f.puts(table.MaxActions)...)
			f.failed(err, table.Failure{Index: table.MaxActions - 1, Old: held})
			f.sameRows([]item.Item{held}, f.rows(f.mine()))
		}},
		{"a transaction of more than 100 actions, or none, is refused", func(f *fixture) {
			f.ErrorIs(f.store.Transact(f.ctx, f.puts(table.MaxActions+1)...), table.ErrInvalid)
			f.ErrorIs(f.store.Transact(f.ctx), table.ErrInvalid)
			f.Empty(f.rows(f.mine()))
		}},
		{"two actions on one row are refused", func(f *fixture) {
			row := f.put("a", nil)
			for _, second := range []table.Action{
				table.Put{Item: f.row("a", item.Item{attrCount: item.Int(2)})},
				table.Update{Key: row.Key(), Set: item.Item{attrCount: item.Int(2)}},
				table.Delete{Key: row.Key()},
				table.Check{Key: row.Key(), If: table.Exists()},
			} {
				err := f.store.Transact(f.ctx, table.Put{Item: f.row("b", nil)}, table.Put{Item: row}, second)
				f.ErrorIs(err, table.ErrInvalid)
			}
			f.absent(f.key("b"))
		}},
		{"a transaction may span users", func(f *fixture) {
			other := entity.ItemKey(f.user+"-other", entity.Ref{Type: product.TypeNote, ID: "a"}).Item()
			mine := f.row("a", nil)
			f.NoError(f.store.Transact(f.ctx, table.Put{Item: other}, table.Put{Item: mine}))
			f.is(other)
			f.is(mine)
		}},
		{"a transaction of one action is a transaction", func(f *fixture) {
			row := f.row("a", item.Item{attrCount: item.Int(1)})
			f.NoError(f.store.Transact(f.ctx, table.Put{Item: row, If: table.NotExists()}))
			f.is(row)
			err := f.store.Transact(f.ctx, table.Update{
				Key: row.Key(), Set: item.Item{attrCount: item.Int(3)}, If: table.Exists(table.Equal(attrCount, item.Int(2))),
			})
			f.failed(err, table.Failure{Old: row})
			f.NoError(f.store.Transact(f.ctx, table.Delete{Key: row.Key()}))
			f.absent(row.Key())
		}},
	}
}

// puts returns n creations of rows named 000, 001, ...
func (f *fixture) puts(n int) []table.Action {
	actions := make([]table.Action, n)
	for i := range actions {
		actions[i] = table.Put{
			Item: f.row(fmt.Sprintf("%03d", i), item.Item{attrCount: item.Int(int64(i))}), If: table.NotExists(),
		}
	}
	return actions
}
