package reminders

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/table"
)

const (
	// zoneRows is the number of items in one page of a walk through a user's items.
	zoneRows = 50
	// zonePages and zoneItems bound one call: pages read, and items looked at.
	zonePages = 40
	zoneItems = 200
	// zoneSpread is more than any two clocks of the world differ.
	zoneSpread = 26 * time.Hour
)

// ErrUnfinished: a change of zone has more items to look at than one call may; the record must come again.
var ErrUnfinished = errors.New("more items to come")

// zoneName returns the zone that an image of USER_META stands for; a user without USER_META has the default.
func zoneName(user string, image entity.Item) string {
	if image == nil {
		image = entity.NewUserMeta(user, time.Time{})
	}
	return image.Str(entity.AttrDefaultTzid)
}

// moveZone looks at every item of the user with a floating time that may be still to come, always with the zone that the
// user has now. It goes on where the cursor of this change of zone stands.
//
// A page's items and offsets stand in the cursor before the first of them is touched, so that a repetition after a crash
// has the same scope even if an item has lost the offset meanwhile (see [scope]). One case is left: of two workers on the
// same record one dies behind a schedule that the item has just given up, after the other moved the cursor on. The call of
// that schedule is dropped and deletes it.
func (c *Consumer) moveZone(ctx context.Context, user string, version int64) error {
	cur, err := c.readCursor(ctx, user, version)
	if err != nil {
		return err
	}
	for pages, items := 0, 0; pages < zonePages && items < zoneItems; pages++ {
		if cur.done {
			return nil
		}
		for _, id := range slices.Sorted(maps.Keys(cur.open)) {
			r := run{engine: c.engine, target: target{user, c.Registry.OfID(id), id}, scope: cur.open[id]}
			if err := r.settle(ctx); err != nil {
				return err
			}
			items++
		}
		next, err := c.readPage(ctx, user, cur)
		if err != nil {
			return err
		}
		if cur, err = c.moveCursor(ctx, cur, next); err != nil {
			return err
		}
	}
	if cur.done {
		return nil
	}
	return fmt.Errorf("zone of user %s at version %d: %w", user, version, ErrUnfinished)
}

// readPage returns the cursor behind one more page, with the page's items open.
func (c *Consumer) readPage(ctx context.Context, user string, cur cursor) (cursor, error) {
	types := c.walkedTypes()
	if cur.last || len(types) == 0 {
		cur.open, cur.done = nil, true
		return cur, nil
	}
	place := max(0, slices.IndexFunc(types, func(t *entity.Type) bool { return t.Name == cur.itemType }))
	q := table.Query{
		Partition: entity.UserPK(user), Range: table.Range{Prefix: entity.ItemPrefix(types[place].Name)}, Limit: zoneRows,
	}
	if cur.after != "" {
		q.Start = table.Position(entity.Key{PK: q.Partition, SK: cur.after}.Item())
	}
	page, err := c.Store.Query(ctx, q)
	if err != nil {
		return cursor{}, fmt.Errorf("walk items of user %s: %w", user, err)
	}
	cur.open = map[string]scope{}
	for _, item := range page.Items {
		id := item.Str(types[place].IDAttr)
		if c.Registry.OfID(id) != types[place] {
			return cursor{}, fmt.Errorf("%w: %s has %.80q for its id", errDamaged, item.Key(), id)
		}
		if s := floatingScope(types[place], item, c.Now()); len(s) > 0 {
			cur.open[id] = s
		}
	}
	cur.itemType, cur.after = types[place].Name, entity.Item(page.Next).Str(entity.AttrSK)
	if len(page.Next) == 0 {
		if place++; place < len(types) {
			cur.itemType = types[place].Name
		} else {
			cur.last = true
		}
	}
	return cur, nil
}

func (c *Consumer) walkedTypes() []*entity.Type {
	return slices.DeleteFunc(slices.Clone(c.Registry.Types()), func(t *entity.Type) bool { return !hasReminders(t) })
}

// floatingScope returns the offsets whose instants a change of zone moves; none for what is past in every zone for so long
// that it is not even late.
func floatingScope(t *entity.Type, item entity.Item, now time.Time) scope {
	s := scope{}
	if entity.Lapsed(item, now) {
		return s
	}
	for _, d := range t.Dues(item) {
		reading := d.At.Add(-time.Duration(d.OffsetMinutes) * time.Minute)
		if d.Floating && now.Sub(reading) <= zoneSpread+lateLimit {
			s[d.OffsetMinutes] = true
		}
	}
	return s
}
