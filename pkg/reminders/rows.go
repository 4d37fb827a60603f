package reminders

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// instancePages bounds the pages of 1 MB in which a series' exceptions are read: more than the commands let a series
// have.
const instancePages = 300

// readRows begins a snapshot: it reads the clock, and the rows of an item except its deliveries.
func (e engine) readRows(ctx context.Context, t target) (snapshot, error) {
	row, err := table.Find(ctx, e.Store, t.key())
	s := snapshot{target: t, now: e.Now(), lead: e.Lead, zone: time.UTC}
	if s.item = live(row, s.now); err != nil || s.item == nil {
		return s, err
	}
	switch t.typ.Name {
	case entity.TypeInstance:
		if _, _, err := entity.ParseInstanceID(t.id); err != nil {
			return snapshot{}, fmt.Errorf("%w: %w", errDamaged, err)
		}
		row, err := table.Find(ctx, e.Store, t.masterKey())
		if s.master = live(row, s.now); err != nil || s.master == nil {
			return s, err
		}
	case entity.TypeMaster:
		if s.item.Bool(product.AttrHasExceptions) {
			if s.instances, err = e.instancesOf(ctx, t); err != nil {
				return snapshot{}, err
			}
		}
	}
	if !s.floats() {
		return s, nil
	}
	if s.meta, s.noMeta, err = e.metaOf(ctx, t.user); err != nil {
		return snapshot{}, err
	}
	s.zone, err = zoneOf(s.meta)
	return s, err
}

// readGuards reads again those rows of a snapshot that guard them all. The snapshot's instant and its other rows stay.
func (e engine) readGuards(ctx context.Context, s snapshot) (snapshot, error) {
	row, err := table.Find(ctx, e.Store, s.target.key())
	if s.item = live(row, s.now); s.item == nil || err != nil {
		return s, err
	}
	if s.target.typ.Name == entity.TypeInstance {
		row, err := table.Find(ctx, e.Store, s.target.masterKey())
		if s.master = live(row, s.now); err != nil {
			return snapshot{}, err
		}
	}
	if s.meta != nil {
		if s.meta, s.noMeta, err = e.metaOf(ctx, s.target.user); err != nil {
			return snapshot{}, err
		}
	}
	return s, nil
}

// floats reports whether the user's zone decides about an instant.
func (s snapshot) floats() bool {
	switch s.target.typ.Name {
	case entity.TypeMaster:
		if product.EventSpan(s.item).Floating {
			return true
		}
		return slices.ContainsFunc(s.instances, func(it item.Item) bool {
			return it.Has(product.AttrModifiedFields) && product.EventSpan(it).Floating
		})
	case entity.TypeInstance:
		return product.EventSpan(s.item).Floating || product.EventSpan(s.master).Floating
	}
	return slices.ContainsFunc(s.target.typ.Dues(s.item), func(d entity.Due) bool { return d.Floating })
}

// live returns the row, or nil if it is past its ttl.
func live(row item.Item, now time.Time) item.Item {
	if entity.Expired(row, now) {
		return nil
	}
	return row
}

// metaOf returns the user's USER_META, or its defaults and absent.
func (e engine) metaOf(ctx context.Context, user string) (meta item.Item, absent bool, err error) {
	row, err := table.Find(ctx, e.Store, entity.MetaKey(user))
	if err != nil {
		return nil, false, err
	}
	return product.UserMetaOf(user, row, time.Time{}), row == nil, nil
}

// instancesOf returns all INSTANCE rows of a series, including undone ones: an occurrence of long ago may have moved
// to next week, and the row of an undone exception holds the time of its request.
func (e engine) instancesOf(ctx context.Context, master target) ([]item.Item, error) {
	q := table.Query{
		Partition: entity.UserPK(master.user), Range: table.Range{Prefix: entity.InstancePrefix(master.id)},
	}
	all, err := table.All(ctx, e.Store, q, instancePages)
	switch {
	case errors.Is(err, table.ErrTooMany):
		return nil, fmt.Errorf("%w: exceptions of %s: %w", errDamaged, master.key(), err)
	case err != nil:
		return nil, fmt.Errorf("exceptions of %s: %w", master.key(), err)
	}
	return all, nil
}
