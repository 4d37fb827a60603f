package reminders

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// Attributes of a cursor, beside the key, itemType and ttl.
const (
	attrRevision = "revision"
	attrAfter    = "after"
	attrOpen     = "open"
	attrLeft     = "left"
	attrFailed   = "failed"
	attrFree     = "free"
	attrLast     = "last"
	attrDone     = "done"
)

// cursor is the progress of a walk.
type cursor struct {
	key      item.Key
	revision int64 // 0 before the row exists
	// open are the items of the current page: their ids and the offsets to reconcile.
	open map[string]scope
	// left are the open items of all pages that one worker took over from another. That one may still write a schedule of
	// them, from an old snapshot, and then die: so each worker that begins reconciles them, also when the walk is done.
	// They are also the items that failed for good: the repetition of a parked record tries them again. One that has
	// succeeded since stays: another worker on this cursor may still hold an old snapshot of it.
	left map[string]scope
	// hasFailed says that an item of left could not be reconciled when it was last tried.
	hasFailed bool
	// isFree says that the worker that wrote this revision has ended, with every open item still to be reconciled.
	isFree bool
	// itemType and after are the beginning of the next page; last says that there is none.
	itemType, after string
	last            bool
	done            bool
}

func (e engine) readCursor(ctx context.Context, key item.Key) (cursor, error) {
	cur := cursor{key: key}
	row, err := table.Find(ctx, e.Store, key)
	if err != nil {
		return cur, err
	}
	if err := entity.CheckForm(row, entity.AttrForm); err != nil {
		return cur, err
	}
	cur.revision = row.Int(attrRevision)
	cur.itemType, cur.after = row.Str(attrItemType), row.Str(attrAfter)
	cur.last, cur.done, cur.hasFailed = row.Bool(attrLast), row.Bool(attrDone), row.Bool(attrFailed)
	cur.isFree = cur.revision > 0 && row.Int(attrFree) == cur.revision
	if cur.open, err = e.readScopes(cur.key, row.Map(attrOpen)); err != nil {
		return cursor{}, err
	}
	cur.left, err = e.readScopes(cur.key, row.Map(attrLeft))
	return cur, err
}

// readScopes reads the items of a cursor and their offsets.
func (e engine) readScopes(key item.Key, of item.Item) (map[string]scope, error) {
	out := map[string]scope{}
	for id := range of {
		if t := e.Registry.ByID(id); !hasReminders(t) || entity.CheckID(t.IDPrefix, id) != nil {
			return nil, fmt.Errorf("%w: cursor %s: %.80q is no item with reminders", errDamaged, key, id)
		}
		s := scope{}
		for _, offset := range of.Ints(id) {
			s[offset] = true
		}
		out[id] = s
	}
	return out, nil
}

// isFinished reports whether nothing is left to do.
func (cur cursor) isFinished() bool { return cur.done && len(cur.left) == 0 }

// isUntouched reports whether the cursor names no item, and no worker is working on it. The first one that moves it is
// its worker.
func (cur cursor) isUntouched() bool {
	return cur.revision == 0 || cur.isFree && len(cur.open) == 0 && len(cur.left) == 0
}

// takeOver makes the caller the one worker of a walk that was begun. The worker before it can move the cursor no more.
// The cursor's ttl begins again, also if the walk is done: otherwise the repetition of the caller, which may die after
// an old snapshot's schedule, might not find the items that are left.
func (e engine) takeOver(ctx context.Context, cur cursor) (cursor, error) {
	next := cur
	if !cur.isFree {
		next.left = joined(cur.left, cur.open)
	}
	next.isFree = false
	return e.moveCursor(ctx, cur, next)
}

// joined returns the items of both with the offsets of both.
func joined(a, b map[string]scope) map[string]scope {
	out := map[string]scope{}
	for _, items := range []map[string]scope{a, b} {
		for id, s := range items {
			if out[id] == nil {
				out[id] = scope{}
			}
			maps.Copy(out[id], s)
		}
	}
	return out
}

// moveCursor stores next in place of cur. It returns [ErrUnfinished] if another worker was first: that one goes on.
func (e engine) moveCursor(ctx context.Context, cur, next cursor) (cursor, error) {
	next.revision = cur.revision + 1
	u := table.Update{Key: cur.key, Set: next.row(e.Now().Add(deliveryRetention).Unix()), If: table.NotExists()}
	if cur.revision > 0 {
		u.If = table.Exists(table.Equal(attrRevision, item.Int(cur.revision)))
	}
	_, err := e.Store.Update(ctx, u)
	var failed *table.ConditionError
	switch {
	case errors.As(err, &failed):
		return cur, fmt.Errorf("walk %s, in which another worker goes on: %w", cur.key, ErrUnfinished)
	case err != nil:
		return cur, fmt.Errorf("move cursor %s: %w", cur.key, err)
	}
	return next, nil
}

// row returns every attribute but the key: each move writes them all.
func (cur cursor) row(ttl int64) item.Item {
	free := int64(0)
	if cur.isFree {
		free = cur.revision // a release before this one moves the cursor and leaves this attribute
	}
	return item.Item{
		attrRevision: item.Int(cur.revision), attrItemType: item.String(cur.itemType), attrAfter: item.String(cur.after),
		attrLast: item.Bool(cur.last), attrDone: item.Bool(cur.done), attrFree: item.Int(free),
		attrOpen: scopesValue(cur.open), attrLeft: scopesValue(cur.left), attrFailed: item.Bool(cur.hasFailed),
		entity.AttrTTL: item.Int(ttl),
	}
}

func scopesValue(items map[string]scope) item.Map {
	out := item.Map{}
	for id, s := range items {
		out[id] = item.Ints(s.sorted()...)
	}
	return out
}
