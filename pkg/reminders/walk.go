package reminders

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

const (
	// walkRows is the number of items in one page of a walk.
	walkRows = 50
	// walkFor bounds one call, unless the configuration says otherwise: it begins no page after that.
	walkFor = 20 * time.Second
	// walkFailures bounds the items that one call finds never to be reconciled, because the cursor holds them. More of
	// them have one cause, such as a zone that does not exist: the walk stops and keeps its place.
	walkFailures = 50
)

// ErrUnfinished says that a call has not brought a walk to its end: its time was up, or another worker goes on.
var ErrUnfinished = errors.New("more items to come")

// errPaused says that the time of a call was up. It matches [ErrUnfinished].
var errPaused = fmt.Errorf("the time of a call is up: %w", ErrUnfinished)

// walk is the part of a record's work beyond its own item: reconciling each of many others.
//
// A page's items and offsets are in the walk's cursor before the first of them is reconciled. So a repetition after a
// crash has the same scope even if an item has lost the offset since (see [scope]). Only the worker that wrote the
// cursor's present revision moves it on. Another one takes the walk over first, and leaves the page's items in the
// cursor: the worker before it may still write an old snapshot's schedule and die, and its repetition finds them.
//
// A walk of a change of zone ends when a later change has overtaken it, whose walk finds the same items. It does so
// between two pages: the offsets of the page that its cursor has open may be known to no other worker.
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
	// zoneVersion is USER_META's after the change of zone; 0 for a series, whose walk is never overtaken.
	zoneVersion int64
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

// walk reconciles items, continuing at the cursor, until the end or until its time is up.
func (e engine) walk(ctx context.Context, w walk) error {
	until := e.Now().Add(cmp.Or(e.WalkFor, walkFor))
	cur, err := e.readCursor(ctx, w.key)
	if err != nil || cur.isFinished() {
		return err
	}
	if !cur.isUntouched() {
		if cur, err = e.takeOver(ctx, cur); err != nil {
			return err
		}
	}
	failed, refused := e.reconcileEach(ctx, w.user, cur.left)
	if refused != nil && !isHopeless(refused) {
		return refused
	}
	if next := cur; cur.done && cur.hasFailed != (refused != nil) {
		next.hasFailed = refused != nil
		if _, err := e.moveCursor(ctx, cur, next); err != nil {
			return err
		}
	}
	for failures := len(failed); !cur.done; {
		failed, err := e.reconcileEach(ctx, w.user, cur.open)
		if err != nil && !isHopeless(err) {
			return err
		}
		refused = errors.Join(refused, err)
		if failures += len(failed); failures > walkFailures {
			return refused
		}
		next, err := e.nextPage(ctx, w, cur, until)
		if err != nil {
			return err
		}
		next.left, next.hasFailed = joined(cur.left, failed), refused != nil
		if cur, err = e.moveCursor(ctx, cur, next); err != nil {
			return err
		}
		if cur.isFree {
			return fmt.Errorf("walk %s: %w", w.key, errPaused)
		}
	}
	return refused
}

// reconcileEach reconciles items of a cursor. It goes past an item with a hopeless error, and returns all of those with
// their joined errors. It returns any other error at once.
func (e engine) reconcileEach(
	ctx context.Context, user string, items map[string]scope,
) (failed map[string]scope, refused error) {
	failed = map[string]scope{}
	for _, id := range slices.Sorted(maps.Keys(items)) {
		r := run{engine: e, target: target{user, e.Registry.ByID(id), id}, scope: items[id]}
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

// nextPage returns the cursor after the page that was open: with the items of the next page that has any, free with
// none if the time is up, or at its end. It reads one page in any case, so that each call makes progress.
func (e engine) nextPage(ctx context.Context, w walk, cur cursor, until time.Time) (cursor, error) {
	hasRead := len(cur.open) > 0
	cur.open, cur.isFree = nil, false
	for len(cur.open) == 0 {
		if cur.last || len(w.parts) == 0 {
			cur.done = true
			return cur, nil
		}
		if cur.isFree = hasRead && !e.Now().Before(until); cur.isFree {
			return cur, nil
		}
		isOvertaken, err := e.isOvertaken(ctx, w)
		if cur.done = isOvertaken; err != nil || isOvertaken {
			return cur, err
		}
		if cur, err = e.readPage(ctx, w, cur); err != nil {
			return cur, err
		}
		hasRead = true
	}
	return cur, nil
}

// isOvertaken reports whether the zone has changed since the walk's own change. The record of that change sets off a
// walk over every item, so this one finds nothing that the other does not.
func (e engine) isOvertaken(ctx context.Context, w walk) (bool, error) {
	if w.zoneVersion == 0 {
		return false, nil
	}
	meta, err := table.Find(ctx, e.Store, entity.MetaKey(w.user))
	return meta.Int(product.AttrZoneVersion) > w.zoneVersion, err
}

// readPage returns the cursor after one more page, with the page's items open.
func (e engine) readPage(ctx context.Context, w walk, cur cursor) (cursor, error) {
	place := max(0, slices.IndexFunc(w.parts, func(p part) bool { return p.typ.Name == cur.itemType }))
	at := w.parts[place]
	q := table.Query{Partition: entity.UserPK(w.user), Range: table.Range{Prefix: at.prefix}, Limit: walkRows}
	if cur.after != "" {
		q.Start = table.Position(item.Key{PK: q.Partition, SK: cur.after}.Item())
	}
	page, err := e.Store.Query(ctx, q)
	if err != nil {
		return cursor{}, fmt.Errorf("walk items of %s: %w", q.Partition, err)
	}
	cur.open = map[string]scope{}
	for _, it := range page.Items {
		id, err := at.idOf(it)
		if err != nil {
			e.Log.ErrorContext(ctx, "row without item passed over", "key", it.Key().String(), "error", err)
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
