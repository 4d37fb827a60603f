package reminders

import (
	"context"
	"errors"
	"fmt"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// Attributes of a cursor, beside the key, itemType and ttl.
const (
	attrRevision = "revision"
	attrAfter    = "after"
	attrOpen     = "open"
	attrLast     = "last"
	attrDone     = "done"
)

// cursor is the progress of a walk.
type cursor struct {
	key      item.Key
	revision int64 // 0 before the row exists
	// open are the items of the current page: their ids and the offsets to reconcile.
	open map[string]scope
	// itemType and after are the beginning of the next page; last says that there is none.
	itemType, after string
	last            bool
	done            bool
}

func (c *Consumer) readCursor(ctx context.Context, key item.Key) (cursor, error) {
	cur := cursor{key: key}
	row, err := table.Find(ctx, c.Store, key)
	if err != nil {
		return cur, err
	}
	if err := entity.CheckForm(row, entity.AttrForm); err != nil {
		return cur, err
	}
	cur.revision = row.Int(attrRevision)
	cur.itemType, cur.after = row.Str(attrItemType), row.Str(attrAfter)
	cur.last, cur.done = row.Bool(attrLast), row.Bool(attrDone)
	cur.open = map[string]scope{}
	open := row.Map(attrOpen)
	for id := range open {
		if !hasReminders(c.Registry.ByID(id)) {
			return cursor{}, fmt.Errorf("%w: cursor %s: %.80q is no item with reminders", errDamaged, cur.key, id)
		}
		s := scope{}
		for _, offset := range open.Ints(id) {
			s[offset] = true
		}
		cur.open[id] = s
	}
	return cur, nil
}

// moveCursor stores next in place of cur. If another worker was first, it returns that worker's cursor: the row then
// has that worker's open items, and two lists of one page must not be mixed.
func (c *Consumer) moveCursor(ctx context.Context, cur, next cursor) (cursor, error) {
	next.revision = cur.revision + 1
	u := table.Update{Key: cur.key, Set: next.row(c.Now().Add(deliveryRetention).Unix()), If: table.NotExists()}
	if cur.revision > 0 {
		u.If = table.Exists(table.Equal(attrRevision, item.Int(cur.revision)))
	}
	_, err := c.Store.Update(ctx, u)
	var failed *table.ConditionError
	if !errors.As(err, &failed) {
		if err != nil {
			err = fmt.Errorf("move cursor %s: %w", cur.key, err)
		}
		return next, err
	}
	return c.readCursor(ctx, cur.key)
}

// row returns every attribute but the key: each move writes them all.
func (cur cursor) row(ttl int64) item.Item {
	open := item.Map{}
	for id, s := range cur.open {
		open[id] = item.Ints(s.sorted()...)
	}
	return item.Item{
		attrRevision: item.Int(cur.revision), attrItemType: item.String(cur.itemType), attrAfter: item.String(cur.after),
		attrLast: item.Bool(cur.last), attrDone: item.Bool(cur.done), attrOpen: open, entity.AttrTTL: item.Int(ttl),
	}
}
