package tabletest

import (
	"context"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

func writeCases() []testCase {
	return []testCase{
		{"a row that was never written is not found", func(f *fixture) {
			f.absent(f.key("a"))
		}},
		{"a put is read back at once", func(f *fixture) {
			f.is(f.put("a", item.Item{attrText: item.String("one"), attrCount: item.Int(1)}))
		}},
		{"a put replaces the whole row", func(f *fixture) {
			f.put("a", item.Item{attrText: item.String("one"), attrCount: item.Int(1)})
			f.is(f.put("a", item.Item{attrFlag: item.Bool(true)}))
		}},
		{"a put of the keys alone is a row", func(f *fixture) {
			f.is(f.put("a", nil))
		}},
		{"rows of one sort key in two partitions are two rows", func(f *fixture) {
			mine := f.put("a", item.Item{attrText: item.String("mine")})
			other := f.key("a")
			other.PK = entity.AgendaPK(f.user, 2000)
			f.absent(other)
			theirs := other.Item()
			theirs[attrText] = item.String("theirs")
			f.NoError(f.store.Put(f.ctx, table.Put{Item: theirs}))
			f.is(mine)
			f.is(theirs)
		}},
		{"a delete removes the row", func(f *fixture) {
			f.put("a", nil)
			f.NoError(f.store.Delete(f.ctx, table.Delete{Key: f.key("a")}))
			f.absent(f.key("a"))
			f.Empty(f.rows(f.mine()))
		}},
		{"a delete of a missing row is done at once", func(f *fixture) {
			f.NoError(f.store.Delete(f.ctx, table.Delete{Key: f.key("a")}))
		}},
		{"a deleted row can be put again", func(f *fixture) {
			f.put("a", item.Item{attrCount: item.Int(1)})
			f.NoError(f.store.Delete(f.ctx, table.Delete{Key: f.key("a")}))
			f.is(f.put("a", item.Item{attrText: item.String("again")}))
		}},
		{"what a caller does to an item that was written stays with the caller", func(f *fixture) {
			given := f.row("a", item.Item{
				attrText: item.String("one"),
				"nested": item.Map{"list": item.List{item.String("x")}},
				"set":    item.StringSet{"x"},
			})
			want := given.Clone()
			f.NoError(f.store.Put(f.ctx, table.Put{Item: given}))
			spoil(given)
			f.is(want)
		}},
		{"a cancelled context ends a call with its error", func(f *fixture) {
			ctx, cancel := context.WithCancel(f.ctx)
			cancel()
			_, err := f.store.Get(ctx, f.key("a"))
			f.ErrorIs(err, ctx.Err())
			f.ErrorIs(f.store.Put(ctx, table.Put{Item: f.row("a", nil)}), ctx.Err())
			f.absent(f.key("a"))
		}},
	}
}

// spoil changes everything in an item that can be changed in place.
func spoil(it item.Item) {
	it[attrText] = item.String("spoiled")
	it["nested"].(item.Map)["list"].(item.List)[0] = item.String("spoiled")
	it["set"].(item.StringSet)[0] = "spoiled"
}

func updateCases() []testCase {
	return []testCase{
		{"an update changes the attributes it names and no others", func(f *fixture) {
			row := f.put("a", item.Item{attrText: item.String("one"), attrCount: item.Int(1), attrFlag: item.Bool(true)})
			got, err := f.store.Update(f.ctx, table.Update{
				Key: row.Key(), Set: item.Item{attrCount: item.Int(2)}, Remove: []string{attrFlag},
			})
			f.NoError(err)
			want := f.row("a", item.Item{attrText: item.String("one"), attrCount: item.Int(2)})
			f.same(want, got)
			f.is(want)
		}},
		{"an update creates a missing row", func(f *fixture) {
			got, err := f.store.Update(f.ctx, table.Update{
				Key: f.key("a"), Set: item.Item{attrCount: item.Int(1)}, Remove: []string{attrFlag},
			})
			f.NoError(err)
			f.same(f.row("a", item.Item{attrCount: item.Int(1)}), got)
			f.is(got)
		}},
		{"an update replaces a map whole", func(f *fixture) {
			f.put("a", item.Item{"map": item.Map{"x": item.Int(1), "y": item.Int(2)}})
			got, err := f.store.Update(f.ctx, table.Update{
				Key: f.key("a"), Set: item.Item{"map": item.Map{"z": item.Int(3)}},
			})
			f.NoError(err)
			f.same(f.row("a", item.Item{"map": item.Map{"z": item.Int(3)}}), got)
		}},
		{"an update may give an attribute another type", func(f *fixture) {
			f.put("a", item.Item{attrText: item.String("one")})
			got, err := f.store.Update(f.ctx, table.Update{Key: f.key("a"), Set: item.Item{attrText: item.Int(1)}})
			f.NoError(err)
			f.same(f.row("a", item.Item{attrText: item.Int(1)}), got)
		}},
		{"an update takes names that are reserved words or hold signs of an expression", func(f *fixture) {
			set := item.Item{"status": item.String("x"), "name": item.Int(1), "a.b": item.Int(2), "#c": item.Int(3),
				":d": item.Int(4), "e f": item.Int(5), "values[0]": item.Int(6)}
			got, err := f.store.Update(f.ctx, table.Update{Key: f.key("a"), Set: set,
				If: table.OrNoRow(table.Equal("a.b", item.Int(2)), table.Missing("size"))})
			f.NoError(err)
			f.same(f.row("a", set), got)
		}},
		{"an update that changes nothing returns the row as it is", func(f *fixture) {
			row := f.put("a", item.Item{attrText: item.String("one")})
			got, err := f.store.Update(f.ctx, table.Update{
				Key: row.Key(), Set: item.Item{attrText: item.String("one")}, Remove: []string{attrFlag},
			})
			f.NoError(err)
			f.same(row, got)
		}},
		{"an update of a key attribute is refused", func(f *fixture) {
			row := f.put("a", nil)
			for _, attr := range []string{item.AttrPK, item.AttrSK} {
				_, err := f.store.Update(f.ctx, table.Update{Key: row.Key(), Set: item.Item{attr: item.String("x")}})
				f.ErrorIs(err, table.ErrInvalid)
				_, err = f.store.Update(f.ctx, table.Update{Key: row.Key(), Remove: []string{attr}})
				f.ErrorIs(err, table.ErrInvalid)
			}
			f.is(row)
		}},
		{"an update that names one attribute twice, or none, is refused", func(f *fixture) {
			row := f.put("a", nil)
			for _, u := range []table.Update{
				{Set: item.Item{attrText: item.String("x")}, Remove: []string{attrText}},
				{Remove: []string{attrText, attrText}},
				{},
			} {
				u.Key = row.Key()
				_, err := f.store.Update(f.ctx, u)
				f.ErrorIs(err, table.ErrInvalid)
				f.ErrorIs(f.store.Transact(f.ctx, u, table.Put{Item: f.row("b", nil)}), table.ErrInvalid)
			}
			f.is(row)
			f.absent(f.key("b"))
		}},
		{"a failed update returns no row and changes none", func(f *fixture) {
			row := f.put("a", item.Item{attrCount: item.Int(1)})
			got, err := f.store.Update(f.ctx, table.Update{
				Key: row.Key(), Set: item.Item{attrCount: item.Int(3)}, If: table.Exists(table.Equal(attrCount, item.Int(2))),
			})
			f.failed(err, table.Failure{Old: row})
			f.Nil(got)
			f.is(row)
		}},
		{"an update that may not create leaves a missing row missing", func(f *fixture) {
			_, err := f.store.Update(f.ctx, table.Update{
				Key: f.key("a"), Set: item.Item{attrCount: item.Int(1)}, If: table.Exists(),
			})
			f.failed(err, table.Failure{})
			f.absent(f.key("a"))
		}},
	}
}
