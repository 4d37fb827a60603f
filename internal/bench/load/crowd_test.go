package load_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/links"
	"nexus/pkg/product"
	"nexus/pkg/stats"
	"nexus/pkg/system"
	"nexus/pkg/table/memory"
)

const (
	// fans is how many items link to each user's hub.
	fans = 50
	// seriesEach is how many series each user has in addition to their items.
	seriesEach = 12
)

// crowd is a memory store with users and all that the projections derive of what they have.
type crowd struct {
	store   *memory.Store
	meter   *meter
	system  *system.System
	handler http.Handler
	users   []string
}

// hub is the note of a user that some others link to. No two users share an id, as the ids of clients cannot be
// guessed.
func hub(owner string) string { return "note_hub-" + owner }

// newCrowd makes so many users with so many items each.
func newCrowd(tb testing.TB, users, each int) *crowd {
	tb.Helper()
	c := &crowd{meter: &meter{}}
	c.store = memory.New(now, memory.Options{Observer: c.meter.observe})
	c.system = assemble(tb, c.store)
	c.handler = surfaceOf(c.system)
	for u := range users {
		owner := fmt.Sprintf("user_%d", u)
		c.users = append(c.users, owner)
		c.populate(tb, owner, each)
	}
	return c
}

// populate gives a user items, evenly spread over five years, and series. Nothing of it is kept here, and the stream is
// forgotten as the service forgets it: what the store holds is the table.
func (c *crowd) populate(tb testing.TB, owner string, n int) {
	tb.Helper()
	const chunk = 100
	require.NoError(tb, c.store.Load(tb.Context(), populate(base, 0, seriesEach).rows(tb, owner)))
	some := []item.Item{itemBody(3, base).created(tb, owner, "hub-"+owner, base)}
	for i := range n {
		if some = append(some, linked(tb, owner, i, n)); len(some) >= chunk || i == n-1 {
			changes := c.write(tb, owner, some)
			follow(tb, c.consumer(stats.Name), changes)
			follow(tb, c.consumer(links.Name), changes)
			c.store.Feed().Trim(base.AddDate(1, 0, 0))
			some = some[:0]
		}
	}
}

// linked is the i-th of n items of a user: the first ones link to the hub, the others to each other.
func linked(tb testing.TB, owner string, i, n int) item.Item {
	tb.Helper()
	at := placeOf(base, i, n)
	it := itemBody(i, at).created(tb, owner, fmt.Sprintf("%08d-%s", i, owner), at)
	target := entity.Ref{Type: product.TypeNote, ID: hub(owner)}
	if i >= fans {
		target.ID = fmt.Sprintf("note_%08d-%s", i/10*10-7, owner)
	}
	if i < fans || i%10 < 2 {
		entity.SetLinks(it, []entity.Link{{Target: target}})
	}
	return it
}

// write stores new items and returns the changes by which they came.
func (c *crowd) write(tb testing.TB, owner string, items []item.Item) []change.Change {
	tb.Helper()
	require.NoError(tb, c.store.Load(tb.Context(), items))
	changes := make([]change.Change, len(items))
	for i, it := range items {
		changes[i] = created(owner, it)
	}
	return changes
}

// created is the change by which the item came.
func created(owner string, it item.Item) change.Change {
	t := product.Registry().ByName(it.Str(entity.AttrType))
	return change.Change{
		Kind: change.Inserted, Type: t, User: owner, Ref: t.Ref(it), Key: it.Key(), New: it,
		Version: it.Int(entity.AttrVersion), Created: base,
	}
}
