package tabletest

import (
	"strings"

	"nexus/pkg/item"
	"nexus/pkg/table"
)

func valueCases() []testCase {
	return []testCase{
		{"every kind of value survives the round trip", func(f *fixture) {
			for name, v := range sampleValues() {
				f.put("a", item.Item{"value": v})
				f.Truef(item.Equal(v, f.get(f.key("a"))["value"]), "%s: %v", name, f.get(f.key("a"))["value"])
			}
			f.is(f.put("all", sampleValues()))
		}},
		{"values survive an update, a query, a transaction and a load alike", func(f *fixture) {
			got, err := f.store.Update(f.ctx, table.Update{Key: f.key("a"), Set: sampleValues()})
			f.NoError(err)
			f.same(f.row("a", sampleValues()), got)
			f.NoError(f.store.Transact(f.ctx,
				table.Put{Item: f.row("b", sampleValues())},
				table.Update{Key: f.key("c"), Set: sampleValues()},
			))
			f.NoError(f.store.Load(f.ctx, []item.Item{f.row("d", sampleValues())}))
			f.sameRows([]item.Item{
				f.row("a", sampleValues()), f.row("b", sampleValues()), f.row("c", sampleValues()), f.row("d", sampleValues()),
			}, f.rows(f.mine()))
		}},
		{"numbers keep all their 38 digits", func(f *fixture) {
			for _, n := range []string{
				"99999999999999999999999999999999999999", "-12345678901234567890123456789012345678",
				"0.12345678901234567890123456789012345678", "9007199254740993", "-0.5", "0",
			} {
				f.put("a", item.Item{attrCount: item.Number(n)})
				f.NoError(f.store.Transact(f.ctx, table.Check{
					Key: f.key("a"), If: table.Exists(table.Equal(attrCount, item.Number(n))),
				}), n)
			}
		}},
		{"a number with more than 38 digits, or none, is refused", func(f *fixture) {
			for _, n := range []string{strings.Repeat("7", 39), "", "one", "1e200", "0x10", "NaN"} {
				f.ErrorIs(f.store.Put(f.ctx, table.Put{Item: f.row("a", item.Item{attrCount: item.Number(n)})}),
					table.ErrInvalid, n)
			}
			f.absent(f.key("a"))
		}},
		{"an empty string is a value", func(f *fixture) {
			row := f.put("a", item.Item{attrText: item.String(""), "list": item.List{item.String("")}})
			f.is(row)
			f.NoError(f.store.Delete(f.ctx, table.Delete{
				Key: row.Key(), If: table.Exists(table.Equal(attrText, item.String(""))),
			}))
		}},
		{"an empty set, or no value at all, is refused", func(f *fixture) {
			for name, v := range map[string]item.Value{
				"strings": item.StringSet{}, "numbers": item.NumberSet{}, "bytes": item.BinarySet{},
				"nothing": nil, "nested": item.List{item.Map{"set": item.StringSet{}}}, "member": item.List{nil},
			} {
				f.ErrorIs(f.store.Put(f.ctx, table.Put{Item: f.row("a", item.Item{"value": v})}), table.ErrInvalid, name)
				_, err := f.store.Update(f.ctx, table.Update{Key: f.key("a"), Set: item.Item{"value": v}})
				f.ErrorIs(err, table.ErrInvalid, name)
			}
			f.absent(f.key("a"))
		}},
		{"the order of a set means nothing", func(f *fixture) {
			f.put("a", item.Item{"set": item.StringSet{"c", "a", "b"}, "numbers": item.NumberSet{"10", "9"}})
			f.is(f.row("a", item.Item{"set": item.Strings("a", "b", "c"), "numbers": item.Ints(9, 10)}))
		}},
		{"the order of a list is kept", func(f *fixture) {
			f.is(f.put("a", item.Item{"list": item.List{item.Int(3), item.Int(1), item.Int(2), item.Int(1)}}))
		}},
	}
}

func sampleValues() item.Item {
	return item.Item{
		"string": item.String("line\nü 漢字 🙂 \"quoted\" \\ \x00 <&>"), "empty": item.String(""),
		"zero": item.Int(0), "negative": item.Int(-42), "fraction": item.Number("3.25"),
		"true": item.Bool(true), "false": item.Bool(false), "null": item.Null{},
		"strings": item.Strings("b", "a"), "numbers": item.Ints(10, 9, -1),
		"binary": item.Binary{0, 1, 255}, "binaries": item.BinarySet{{1}, {2, 3}},
		"list":      item.List{item.String("x"), item.Int(1), item.Null{}, item.List{item.Bool(false)}},
		"map":       item.Map{"inner": item.Map{"set": item.Strings("z"), "n": item.Int(7)}, "list": item.List{}},
		"emptyList": item.List{}, "emptyMap": item.Map{},
	}
}

func boundCases() []testCase {
	const limit = 400 << 10
	text := func(bytes int) item.Item {
		return item.Item{attrText: item.String(strings.Repeat("x", bytes))}
	}
	return []testCase{
		{"a row of almost 400 KB is kept", func(f *fixture) {
			f.is(f.put("a", text(limit-1024)))
		}},
		{"a row of more than 400 KB is refused", func(f *fixture) {
			tooLarge := f.row("a", text(limit))
			f.ErrorIs(f.store.Put(f.ctx, table.Put{Item: tooLarge}), table.ErrInvalid)
			f.ErrorIs(f.store.Transact(f.ctx, table.Put{Item: f.row("b", nil)}, table.Put{Item: tooLarge}), table.ErrInvalid)
			f.absent(f.key("a"))
			f.absent(f.key("b"))
		}},
		{"an update that would make a row too large is refused and changes nothing", func(f *fixture) {
			row := f.put("a", text(300<<10))
			_, err := f.store.Update(f.ctx, table.Update{
				Key: row.Key(), Set: item.Item{"more": item.String(strings.Repeat("y", 150<<10))},
			})
			f.ErrorIs(err, table.ErrInvalid)
			f.is(row)
		}},
		{"an empty or absent part of a key is refused", func(f *fixture) {
			for _, key := range []item.Key{{PK: "", SK: sortKey("a")}, {PK: f.key("a").PK, SK: ""}, {}} {
				f.ErrorIs(f.store.Put(f.ctx, table.Put{Item: key.Item()}), table.ErrInvalid)
				f.ErrorIs(f.store.Delete(f.ctx, table.Delete{Key: key}), table.ErrInvalid)
				_, err := f.store.Update(f.ctx, table.Update{Key: key, Set: item.Item{attrCount: item.Int(1)}})
				f.ErrorIs(err, table.ErrInvalid)
				_, err = f.store.Get(f.ctx, key)
				f.ErrorIs(err, table.ErrInvalid)
				_, err = f.store.BatchGet(f.ctx, []item.Key{f.key("a"), key})
				f.ErrorIs(err, table.ErrInvalid)
				f.ErrorIs(f.store.Transact(f.ctx, table.Check{Key: key, If: table.NotExists()}), table.ErrInvalid)
				f.ErrorIs(f.store.Load(f.ctx, []item.Item{key.Item()}), table.ErrInvalid)
			}
			f.ErrorIs(f.store.Put(f.ctx, table.Put{Item: item.Item{item.AttrPK: item.String(f.key("a").PK)}}), table.ErrInvalid)
			f.ErrorIs(f.store.Put(f.ctx, table.Put{Item: nil}), table.ErrInvalid)
		}},
		{"a key attribute that is no string is refused", func(f *fixture) {
			f.ErrorIs(f.store.Put(f.ctx, table.Put{Item: f.row("a", item.Item{item.AttrSK: item.Int(1)})}), table.ErrInvalid)
		}},
		{"an index key that is empty or no string is refused", func(f *fixture) {
			for _, index := range table.ProductSchema().Indexes {
				for _, v := range []item.Value{item.String(""), item.Int(1), item.Null{}} {
					row := f.row("a", item.Item{index.PK: item.String(f.key("a").PK), index.SK: v})
					f.ErrorIs(f.store.Put(f.ctx, table.Put{Item: row}), table.ErrInvalid, "%s %v", index.Name, v)
				}
			}
			f.absent(f.key("a"))
		}},
		{"a sort key of more than 1,024 bytes is refused", func(f *fixture) {
			f.ErrorIs(f.store.Put(f.ctx, table.Put{Item: f.row(strings.Repeat("k", 1025), nil)}), table.ErrInvalid)
		}},
	}
}
