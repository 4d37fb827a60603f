package reminders

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// instancePages bounds the pages of 1 MB in which a series' exceptions are read: more than the commands let a series
// have.
const instancePages = 300

// rows are what a look at an item reads: everything, but for the deliveries, that decides about its schedules. Each is
// read consistently, but they are not read at one instant: whoever acts on them reads again afterwards and compares
// what guards them.
type rows struct {
	item      item.Item   // nil if gone
	master    item.Item   // of an exception: its series, nil if gone
	instances []item.Item // of a series: its exceptions
	meta      item.Item   // USER_META or its defaults; nil if nothing floats
	noMeta    bool        // USER_META was looked for and is not there
	zone      *time.Location
}

// read reads the rows of an item.
func (e engine) read(ctx context.Context, t target) (r rows, err error) {
	r.zone = time.UTC
	if r.item, err = e.findLive(ctx, t.key()); err != nil || r.item == nil {
		return r, err
	}
	switch t.typ.Name {
	case entity.TypeInstance:
		if _, _, err := entity.ParseInstanceID(t.id); err != nil {
			return rows{}, fmt.Errorf("%w: %w", errDamaged, err)
		}
		r.master, err = e.findLive(ctx, t.masterKey())
		if err != nil || r.master == nil {
			return r, err
		}
	case entity.TypeMaster:
		if r.item.Bool(product.AttrHasExceptions) {
			if r.instances, err = e.instancesOf(ctx, t); err != nil {
				return rows{}, err
			}
		}
	}
	if !r.floats(t.typ) {
		return r, nil
	}
	if r.meta, r.noMeta, err = e.metaOf(ctx, t.user); err != nil {
		return rows{}, err
	}
	r.zone, err = zoneOf(r.meta)
	return r, err
}

// readGuards reads again, of rows read before, those that guard them all; whatever else they hold stays as it was.
func (e engine) readGuards(ctx context.Context, t target, r rows) (rows, error) {
	item, err := e.findLive(ctx, t.key())
	if r.item = item; err != nil || item == nil {
		return r, err
	}
	if t.typ.Name == entity.TypeInstance {
		if r.master, err = e.findLive(ctx, t.masterKey()); err != nil {
			return rows{}, err
		}
	}
	if r.meta != nil {
		if r.meta, r.noMeta, err = e.metaOf(ctx, t.user); err != nil {
			return rows{}, err
		}
	}
	return r, nil
}

// floats says that the user's zone decides about an instant.
func (r rows) floats(t *entity.Type) bool {
	switch t.Name {
	case entity.TypeMaster:
		if product.EventSpan(r.item).Floating {
			return true
		}
		for _, it := range r.instances {
			if it.Has(product.AttrModifiedFields) && product.EventSpan(it).Floating {
				return true
			}
		}
		return false
	case entity.TypeInstance:
		return product.EventSpan(r.item).Floating || product.EventSpan(r.master).Floating
	}
	for _, d := range t.Dues(r.item) {
		if d.Floating {
			return true
		}
	}
	return false
}

// requestedAt adds to the time of the command that asked for a time that of the move to the zone in which it floats.
func (r rows) requestedAt(by time.Time, floating bool) time.Time {
	if moved, ok := r.meta.Time(product.AttrZoneSetAt); ok && floating && moved.After(by) {
		return moved
	}
	return by
}

// findLive returns the row, or nil if there is none or it is past its ttl.
func (e engine) findLive(ctx context.Context, key item.Key) (item.Item, error) {
	it, err := e.find(ctx, key)
	if err != nil || entity.Expired(it, e.Now()) {
		return nil, err
	}
	return it, nil
}

// find returns the row, or nil if there is none.
func (e engine) find(ctx context.Context, key item.Key) (item.Item, error) {
	it, err := e.Store.Get(ctx, key)
	if errors.Is(err, table.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", key, err)
	}
	return it, nil
}

// metaOf returns the user's USER_META, or its defaults and absent.
func (e engine) metaOf(ctx context.Context, user string) (meta item.Item, absent bool, err error) {
	meta, err = e.find(ctx, entity.MetaKey(user))
	if err == nil && meta == nil {
		return product.NewUserMeta(user, time.Time{}), true, nil
	}
	return meta, false, err
}

// instancesOf returns all INSTANCE rows of a series, those too that count for nobody: an occurrence of long ago may
// have moved to next week, and a row that was undone says when.
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

// guard is what was read of one row, as far as a change of the row shows in it.
type guard struct {
	key     item.Key
	exists  bool
	version int64
	// exceptions is a series' exceptionsVersion: it grows with each write of an exception, in the same transaction, so
	// that one row guards them all.
	exceptions int64
	isSeries   bool
}

func guardOf(key item.Key, row item.Item) guard {
	isSeries := row.Str(entity.AttrType) == entity.TypeMaster
	return guard{key, row != nil, version(row), row.Int(product.AttrExceptionsVersion), isSeries}
}

// condition holds as long as the row is as it was read.
func (g guard) condition() table.Condition {
	if !g.exists {
		return table.NotExists()
	}
	tests := []table.Test{table.Equal(entity.AttrVersion, item.Int(g.version))}
	switch {
	case g.isSeries && g.exceptions > 0:
		tests = append(tests, table.Equal(product.AttrExceptionsVersion, item.Int(g.exceptions)))
	case g.isSeries:
		tests = append(tests, table.Missing(product.AttrExceptionsVersion))
	}
	return table.Exists(tests...)
}

// guards are the rows that decided.
func (r rows) guards(t target) []guard {
	out := []guard{guardOf(t.key(), r.item)}
	if r.item != nil && t.typ.Name == entity.TypeInstance {
		out = append(out, guardOf(t.masterKey(), r.master))
	}
	if r.meta != nil {
		g := guardOf(entity.MetaKey(t.user), r.meta)
		g.exists = !r.noMeta
		out = append(out, g)
	}
	return out
}

func version(it item.Item) int64 { return it.Int(entity.AttrVersion) }
