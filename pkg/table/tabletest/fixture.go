package tabletest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// attrText, attrCount and attrFlag are plain attributes of the suite's rows without a meaning.
const (
	attrText  = "suiteText"
	attrCount = "suiteCount"
	attrFlag  = "suiteFlag"
)

// fixture is a store and a user that no other test has.
type fixture struct {
	*require.Assertions
	t     *testing.T
	ctx   context.Context
	store table.Store
	user  string
}

func newFixture(t *testing.T, store table.Store) *fixture {
	t.Helper()
	return &fixture{
		Assertions: require.New(t), t: t, ctx: t.Context(), store: store,
		user: "suite-" + uuid.NewString(),
	}
}

// sortKey returns the sort key of the user's row with this name; rows sort by their names.
func sortKey(name string) string { return entity.Ref{Type: product.TypeNote, ID: name}.String() }

func (f *fixture) key(name string) item.Key {
	return entity.ItemKey(f.user, entity.Ref{Type: product.TypeNote, ID: name})
}

// row returns the user's row with this name and these attributes.
func (f *fixture) row(name string, attributes item.Item) item.Item {
	it := f.key(name).Item()
	for attribute, v := range attributes {
		it[attribute] = v
	}
	return it
}

// put writes the row and returns it.
func (f *fixture) put(name string, attributes item.Item) item.Item {
	f.t.Helper()
	it := f.row(name, attributes)
	f.NoError(f.store.Put(f.ctx, table.Put{Item: it}))
	return it
}

// load writes n rows named 000, 001, ... each with its number as count, and returns them in that order.
func (f *fixture) load(n int, attributes func(i int) item.Item) []item.Item {
	f.t.Helper()
	rows := make([]item.Item, n)
	for i := range rows {
		rows[i] = f.row(fmt.Sprintf("%03d", i), item.Item{attrCount: item.Int(int64(i))})
		if attributes != nil {
			for name, v := range attributes(i) {
				rows[i][name] = v
			}
		}
	}
	f.NoError(f.store.Load(f.ctx, rows))
	return rows
}

func (f *fixture) get(key item.Key) item.Item {
	f.t.Helper()
	it, err := f.store.Get(f.ctx, key)
	f.NoError(err)
	return it
}

func (f *fixture) absent(key item.Key) {
	f.t.Helper()
	_, err := f.store.Get(f.ctx, key)
	f.ErrorIs(err, table.ErrNotFound)
}

// is requires that the row is there and is exactly this one.
func (f *fixture) is(want item.Item) {
	f.t.Helper()
	f.same(want, f.get(want.Key()))
}

func (f *fixture) same(want, got item.Item) {
	f.t.Helper()
	if !want.Equal(got) {
		f.Equal(want, got)
	}
}

// sameRows requires the same rows in the same order.
func (f *fixture) sameRows(want, got []item.Item) {
	f.t.Helper()
	f.Equal(names(want), names(got))
	for i := range want {
		f.same(want[i], got[i])
	}
}

// names returns the rows' names in their order: a failed comparison of names is easier to read than whole rows.
func names(rows []item.Item) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		sk, err := entity.ParseSortKey(r.Key().SK)
		if err != nil {
			out[i] = r.Key().String()
			continue
		}
		out[i] = sk.Components[len(sk.Components)-1]
	}
	return out
}

// failed requires a condition error with the failures at these actions, each with the row that was there (nil for
// none).
func (f *fixture) failed(err error, want ...table.Failure) {
	f.t.Helper()
	var failed *table.ConditionError
	f.ErrorAs(err, &failed)
	f.Len(failed.Failures, len(want))
	for i, w := range want {
		f.Equal(w.Index, failed.Failures[i].Index)
		f.Equal(w.Old == nil, failed.Failures[i].Old == nil)
		f.same(w.Old, failed.Failures[i].Old)
	}
}

// pages reads the query to its end and returns each page's rows; it fails on a query that never ends.
func (f *fixture) pages(q table.Query) [][]item.Item {
	f.t.Helper()
	const most = 1000
	var out [][]item.Item
	for range most {
		page, err := f.store.Query(f.ctx, q)
		f.NoError(err)
		out = append(out, page.Items)
		if len(page.Next) == 0 {
			return out
		}
		q.Start = page.Next
	}
	f.Failf("query does not end", "%d pages", most)
	return nil
}

// rows reads the query to its end.
func (f *fixture) rows(q table.Query) []item.Item {
	f.t.Helper()
	rows := []item.Item{}
	for _, page := range f.pages(q) {
		rows = append(rows, page...)
	}
	return rows
}

// mine returns the query of everything in the user's own partition.
func (f *fixture) mine() table.Query { return table.Query{Partition: entity.UserPK(f.user)} }

// eventually waits for the query to answer with the rows of these names in this order.
func (f *fixture) eventually(q table.Query, want ...string) {
	f.t.Helper()
	f.await(want, func() []string { return names(f.rows(q)) })
}

// eventuallyHas waits for the query to answer with the rows of these names in any order.
func (f *fixture) eventuallyHas(q table.Query, want ...string) {
	f.t.Helper()
	f.await(want, func() []string { return slices.Sorted(slices.Values(names(f.rows(q)))) })
}

// await asks until the answer is the wanted one, for as long as an index may reasonably lag.
func (f *fixture) await(want []string, ask func() []string) {
	f.t.Helper()
	const patience, pause = 10 * time.Second, 20 * time.Millisecond
	ticks, timeout := time.NewTicker(pause), time.NewTimer(patience)
	defer ticks.Stop()
	defer timeout.Stop()
	for {
		got := ask()
		if slices.Equal(got, want) {
			return
		}
		select {
		case <-ticks.C:
		case <-timeout.C:
			f.Equal(want, got)
		}
	}
}
