package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/links"
	"nexus/pkg/product"
	"nexus/pkg/projection"
	"nexus/pkg/stats"
	"nexus/pkg/table/memory"
)

const (
	// fans is how many items link to each user's hub.
	fans = 50
	// seriesEach is how many series each user has besides their items.
	seriesEach = 12
)

// crowd is a memory store with users and all that the projections derive of what they have.
type crowd struct {
	registry *entity.Registry
	store    *memory.Store
	meter    *meter
	handler  http.Handler
	derive   []change.Consumer
	users    []string
	items    int // of all users together
}

func now() time.Time { return base }

// hub is the note of a user that some others link to. No two users share an id, as the ids of clients cannot be
// guessed.
func hub(owner string) string { return "note_hub-" + owner }

// newCrowd makes so many users with so many items each.
func newCrowd(ctx context.Context, users, each int) (*crowd, error) {
	c := &crowd{registry: product.Registry(), meter: &meter{}, items: users * each}
	c.store = memory.New(now, memory.Options{Observer: c.meter.observe})
	for _, p := range []*projection.Projection{stats.Projection(), links.Projection()} {
		c.derive = append(c.derive, projection.NewConsumer(p, c.store, now))
	}
	var err error
	if c.handler, err = surface(c.store, c.registry, now); err != nil {
		return nil, err
	}
	for u := range users {
		owner := fmt.Sprintf("user_%d", u)
		c.users = append(c.users, owner)
		if err := c.settleIn(ctx, owner, each); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// settleIn gives a user items, evenly spread over five years, and series. Nothing of it is kept here, and the stream is
// forgotten as the service forgets it: what the store holds is the table.
func (c *crowd) settleIn(ctx context.Context, owner string, n int) error {
	const chunk = 100
	rows, err := populate(base, 0, seriesEach).rows(owner, c.registry, base)
	if err != nil {
		return err
	}
	if err := c.store.Load(ctx, rows); err != nil {
		return err
	}
	target, err := created(product.Note(), owner, hub(owner), itemBody(3, base).Body, base)
	if err != nil {
		return err
	}
	some := []item.Item{target}
	for i := range n {
		it, err := c.item(owner, i, n)
		if err != nil {
			return err
		}
		if some = append(some, it); len(some) >= chunk || i == n-1 {
			if err := c.add(ctx, owner, some); err != nil {
				return err
			}
			some = some[:0]
		}
	}
	return nil
}

// item is the i-th of n of a user: the first ones link to the hub, the others to each other.
func (c *crowd) item(owner string, i, n int) (item.Item, error) {
	at := base.Add(-spread + time.Duration(i*1_000_003%n)*(2*spread/time.Duration(n))).Truncate(15 * time.Minute)
	d := itemBody(i, at)
	t := c.registry.Named(d.Type)
	it, err := created(t, owner, fmt.Sprintf("%s_%08d-%s", t.IDPrefix, i, owner), d.Body, at)
	if err != nil {
		return nil, err
	}
	target := entity.Ref{Type: product.TypeNote, ID: hub(owner)}
	if i >= fans {
		target.ID = fmt.Sprintf("note_%08d-%s", i/10*10-7, owner)
	}
	if i < fans || i%10 < 2 {
		entity.SetLinks(it, []entity.Link{{Target: target}})
	}
	return it, nil
}

// add writes new items and has the projections follow.
func (c *crowd) add(ctx context.Context, owner string, items []item.Item) error {
	if err := c.store.Load(ctx, items); err != nil {
		return err
	}
	changes := make([]change.Change, len(items))
	for i, it := range items {
		changes[i] = c.created(owner, it)
	}
	for _, consumer := range c.derive {
		if err := followed(ctx, consumer, changes); err != nil {
			return err
		}
	}
	c.store.Feed().Trim(base.AddDate(1, 0, 0))
	return nil
}

// created is the change by which the item came.
func (c *crowd) created(owner string, it item.Item) change.Change {
	t := c.registry.Named(it.Str(entity.AttrType))
	return change.Change{
		Kind: change.Inserted, Type: t, User: owner, Ref: t.Ref(it), Key: it.Key(), New: it,
		Version: it.Int(entity.AttrVersion), Created: base,
	}
}

// followed has a consumer handle the changes; whatever it cannot do is an error here.
func followed(ctx context.Context, consumer change.Consumer, changes []change.Change) error {
	for i, o := range consumer.Apply(ctx, changes) {
		if o.Err != nil {
			return fmt.Errorf("%s: %w", changes[i].Key, o.Err)
		}
	}
	return nil
}
