package tabletest

import (
	"strings"

	"nexus/pkg/entity"
	"nexus/pkg/table"
)

func valueCases() []testCase {
	return []testCase{
		{"every kind of value survives the round trip", func(f *fixture) {
			for name, v := range sampleValues() {
				f.put("a", entity.Item{"value": v})
				f.Truef(entity.Equal(v, f.get(f.key("a"))["value"]), "%s: %v", name, f.get(f.key("a"))["value"])
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
			f.NoError(f.store.Load(f.ctx, []entity.Item{f.row("d", sampleValues())}))
			f.sameRows([]entity.Item{
				f.row("a", sampleValues()), f.row("b", sampleValues()), f.row("c", sampleValues()), f.row("d", sampleValues()),
			}, f.rows(f.mine()))
		}},
		{"numbers keep all their 38 digits", func(f *fixture) {
			for _, n := range []string{
				"99999999999999999999999999999999999999", "-12345678901234567890123456789012345678",
				"0.12345678901234567890123456789012345678", "9007199254740993", "-0.5", "0",
			} {
				f.put("a", entity.Item{attrCount: entity.Number(n)})
				f.NoError(f.store.Transact(f.ctx, table.Check{
					Key: f.key("a"), If: table.Exists(table.Equal(attrCount, entity.Number(n))),
				}), n)
			}
		}},
		{"a number with more than 38 digits, or none, is refused", func(f *fixture) {
			for _, n := range []string{strings.Repeat("7", 39), "", "one", "1e200", "0x10", "NaN"} {
				f.ErrorIs(f.store.Put(f.ctx, table.Put{Item: f.row("a", entity.Item{attrCount: entity.Number(n)})}), table.ErrInvalid, n)
			}
			f.absent(f.key("a"))
		}},
		{"an empty string is a value", func(f *fixture) {
			row := f.put("a", entity.Item{attrText: entity.String(""), "list": entity.List{entity.String("")}})
			f.is(row)
			f.NoError(f.store.Delete(f.ctx, table.Delete{
				Key: row.Key(), If: table.Exists(table.Equal(attrText, entity.String(""))),
			}))
		}},
		{"an empty set, or no value at all, is refused", func(f *fixture) {
			for name, v := range map[string]entity.Value{
				"strings": entity.StringSet{}, "numbers": entity.NumberSet{}, "bytes": entity.BinarySet{},
				"nothing": nil, "nested": entity.List{entity.Map{"set": entity.StringSet{}}}, "member": entity.List{nil},
			} {
				f.ErrorIs(f.store.Put(f.ctx, table.Put{Item: f.row("a", entity.Item{"value": v})}), table.ErrInvalid, name)
				_, err := f.store.Update(f.ctx, table.Update{Key: f.key("a"), Set: entity.Item{"value": v}})
				f.ErrorIs(err, table.ErrInvalid, name)
			}
			f.absent(f.key("a"))
		}},
		{"the order of a set means nothing", func(f *fixture) {
			f.put("a", entity.Item{"set": entity.StringSet{"c", "a", "b"}, "numbers": entity.NumberSet{"10", "9"}})
			f.is(f.row("a", entity.Item{"set": entity.Strings("a", "b", "c"), "numbers": entity.Ints(9, 10)}))
		}},
		{"the order of a list is kept", func(f *fixture) {
			f.is(f.put("a", entity.Item{"list": entity.List{entity.Int(3), entity.Int(1), entity.Int(2), entity.Int(1)}}))
		}},
	}
}

func sampleValues() entity.Item {
	return entity.Item{
		"string": entity.String("line\nü 漢字 🙂 \"quoted\" \\ \x00 <&>"), "empty": entity.String(""),
		"zero": entity.Int(0), "negative": entity.Int(-42), "fraction": entity.Number("3.25"),
		"true": entity.Bool(true), "false": entity.Bool(false), "null": entity.Null{},
		"strings": entity.Strings("b", "a"), "numbers": entity.Ints(10, 9, -1),
		"binary": entity.Binary{0, 1, 255}, "binaries": entity.BinarySet{{1}, {2, 3}},
		"list":      entity.List{entity.String("x"), entity.Int(1), entity.Null{}, entity.List{entity.Bool(false)}},
		"map":       entity.Map{"inner": entity.Map{"set": entity.Strings("z"), "n": entity.Int(7)}, "list": entity.List{}},
		"emptyList": entity.List{}, "emptyMap": entity.Map{},
	}
}

func boundCases() []testCase {
	const limit = 400 << 10
	text := func(bytes int) entity.Item {
		return entity.Item{attrText: entity.String(strings.Repeat("x", bytes))}
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
				Key: row.Key(), Set: entity.Item{"more": entity.String(strings.Repeat("y", 150<<10))},
			})
			f.ErrorIs(err, table.ErrInvalid)
			f.is(row)
		}},
		{"an empty or absent part of a key is refused", func(f *fixture) {
			for _, key := range []entity.Key{{PK: "", SK: sortKey("a")}, {PK: f.key("a").PK, SK: ""}, {}} {
				f.ErrorIs(f.store.Put(f.ctx, table.Put{Item: key.Item()}), table.ErrInvalid)
				f.ErrorIs(f.store.Delete(f.ctx, table.Delete{Key: key}), table.ErrInvalid)
				_, err := f.store.Update(f.ctx, table.Update{Key: key, Set: entity.Item{attrCount: entity.Int(1)}})
				f.ErrorIs(err, table.ErrInvalid)
				_, err = f.store.Get(f.ctx, key)
				f.ErrorIs(err, table.ErrInvalid)
				_, err = f.store.BatchGet(f.ctx, []entity.Key{f.key("a"), key})
				f.ErrorIs(err, table.ErrInvalid)
				f.ErrorIs(f.store.Transact(f.ctx, table.Check{Key: key, If: table.NotExists()}), table.ErrInvalid)
				f.ErrorIs(f.store.Load(f.ctx, []entity.Item{key.Item()}), table.ErrInvalid)
			}
			f.ErrorIs(f.store.Put(f.ctx, table.Put{Item: entity.Item{entity.AttrPK: entity.String(f.key("a").PK)}}), table.ErrInvalid)
			f.ErrorIs(f.store.Put(f.ctx, table.Put{Item: nil}), table.ErrInvalid)
		}},
		{"a key attribute that is no string is refused", func(f *fixture) {
			f.ErrorIs(f.store.Put(f.ctx, table.Put{Item: f.row("a", entity.Item{entity.AttrSK: entity.Int(1)})}), table.ErrInvalid)
		}},
		{"an index key that is empty or no string is refused", func(f *fixture) {
			for _, index := range entity.Schema().Indexes {
				for _, v := range []entity.Value{entity.String(""), entity.Int(1), entity.Null{}} {
					row := f.row("a", entity.Item{index.PK: entity.String(f.key("a").PK), index.SK: v})
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
