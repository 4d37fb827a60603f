package tabletest

import (
	"fmt"
	"maps"
	"slices"

	"nexus/pkg/item"
	"nexus/pkg/table"
)

// conditionCases tries every shape of the normal form on a row and on none, with every operation that takes a
// condition, alone and in a transaction.
func conditionCases() []testCase {
	cases := []testCase{
		{"a condition outside the normal form is refused", refuseConditions},
	}
	for _, c := range shapes() {
		cases = append(cases, testCase{"condition: " + c.name, func(f *fixture) { tryShape(f, c) }})
	}
	return cases
}

// shape is one condition, and whether it holds on the row of [shapeRow] and on no row.
type shape struct {
	name         string
	when         table.Condition
	onRow, alone bool
}

func shapeRow() item.Item {
	return item.Item{
		attrText: item.String("m"), attrCount: item.Number("10"), attrFlag: item.Bool(true),
		"negative": item.Int(-10), "decimal": item.Number("0.5"), "digits": item.String("10"),
		"nothing": item.Null{}, "set": item.StringSet{"m"},
	}
}

func shapes() []shape {
	all := []shape{
		{"the zero condition", table.Condition{}, true, true},
		{"exists", table.Exists(), true, false},
		{"not exists", table.NotExists(), false, true},
		{"or no row", table.OrNoRow(), true, true},
		{"or no row with exists", table.Condition{OrNoRow: true, Row: table.RowExists}, true, true},
		{"or no row with not exists", table.Condition{OrNoRow: true, Row: table.RowMissing}, false, true},
		{"not exists and missing", table.Condition{Row: table.RowMissing, Tests: []table.Test{table.Missing(attrText)}},
			false, true},
	}
	text, count := table.Equal(attrText, item.String("m")), table.Equal(attrCount, item.Int(10))
	less, gone := table.Less(attrCount, item.Int(11)), table.Missing("absent")
	wrong := table.Equal(attrText, item.String("n"))
	for _, tests := range []struct {
		name         string
		tests        []table.Test
		onRow, alone bool
	}{
		{"three tests that hold", []table.Test{text, less, gone}, true, false},
		{"two tests, the second fails", []table.Test{count, wrong}, false, false},
		{"three tests, the last fails", []table.Test{less, count, wrong}, false, false},
		{"three tests, the first fails", []table.Test{wrong, less, count}, false, false},
		{"two attributes missing", []table.Test{gone, table.Missing("absentToo")}, true, true},
		{"one of two attributes missing", []table.Test{gone, table.Missing(attrText)}, false, true},
	} {
		all = append(all, rowStates(tests.name, tests.onRow, tests.alone, tests.tests...)...)
	}
	for _, single := range singleTests() {
		all = append(all, shape{
			single.name, table.Condition{Tests: []table.Test{single.test}}, single.holds, single.test.Op == table.OpMissing,
		})
	}
	return all
}

// rowStates are the conditions of these tests for any row, an existing one, and as an alternative to no row.
func rowStates(name string, onRow, alone bool, tests ...table.Test) []shape {
	return []shape{
		{name, table.Condition{Tests: tests}, onRow, alone},
		{"exists and " + name, table.Exists(tests...), onRow, false},
		{"no row or " + name, table.OrNoRow(tests...), onRow, true},
	}
}

type singleTest struct {
	name  string
	test  table.Test
	holds bool
}

func singleTests() []singleTest {
	equal, less, missing := table.Equal, table.Less, table.Missing
	number := func(s string) item.Number { return item.Number(s) }
	return []singleTest{
		{"equal text", equal(attrText, item.String("m")), true},
		{"other text", equal(attrText, item.String("M")), false},
		{"equal number", equal(attrCount, number("10")), true},
		{"equal number written otherwise", equal(attrCount, number("10.0")), true},
		{"equal number with an exponent", equal(attrCount, number("1e1")), true},
		{"other number", equal(attrCount, number("1")), false},
		{"number against its digits", equal("digits", number("10")), false},
		{"digits against their number", equal(attrCount, item.String("10")), false},
		{"equal flag", equal(attrFlag, item.Bool(true)), true},
		{"other flag", equal(attrFlag, item.Bool(false)), false},
		{"equal to an absent attribute", equal("absent", item.String("")), false},
		{"equal to a null", equal("nothing", item.String("")), false},
		{"equal to a set's member", equal("set", item.String("m")), false},
		{"number less by value, not by text", less(attrCount, number("9")), false},
		{"number less", less(attrCount, number("100")), true},
		{"number less by a fraction", less(attrCount, number("10.000001")), true},
		{"number not less than itself", less(attrCount, number("10")), false},
		{"negative number less than a positive", less("negative", number("1")), true},
		{"negative number less by value", less("negative", number("-9")), true},
		{"negative number not less", less("negative", number("-11")), false},
		{"fraction less", less("decimal", number("0.51")), true},
		{"fraction not less", less("decimal", number("0.09")), false},
		{"text less", less(attrText, item.String("n")), true},
		{"text less than a longer one", less(attrText, item.String("ma")), true},
		{"text less by bytes: lower case after upper", less(attrText, item.String("Z")), false},
		{"text less by bytes: letters before others", less(attrText, item.String("é")), true},
		{"text not less than itself", less(attrText, item.String("m")), false},
		{"digits as text are less by bytes", less("digits", item.String("9")), true},
		{"number less than text", less(attrCount, item.String("9")), false},
		{"absent attribute less", less("absent", number("1")), false},
		{"null less", less("nothing", item.String("z")), false},
		{"missing", missing("absent"), true},
		{"missing but there", missing(attrText), false},
		{"null is not missing", missing("nothing"), false},
	}
}

// tryShape proves the condition with each operation on fresh rows.
func tryShape(f *fixture, c shape) {
	for i, onRow := range []bool{true, false} {
		name := func(what string) string { return fmt.Sprintf("%s%d", what, i) }
		rows := map[string]item.Item{}
		if onRow {
			for _, what := range []string{"put", "update", "delete", "check", "txPut", "txUpdate", "txDelete", "txCheck"} {
				rows[what] = f.row(name(what), shapeRow())
			}
			f.NoError(f.store.Load(f.ctx, slices.Collect(maps.Values(rows))))
		}
		holds := c.alone
		if onRow {
			holds = c.onRow
		}
		decided := func(err error, what string) {
			if holds {
				f.NoError(err, what)
				return
			}
			f.failed(err, table.Failure{Old: rows[what]})
		}
		set := item.Item{attrText: item.String("changed")}
		decided(f.store.Put(f.ctx, table.Put{Item: withKey(f.key(name("put")), set), If: c.when}), "put")
		_, err := f.store.Update(f.ctx, table.Update{Key: f.key(name("update")), Set: set, If: c.when})
		decided(err, "update")
		decided(f.store.Delete(f.ctx, table.Delete{Key: f.key(name("delete")), If: c.when}), "delete")
		decided(f.store.Transact(f.ctx, table.Check{Key: f.key(name("check")), If: c.when}), "check")

		err = f.store.Transact(f.ctx,
			table.Put{Item: withKey(f.key(name("txPut")), set), If: c.when},
			table.Update{Key: f.key(name("txUpdate")), Set: set, If: c.when},
			table.Delete{Key: f.key(name("txDelete")), If: c.when},
			table.Check{Key: f.key(name("txCheck")), If: c.when},
		)
		if holds {
			f.NoError(err)
			continue
		}
		f.failed(err,
			table.Failure{Index: 0, Old: rows["txPut"]}, table.Failure{Index: 1, Old: rows["txUpdate"]},
			table.Failure{Index: 2, Old: rows["txDelete"]}, table.Failure{Index: 3, Old: rows["txCheck"]},
		)
		for what, row := range rows {
			if onRow {
				f.is(row)
			} else {
				f.absent(f.key(name(what)))
			}
		}
	}
}

func withKey(key item.Key, attributes item.Item) item.Item {
	it := key.Item()
	for name, v := range attributes {
		it[name] = v
	}
	return it
}

func refuseConditions(f *fixture) {
	one := table.Missing("absent")
	for _, c := range []table.Condition{
		table.Exists(one, one, one, one),
		table.Exists(table.Less(attrFlag, item.Bool(true))),
		table.Exists(table.Equal(attrText, nil)),
		table.Exists(table.Equal(attrText, item.Null{})),
		table.Exists(table.Equal(attrText, item.StringSet{"x"})),
		table.Exists(table.Equal(attrText, item.List{})),
	} {
		f.ErrorIs(f.store.Put(f.ctx, table.Put{Item: f.row("a", nil), If: c}), table.ErrInvalid)
		f.ErrorIs(f.store.Delete(f.ctx, table.Delete{Key: f.key("a"), If: c}), table.ErrInvalid)
		_, err := f.store.Update(f.ctx, table.Update{Key: f.key("a"), Set: item.Item{attrCount: item.Int(1)}, If: c})
		f.ErrorIs(err, table.ErrInvalid)
		f.ErrorIs(f.store.Transact(f.ctx, table.Check{Key: f.key("a"), If: c}, table.Put{Item: f.row("b", nil)}),
			table.ErrInvalid)
	}
	f.absent(f.key("a"))
	f.absent(f.key("b"))
}
