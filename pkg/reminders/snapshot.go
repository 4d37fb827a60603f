package reminders

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/table"
)

// fencePage bounds the fences that one look at an item reads: a user who moves an item from minute to minute can have any
// number. Whatever is behind the page is looked for by its key if it decides anything; a delivery behind it that was begun
// and never closed is left to the repetition of its own call, and to repair.
const fencePage = 200

// snapshot is everything that decides about the schedules of an item, each row read consistently. The rows are not read at
// one instant: whoever acts on a snapshot takes another one afterwards and compares ([snapshot.same]).
type snapshot struct {
	target
	item   entity.Item // nil if gone
	meta   entity.Item // USER_META or its defaults; nil if nothing floats
	noMeta bool        // USER_META was looked for and is not there
	dues   []due
	fences map[entity.Key]entity.Item
}

func (e engine) look(ctx context.Context, t target) (snapshot, error) {
	s, err := e.lookAtItem(ctx, t)
	if err != nil {
		return snapshot{}, err
	}
	if s.fences, err = e.fencesOf(ctx, s); err != nil {
		return snapshot{}, fmt.Errorf("fences of %s: %w", t.key(), err)
	}
	return s, nil
}

// lookAtItem leaves the fences out.
func (e engine) lookAtItem(ctx context.Context, t target) (snapshot, error) {
	s := snapshot{target: t}
	item, err := e.find(ctx, t.key())
	if err != nil || item == nil || entity.Lapsed(item, e.Now()) {
		return s, err
	}
	s.item = item
	dues := t.typ.Dues(item)
	var zone *time.Location
	if anyFloating(dues) {
		if s.meta, s.noMeta, err = e.metaOf(ctx, t.user); err != nil {
			return snapshot{}, err
		}
		if zone, err = zoneOf(s.meta); err != nil {
			return snapshot{}, err
		}
	}
	s.dues = resolve(dues, zone)
	return s, nil
}

// find returns the row, or nil if there is none.
func (e engine) find(ctx context.Context, key entity.Key) (entity.Item, error) {
	item, err := e.Store.Get(ctx, key)
	if errors.Is(err, table.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", key, err)
	}
	return item, nil
}

// metaOf returns the user's USER_META, or its defaults and absent.
func (e engine) metaOf(ctx context.Context, user string) (meta entity.Item, absent bool, err error) {
	meta, err = e.find(ctx, entity.MetaKey(user))
	if err == nil && meta == nil {
		return entity.NewUserMeta(user, time.Time{}), true, nil
	}
	return meta, false, err
}

// fencesOf returns the item's fences: those of its dues without exception, others as far as one page holds them.
func (e engine) fencesOf(ctx context.Context, s snapshot) (map[entity.Key]entity.Item, error) {
	page, err := e.Store.Query(ctx, table.Query{
		Partition: s.key().PK, Range: table.Range{Prefix: entity.FiredPrefix(s.id)}, Limit: fencePage, Descending: true,
	})
	if err != nil {
		return nil, err
	}
	fences := map[entity.Key]entity.Item{}
	for _, row := range page.Items {
		fences[row.Key()] = row
	}
	if len(page.Next) == 0 || len(s.dues) == 0 {
		return fences, nil
	}
	var keys []entity.Key
	for _, d := range s.dues {
		keys = append(keys, d.fenceKey(s.target))
	}
	rows, err := e.Store.BatchGet(ctx, keys)
	for _, row := range rows {
		fences[row.Key()] = row
	}
	return fences, err
}

func (s snapshot) fenced(d due) bool { return s.fences[d.fenceKey(s.target)] != nil }

// same says that nothing which decided has changed: the item, USER_META if a time floats, and whether the fences of the
// dues exist.
func (s snapshot) same(later snapshot) bool {
	if (s.item == nil) != (later.item == nil) || version(s.item) != version(later.item) {
		return false
	}
	if (s.meta == nil) != (later.meta == nil) || version(s.meta) != version(later.meta) {
		return false
	}
	for _, d := range s.dues {
		if s.fenced(d) != later.fenced(d) {
			return false
		}
	}
	return true
}

func version(it entity.Item) int64 { return it.Int(entity.AttrVersion) }
