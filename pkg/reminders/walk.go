package reminders

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

const (
	// walkRows is the number of items in one page of a walk.
	walkRows = 50
	// walkPages and walkItems bound one call: pages read, and items reconciled.
	walkPages = 40
	walkItems = 200
)

// walk is the part of a record's work beyond its own item: reconciling each of many others.
//
// A page's items and offsets are in the walk's cursor before the first of them is reconciled. So a repetition after a
// crash has the same scope even if an item has lost the offset since (see [scope]). Only the worker that wrote the
// cursor's present revision moves it on. Another one takes the walk over first, and leaves the page's items in the
// cursor: the worker before it may still write an old snapshot's schedule and die, and its repetition finds them.
type walk struct {
	user  string
	key   item.Key // of its cursor: derived from the record, so that the repetition continues
	parts []part
	// scopeOf returns the offsets of an item to reconcile.
	scopeOf func(t *entity.Type, it item.Item) scope
}

// part is a range of the user's items.
type part struct {
	typ    *entity.Type
	prefix string
}

// walk reconciles every item, continuing at the cursor. A walk that finds no item leaves no cursor.
func (c *Consumer) walk(ctx context.Context, w walk) error {
	cur, err := c.readCursor(ctx, w.key)
	if err == nil && cur.revision > 0 && !cur.done {
		cur, err = c.takeOver(ctx, cur)
	}
	if err != nil {
		return err
	}
	if err := c.reconcileEach(ctx, w.user, cur.left); err != nil {
		return err
	}
	for pages, items := 0, 0; !cur.done; {
		if err := c.reconcileEach(ctx, w.user, cur.open); err != nil {
			return err
		}
		next, err := c.readPage(ctx, w, cur)
		if err != nil {
			return err
		}
		pages, items = pages+1, items+len(cur.open)
		isFull := pages == walkPages || items >= walkItems
		if cur.revision == 0 && len(next.open) == 0 && (next.done || !isFull) {
			cur = next
			continue
		}
		next.isFree = isFull
		if cur, err = c.moveCursor(ctx, cur, next); err != nil {
			return err
		}
		if isFull && !cur.done {
			return fmt.Errorf("walk %s: %w", w.key, ErrUnfinished)
		}
	}
	return nil
}

// reconcileEach reconciles items of a cursor.
func (c *Consumer) reconcileEach(ctx context.Context, user string, items map[string]scope) error {
	for _, id := range slices.Sorted(maps.Keys(items)) {
		r := run{engine: c.engine, target: target{user, c.Registry.ByID(id), id}, scope: items[id]}
		if err := r.reconcile(ctx); err != nil {
			return err
		}
	}
	return nil
}

// readPage returns the cursor after one more page, with the page's items open.
func (c *Consumer) readPage(ctx context.Context, w walk, cur cursor) (cursor, error) {
	if cur.last || len(w.parts) == 0 {
		cur.open, cur.done = nil, true
		return cur, nil
	}
	place := max(0, slices.IndexFunc(w.parts, func(p part) bool { return p.typ.Name == cur.itemType }))
	at := w.parts[place]
	q := table.Query{Partition: entity.UserPK(w.user), Range: table.Range{Prefix: at.prefix}, Limit: walkRows}
	if cur.after != "" {
		q.Start = table.Position(item.Key{PK: q.Partition, SK: cur.after}.Item())
	}
	page, err := c.Store.Query(ctx, q)
	if err != nil {
		return cursor{}, fmt.Errorf("walk items of user %s: %w", w.user, err)
	}
	cur.open = map[string]scope{}
	for _, it := range page.Items {
		id := it.Str(at.typ.IDAttr)
		if c.Registry.ByID(id) != at.typ {
			return cursor{}, fmt.Errorf("%w: %s has %.80q for its id", errDamaged, it.Key(), id)
		}
		if s := w.scopeOf(at.typ, it); len(s) > 0 {
			cur.open[id] = s
		}
	}
	cur.itemType, cur.after = at.typ.Name, item.Item(page.Next).Str(item.AttrSK)
	if len(page.Next) == 0 {
		if place++; place < len(w.parts) {
			cur.itemType = w.parts[place].typ.Name
		} else {
			cur.last = true
		}
	}
	return cur, nil
}
