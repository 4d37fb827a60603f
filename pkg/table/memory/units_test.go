package memory_test

import (
	"strings"
	"testing"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

// meter keeps what was reported to the observer.
type meter struct{ seen []table.Consumption }

func (m *meter) observe(u table.Consumption) { m.seen = append(m.seen, u) }

// take returns the calls since the last take.
func (m *meter) take() []table.Consumption {
	seen := m.seen
	m.seen = nil
	return seen
}

func kilobytes(n int) item.Item {
	return item.Item{"text": item.String(strings.Repeat("x", n<<10-200))}
}

// year puts the row into GSI1, which holds whole rows; links into GSI4, which holds keys.
func year(it item.Item, sk string) item.Item {
	it[item.AttrGSI1PK], it[item.AttrGSI1SK] = item.String(entity.AgendaPK("u", 2030)), item.String(sk)
	return it
}

func linked(it item.Item, sk string) item.Item {
	it[item.AttrGSI4PK], it[item.AttrGSI4SK] = item.String("x"), item.String(sk)
	return it
}

// 250 numbers of which each ends with zeros: with the zeros they would be more than a kilobyte.
func TestSize_chargesNoZerosAtTheEndsOfNumbers(t *testing.T) {
	t.Parallel()
	m := &meter{}
	b := setup(t, memory.Options{Observer: m.observe})
	numbers := item.List{}
	for range 250 {
		numbers = append(numbers, item.Number("150000"))
	}
	b.put("a", item.Item{"n": numbers})
	b.InDelta(1, m.take()[0].WriteUnits, 0)
}

func TestWriteUnits_countTheLargerImageAndIndexEntries(t *testing.T) {
	t.Parallel()
	type units = map[table.Index]float64
	for name, c := range map[string]struct {
		before  item.Item // nil for no row
		act     table.Action
		total   float64
		indexes units
	}{
		"a new row of 3 KB":      {nil, table.Put{Item: note("a", kilobytes(3))}, 3, nil},
		"a large row made small": {kilobytes(3), table.Put{Item: note("a", nil)}, 3, nil},
		"a small change of 3 KB": {kilobytes(3), table.Update{Key: noteKey("a"), Set: count(1)}, 3, nil},
		"a delete of 3 KB":       {kilobytes(3), table.Delete{Key: noteKey("a")}, 3, nil},
		"a delete of nothing":    {nil, table.Delete{Key: noteKey("a")}, 1, nil},
		"a write that changes nothing": {year(kilobytes(2), "1"),
			table.Put{Item: note("a", year(kilobytes(2), "1"))}, 2, nil},
		"a failed condition": {kilobytes(3), table.Put{Item: note("a", nil), If: table.NotExists()}, 3, nil},
		"an entry appears": {kilobytes(2), table.Update{Key: noteKey("a"), Set: year(item.Item{}, "1")}, 4,
			units{table.YearView: 2}},
		"an entry disappears": {year(kilobytes(2), "1"),
			table.Update{Key: noteKey("a"), Remove: []string{item.AttrGSI1SK}}, 4, units{table.YearView: 2}},
		"an entry's content changes": {year(kilobytes(2), "1"), table.Update{Key: noteKey("a"), Set: count(1)}, 4,
			units{table.YearView: 2}},
		"an entry's key changes": {year(kilobytes(2), "1"),
			table.Update{Key: noteKey("a"), Set: year(item.Item{}, "2")}, 6, units{table.YearView: 4}},
		"an entry is deleted": {year(kilobytes(2), "1"), table.Delete{Key: noteKey("a")}, 4, units{table.YearView: 2}},
		"a keys-only entry of 3 KB": {nil, table.Put{Item: note("a", linked(kilobytes(3), "1"))}, 4,
			units{table.CrossLinks: 1}},
		"a keys-only entry untouched": {linked(kilobytes(3), "1"), table.Update{Key: noteKey("a"), Set: count(1)}, 3, nil},
		"a keys-only entry moves": {linked(kilobytes(3), "1"),
			table.Update{Key: noteKey("a"), Set: linked(item.Item{}, "2")}, 5, units{table.CrossLinks: 2}},
		"two indexes at once": {nil, table.Put{Item: note("a", linked(year(kilobytes(1), "1"), "1"))}, 3,
			units{table.YearView: 1, table.CrossLinks: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			charged := func(act func(b *fixture) error) table.Consumption {
				m := &meter{}
				b := setup(t, memory.Options{Observer: m.observe})
				if c.before != nil {
					b.put("a", c.before)
				}
				m.take()
				if err := act(b); err != nil {
					var failed *table.ConditionError
					b.ErrorAs(err, &failed)
				}
				seen := m.take()
				b.Len(seen, 1)
				return seen[0]
			}
			b := setup(t, memory.Options{})
			single := charged(func(b *fixture) error { return b.store.Transact(b.ctx, c.act) })
			b.InDelta(c.total, single.WriteUnits, 0)
			b.Equal(c.indexes, single.IndexWriteUnits)
			b.Zero(single.ReadUnits)

			inIndexes := 0.0
			for _, n := range c.indexes {
				inIndexes += n
			}
			both := charged(func(b *fixture) error {
				return b.store.Transact(b.ctx, c.act, table.Check{Key: noteKey("b"), If: table.NotExists()})
			})
			b.Equal("Transact", both.Op)
			b.InDelta(2*(c.total-inIndexes)+inIndexes+2, both.WriteUnits, 0, "twice on the table, once on the indexes")
			b.Equal(c.indexes, both.IndexWriteUnits)
		})
	}
}

func TestReadUnits_areCountedBy4KB(t *testing.T) {
	t.Parallel()
	m := &meter{}
	b := setup(t, memory.Options{Observer: m.observe})
	b.put("a", year(kilobytes(5), "1"))
	b.put("b", year(kilobytes(1), "2"))
	b.put("c", year(kilobytes(1), "3"))
	m.take()
	read := func(err error) table.Consumption {
		b.NoError(err)
		seen := m.take()
		b.Len(seen, 1)
		b.Zero(seen[0].WriteUnits)
		return seen[0]
	}
	_, err := b.store.Get(b.ctx, noteKey("a"))
	b.Equal(table.Consumption{Op: "Get", Rows: 1, ReadUnits: 2}, read(err))
	_, err = b.store.Get(b.ctx, noteKey("missing"))
	b.ErrorIs(err, table.ErrNotFound)
	b.Equal(table.Consumption{Op: "Get", ReadUnits: 1}, read(nil))
	_, err = b.store.BatchGet(b.ctx, []item.Key{noteKey("a"), noteKey("b"), noteKey("missing")})
	b.Equal(table.Consumption{Op: "BatchGet", Rows: 2, ReadUnits: 4}, read(err))
	_, err = b.store.Query(b.ctx, table.Query{Partition: entity.UserPK("u")})
	b.Equal(table.Consumption{Op: "Query", Rows: 3, ReadUnits: 2}, read(err), "rounded once for the page")
	_, err = b.store.Peek(b.ctx, []item.Key{noteKey("a"), noteKey("b"), noteKey("missing")})
	b.Equal(table.Consumption{Op: "Peek", Rows: 2, ReadUnits: 2}, read(err))
	_, err = b.store.Query(b.ctx, table.Query{Partition: entity.UserPK("u"), Eventual: true})
	b.Equal(table.Consumption{Op: "Query", Rows: 3, ReadUnits: 1}, read(err))
	agenda := table.Query{Index: table.YearView, Partition: entity.AgendaPK("u", 2030)}
	_, err = b.store.Query(b.ctx, agenda)
	b.Equal(table.Consumption{Op: "Query", Rows: 3, ReadUnits: 1}, read(err))
	agenda.AnyTag = []string{"none"}
	_, err = b.store.Count(b.ctx, agenda)
	b.Equal(table.Consumption{Op: "Count", Rows: 3, ReadUnits: 1}, read(err), "a filter saves nothing")
	agenda.Partition = entity.AgendaPK("u", 1999)
	_, err = b.store.Query(b.ctx, agenda)
	b.Equal(table.Consumption{Op: "Query", ReadUnits: 0.5}, read(err))
}

func TestCall_isOneForEachRoundTrip(t *testing.T) {
	t.Parallel()
	m := &meter{}
	b := setup(t, memory.Options{Observer: m.observe})
	var rows []item.Item
	var keys []item.Key
	for i := range 130 {
		rows = append(rows, note(numbered(i), kilobytes(10)))
		keys = append(keys, rows[i].Key())
	}
	calls := func(err error) []int {
		b.NoError(err)
		var of []int
		for _, u := range m.take() {
			of = append(of, u.Rows)
		}
		return of
	}
	b.Equal([]int{25, 25, 25, 25, 25, 5}, calls(b.store.Load(b.ctx, rows)))
	_, err := b.store.BatchGet(b.ctx, keys)
	b.Equal([]int{100, 30}, calls(err))
	_, err = b.store.Count(b.ctx, table.Query{Partition: entity.UserPK("u"), Limit: 2})
	b.Equal([]int{104, 26}, calls(err), "pages end at 1 MB, whatever the limit")
	b.Equal([]int{104, 26}, calls(b.store.Walk(b.ctx, 0, 1, func(item.Item) error { return nil })))
}
