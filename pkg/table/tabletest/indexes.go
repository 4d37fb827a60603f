package tabletest

import (
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

func indexCases() []testCase {
	var cases []testCase
	for _, index := range table.ProductSchema().Indexes {
		for _, c := range []struct {
			name string
			run  func(*fixture, table.IndexSchema)
		}{
			{"lists a row while it has both keys", indexIsSparse},
			{"moves a row whose key changes", indexMoves},
			{"shows a row as it is now", indexFollows},
			{"forgets a row that is put without its keys, or deleted", indexForgets},
			{"orders rows by its sort key", indexOrders},
			{"follows a transaction", indexFollowsTransaction},
		} {
			cases = append(cases, testCase{string(index.Name) + " " + c.name, func(f *fixture) { c.run(f, index) }})
		}
	}
	return append(cases,
		testCase{"a row may stand in every index at once", everyIndex},
		testCase{"an index of keys alone carries nothing else", keysOnly},
		testCase{"an index shows rows of several partitions, each with its own key", indexAcrossUsers},
	)
}

// here is an index partition of the fixture's own.
func (f *fixture) here() string {
	return entity.LinkedPK(f.user, entity.Ref{Type: product.TypeTask, ID: "task_1"})
}

func (f *fixture) there() string {
	return entity.LinkedPK(f.user, entity.Ref{Type: product.TypeEvent, ID: "evt_1"})
}

// at is the index's keys of one place.
func at(index table.IndexSchema, partition, sk string) item.Item {
	return item.Item{index.PK: item.String(partition), index.SK: item.String(sk)}
}

func (f *fixture) update(name string, set item.Item, remove ...string) {
	f.t.Helper()
	_, err := f.store.Update(f.ctx, table.Update{Key: f.key(name), Set: set, Remove: remove})
	f.NoError(err)
}

func indexIsSparse(f *fixture, index table.IndexSchema) {
	q := table.Query{Index: index.Name, Partition: f.here()}
	f.put("none", nil)
	f.put("partition only", item.Item{index.PK: item.String(f.here())})
	f.put("sort key only", item.Item{index.SK: item.String("1")})
	f.put("both", at(index, f.here(), "1"))
	f.eventually(q, "both")
	f.update("none", at(index, f.here(), "0"))
	f.eventually(q, "none", "both")
	f.update("both", nil, index.SK)
	f.eventually(q, "none")
	f.update("partition only", item.Item{index.SK: item.String("2")})
	f.eventually(q, "none", "partition only")
	f.update("none", nil, index.PK)
	f.eventually(q, "partition only")
}

func indexMoves(f *fixture, index table.IndexSchema) {
	here := table.Query{Index: index.Name, Partition: f.here()}
	there := table.Query{Index: index.Name, Partition: f.there()}
	f.put("a", at(index, f.here(), "1"))
	f.put("b", at(index, f.here(), "2"))
	f.eventually(here, "a", "b")
	f.update("a", item.Item{index.SK: item.String("3")})
	f.eventually(here, "b", "a")
	f.update("b", item.Item{index.PK: item.String(f.there())})
	f.eventually(here, "a")
	f.eventually(there, "b")
}

func indexFollows(f *fixture, index table.IndexSchema) {
	f.put("a", at(index, f.here(), "1"))
	f.update("a", item.Item{attrText: item.String("new")})
	q := table.Query{Index: index.Name, Partition: f.here()}
	want := []string{"new"}
	if index.KeysOnly {
		want = []string{""}
	}
	f.await(want, func() []string {
		var texts []string
		for _, row := range f.rows(q) {
			texts = append(texts, row.Str(attrText))
		}
		return texts
	})
}

func indexForgets(f *fixture, index table.IndexSchema) {
	q := table.Query{Index: index.Name, Partition: f.here()}
	f.put("a", at(index, f.here(), "1"))
	f.put("b", at(index, f.here(), "2"))
	f.eventually(q, "a", "b")
	f.put("a", item.Item{attrText: item.String("plain")})
	f.eventually(q, "b")
	f.NoError(f.store.Delete(f.ctx, table.Delete{Key: f.key("b")}))
	f.eventually(q)
	f.put("b", at(index, f.here(), "2"))
	f.eventually(q, "b")
}

func indexOrders(f *fixture, index table.IndexSchema) {
	for name, sk := range map[string]string{"a": "30", "b": "4", "c": "1", "d": "20"} {
		f.put(name, at(index, f.here(), sk))
	}
	q := table.Query{Index: index.Name, Partition: f.here()}
	f.eventually(q, "c", "d", "a", "b")
	q.Descending = true
	f.eventually(q, "b", "a", "d", "c")
	q.Range = table.Range{From: "2", To: "30"}
	f.eventually(q, "a", "d")
	n, err := f.store.Count(f.ctx, q)
	f.NoError(err)
	f.Equal(2, n)
}

func indexFollowsTransaction(f *fixture, index table.IndexSchema) {
	q := table.Query{Index: index.Name, Partition: f.here()}
	f.put("gone", at(index, f.here(), "1"))
	f.put("moved", at(index, f.here(), "2"))
	f.eventually(q, "gone", "moved")
	f.NoError(f.store.Transact(f.ctx,
		table.Delete{Key: f.key("gone")},
		table.Update{Key: f.key("moved"), Set: item.Item{index.SK: item.String("9")}},
		table.Put{Item: f.row("new", at(index, f.here(), "3"))},
	))
	f.eventually(q, "new", "moved")
	err := f.store.Transact(f.ctx,
		table.Delete{Key: f.key("new")},
		table.Check{Key: f.key("gone"), If: table.Exists()},
	)
	f.failed(err, table.Failure{Index: 1})
	f.eventually(q, "new", "moved")
}

func everyIndex(f *fixture) {
	row := f.row("a", item.Item{attrText: item.String("x")})
	for i, index := range table.ProductSchema().Indexes {
		for name, v := range at(index, f.here(), string(rune('1'+i))) {
			row[name] = v
		}
	}
	f.NoError(f.store.Put(f.ctx, table.Put{Item: row}))
	for _, index := range table.ProductSchema().Indexes {
		q := table.Query{Index: index.Name, Partition: f.here()}
		f.eventually(q, "a")
		if !index.KeysOnly {
			f.sameRows([]item.Item{row}, f.rows(q))
		}
	}
}

func keysOnly(f *fixture) {
	for _, index := range table.ProductSchema().Indexes {
		if !index.KeysOnly {
			continue
		}
		f.put("a", item.Item{
			index.PK: item.String(f.here()), index.SK: item.String("1"),
			attrText: item.String("x"), entity.AttrTags: item.Strings("home"),
			item.AttrGSI3PK: item.String(f.there()), item.AttrGSI3SK: item.String("1"),
		})
		q := table.Query{Index: index.Name, Partition: f.here()}
		f.eventually(q, "a")
		f.sameRows([]item.Item{f.row("a", at(index, f.here(), "1"))}, f.rows(q))
		q.AnyTag = []string{"home"}
		_, err := f.store.Query(f.ctx, q)
		f.ErrorIs(err, table.ErrInvalid)
	}
}

func indexAcrossUsers(f *fixture) {
	other := entity.ItemKey(f.user+"-other", entity.Ref{Type: product.TypeNote, ID: "other"})
	f.put("mine", item.Item{item.AttrGSI4PK: item.String(f.here()), item.AttrGSI4SK: item.String("1")})
	f.NoError(f.store.Put(f.ctx, table.Put{Item: withKey(other, item.Item{
		item.AttrGSI4PK: item.String(f.here()), item.AttrGSI4SK: item.String("2"),
	})}))
	q := table.Query{Index: table.CrossLinks, Partition: f.here()}
	f.eventually(q, "mine", "other")
	rows := f.rows(q)
	f.Equal(f.key("mine"), rows[0].Key())
	f.Equal(other, rows[1].Key())
}
