package query_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/query"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
	"nexus/pkg/text/fold"
)

var noon = time.Date(2025, 12, 1, 12, 0, 0, 0, time.UTC)

const ann, bob = "ann", "bob"

var ctx = context.Background()

// fixture is a service on a store of its own, in virtual time.
type fixture struct {
	require.TestingT
	store   *memory.Store
	service *query.Service
	now     time.Time

	mu    sync.Mutex
	calls map[string]int
	read  int
	units float64
	ids   int
}

func setup(t require.TestingT) *fixture {
	b := &fixture{TestingT: t, now: noon, calls: map[string]int{}}
	clock := func() time.Time { return b.now }
	b.store = memory.New(clock, memory.Options{Observer: func(u table.Consumption) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.calls[u.Op]++
		b.read += u.Rows
		b.units += u.ReadUnits
	}, Witnessed: true})
	if t, ok := t.(*testing.T); ok {
		t.Cleanup(func() { require.Empty(t, b.store.Tampered(), "what was read is not to be changed") })
	}
	b.service = query.New(query.Config{Store: b.store, Registry: product.Registry(), Now: clock, Fold: fold.String})
	return b
}

// trips returns how often each of the store's operations was used since the last time.
func (b *fixture) trips() map[string]int {
	b.mu.Lock()
	defer b.mu.Unlock()
	calls := b.calls
	b.calls = map[string]int{}
	return calls
}

// readUnits returns how many read units were consumed since the last time.
func (b *fixture) readUnits() float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	units := b.units
	b.units = 0
	return units
}

// rows returns how many rows were read since the last time.
func (b *fixture) rows() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	read := b.read
	b.read = 0
	return read
}

// add stores an entity of the user, made of a document and of attributes that only the server sets.
func (b *fixture) add(user string, t *entity.Type, text string, server item.Item) item.Item {
	patch, errs := t.Parse(doc(text))
	require.Empty(b, errs)
	fields, errs := t.Merge(nil, patch)
	require.Empty(b, errs)
	for name, v := range server {
		fields[name] = v
	}
	b.ids++
	meta := product.NewUserMeta(user, b.now)
	it := t.NewItem(user, fmt.Sprintf("%s_%06d", t.IDPrefix, b.ids), fields, b.now, meta.Map("preferences"))
	require.Empty(b, t.Validate(it))
	b.put(it)
	b.count(user, t, it)
	return it
}

// count stores the open counter that the statistics keep for the item, if it has one.
func (b *fixture) count(user string, t *entity.Type, it item.Item) {
	var sk string
	switch t.Name {
	case product.TypeTask:
		at, floating, ok := product.TaskDue(it)
		if s := it.Str("status"); !ok || s != product.StatusBacklog && s != product.StatusInProgress {
			return
		}
		sk = entity.OpenSK(t.Name, floating, at)
	case product.TypeEvent:
		if it.Str("status") == product.StatusCancelled {
			return
		}
		span := t.ShownIn(it)[0]
		sk = entity.OpenSK(t.Name, span.Floating, span.Start)
	case entity.TypeMaster:
		if it.Str("status") == product.StatusCancelled {
			return
		}
		sk = entity.OpenPrefix(product.TypeEvent, !it.Has("startTzid")) + item.Forever
		if last, ok := it.Time("lastStartUtc"); ok {
			sk = entity.OpenSK(product.TypeEvent, !it.Has("startTzid"), last)
		}
	default:
		return
	}
	row := entity.LedgerKey(user, "stats", it.Str(t.IDAttr)).Item()
	row["GSI3PK"], row["GSI3SK"] = item.String(entity.UserPK(user)), item.String(sk)
	b.put(row)
}

// link stores the edge of a link.
func (b *fixture) link(user string, source, target entity.Ref) {
	row := entity.LinkKey(user, source, target).Item()
	row["GSI4PK"], row["GSI4SK"] = item.String(entity.LinkedPK(user, target)), item.String(entity.LinkedSK(source))
	b.put(row)
}

func (b *fixture) put(row item.Item) {
	require.NoError(b, b.store.Put(ctx, table.Put{Item: row}))
	b.trips()
}

func (b *fixture) set(it item.Item, attributes item.Item) {
	_, err := b.store.Update(ctx, table.Update{Key: it.Key(), Set: attributes})
	require.NoError(b, err)
	b.trips()
}

func deletion(it item.Item) table.Delete { return table.Delete{Key: it.Key()} }

func doc(text string) map[string]any {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	out := map[string]any{}
	if err := d.Decode(&out); err != nil {
		panic(fmt.Sprintf("%s: %v", text, err))
	}
	return out
}

// titles are the items' titles in their order.
func titles(found []query.Found) []string {
	var out []string
	for _, f := range found {
		out = append(out, f.Item.Str("title"))
	}
	return out
}

// pages follows the cursors and returns all titles, and the number of pages.
func pages(b *fixture, read func(cursor string) (query.Page, error)) ([]string, int) {
	var out []string
	for n, cursor := 1, ""; ; n++ {
		page, err := read(cursor)
		require.NoError(b, err)
		out = append(out, titles(page.Items)...)
		if cursor = page.Next; cursor == "" {
			return out, n
		}
		require.Less(b, n, 1000, "the pages never end")
	}
}
