package reminders

import (
	"context"
	"errors"
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
	// walkFailures bounds the items that one call finds never to be reconciled, because the cursor holds them. More of
	// them have one cause, such as a zone that does not exist: the walk stops and keeps its place.
	walkFailures = 50
)

// walk is the part of a record's work beyond its own item: reconciling each of many others.
//
// A page's items and offsets are in the walk's cursor before the first of them is reconciled. So a repetition after a
// crash has the same scope even if an item has lost the offset since (see [scope]). Only the worker that wrote the
// cursor's present revision moves it on. Another one takes the walk over first, and leaves the page's items in the
// cursor: the worker before it may still write an old snapshot's schedule and die, and its repetition finds them.
//
// An item that can never be reconciled does not end the walk, up to walkFailures of them. It stays in the cursor for a
// later repetition, and the walk returns its error at the end. A row whose key is no item's is logged and passed over:
// no program can have scheduled anything for it, and verification names it.
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

// idOf returns the id in a row's key. The attribute may have another one in a damaged row, and decides nothing.
func (p part) idOf(it item.Item) (string, error) {
	key, err := entity.ParseSortKey(it.Str(item.AttrSK), p.typ)
	if err != nil {
		return "", err
	}
	return key.Ref().ID, entity.CheckID(p.typ.IDPrefix, key.Ref().ID)
}

// walk reconciles every item, continuing at the cursor. A walk that finds no item leaves no cursor.
func (c *Consumer) walk(ctx context.Context, w walk) error {
	cur, err := c.readCursor(ctx, w.key)
	if err == nil && cur.revision > 0 && (!cur.done || len(cur.left) > 0) {
		cur, err = c.takeOver(ctx, cur)
	}
	if err != nil {
		return err
	}
	failed, refused := c.reconcileEach(ctx, w.user, cur.left)
	if refused != nil && !isHopeless(refused) {
		return refused
	}
	if next := cur; cur.done && cur.hasFailed != (refused != nil) {
		next.hasFailed = refused != nil
		if _, err := c.moveCursor(ctx, cur, next); err != nil {
			return err
		}
	}
	for pages, items, failures := 0, 0, len(failed); !cur.done; {
		failed, err := c.reconcileEach(ctx, w.user, cur.open)
		if err != nil && !isHopeless(err) {
			return err
		}
		refused = errors.Join(refused, err)
		if failures += len(failed); failures > walkFailures {
			return refused
		}
		next, err := c.readPage(ctx, w, cur)
		if err != nil {
			return err
		}
		next.left, next.hasFailed = joined(cur.left, failed), refused != nil
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
	return refused
}

// reconcileEach reconciles items of a cursor. It goes past an item with a hopeless error, and returns all of those with
// their joined errors. It returns any other error at once.
func (c *Consumer) reconcileEach(
	ctx context.Context, user string, items map[string]scope,
) (failed map[string]scope, refused error) {
	failed = map[string]scope{}
	for _, id := range slices.Sorted(maps.Keys(items)) {
		r := run{engine: c.engine, target: target{user, c.Registry.ByID(id), id}, scope: items[id]}
		err := r.reconcile(ctx)
		if err == nil {
			continue
		}
		if !isHopeless(err) {
			return nil, err
		}
		failed[id], refused = items[id], errors.Join(refused, err)
	}
	return failed, refused
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
		return cursor{}, fmt.Errorf("walk items of %s: %w", q.Partition, err)
	}
	cur.open = map[string]scope{}
	for _, it := range page.Items {
		id, err := at.idOf(it)
		if err != nil {
			c.Log.ErrorContext(ctx, "row without item passed over", "key", it.Key().String(), "error", err)
		} else if s := w.scopeOf(at.typ, it); len(s) > 0 {
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
