package reminders

import (
	"context"
	"fmt"
	"slices"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// deliveryPage bounds the deliveries that one look at an item reads: a user who moves an item from minute to minute can
// have any number. Whatever is behind the page is looked for by its key if it decides anything; a delivery behind it
// that was begun and never closed is left to the repetition of its own call, and to repair.
const deliveryPage = 200

// snapshot is what decides about the schedules of an item, or of those of its offsets that are looked at, and what
// follows from it. Whoever acts on a snapshot takes another one afterwards and compares ([snapshot.same]).
type snapshot struct {
	target
	rows
	dues       []due
	deliveries map[item.Key]item.Item
}

// takeSnapshot reads everything. Which deliveries decide depends on the occurrences, and of a series which occurrence
// is next on the deliveries: so the dues are reckoned again until nothing about them is unknown.
func (e engine) takeSnapshot(ctx context.Context, t target, offsets scope) (snapshot, error) {
	r, err := e.read(ctx, t)
	if err != nil {
		return snapshot{}, err
	}
	return e.snapshotFrom(ctx, t, r, offsets)
}

// retakeSnapshot is another look to compare with the one before, which costs no more for a series with many exceptions
// than for one with none: their guard is the series' row. Once a guard differs, nothing else is read: then they are not
// the same.
func (e engine) retakeSnapshot(ctx context.Context, before snapshot, offsets scope) (snapshot, error) {
	r, err := e.readGuards(ctx, before.target, before.rows)
	if err != nil {
		return snapshot{}, err
	}
	if !slices.Equal(before.guards(before.target), r.guards(before.target)) {
		return snapshot{target: before.target, rows: r}, nil
	}
	return e.snapshotFrom(ctx, before.target, r, offsets)
}

// snapshotFrom goes on from the rows: it finds the deliveries.
func (e engine) snapshotFrom(ctx context.Context, t target, r rows, offsets scope) (snapshot, error) {
	s := snapshot{target: t, rows: r, deliveries: map[item.Key]item.Item{}}
	page, err := e.Store.Query(ctx, table.Query{
		Partition: s.key().PK, Range: table.Range{Prefix: entity.DeliveryPrefix(s.id)}, Limit: deliveryPage, Descending: true,
	})
	if err != nil {
		return snapshot{}, fmt.Errorf("fences of %s: %w", t.key(), err)
	}
	if err := s.addDeliveries(page.Items); err != nil {
		return snapshot{}, err
	}
	isWhole, absent := len(page.Next) == 0, map[item.Key]bool{}
	now := e.Now()
	for range maxRounds {
		var unknown []item.Key
		hasDelivery := func(d due) bool {
			key := d.deliveryKey(t)
			if s.deliveries[key] == nil && !isWhole && !absent[key] {
				unknown = append(unknown, key)
				absent[key] = true // until it is found
			}
			return s.deliveries[key] != nil
		}
		if s.dues, err = s.computeDues(offsets, now, hasDelivery); err != nil {
			return snapshot{}, err
		}
		for _, d := range s.dues {
			hasDelivery(d)
		}
		if len(unknown) == 0 {
			return s, nil
		}
		rows, err := e.Store.BatchGet(ctx, unknown)
		if err != nil {
			return snapshot{}, fmt.Errorf("fences of %s: %w", t.key(), err)
		}
		if err := s.addDeliveries(rows); err != nil {
			return snapshot{}, err
		}
	}
	return snapshot{}, fmt.Errorf("fences of %s: %w", t.key(), ErrUnstable)
}

func (s snapshot) addDeliveries(deliveries []item.Item) error {
	for _, row := range deliveries {
		if err := entity.CheckForm(row, entity.AttrForm); err != nil {
			return err
		}
		s.deliveries[row.Key()] = row
	}
	return nil
}

// computeDues returns the dues that decide about the offsets; others may be among them.
func (s snapshot) computeDues(offsets scope, now time.Time, hasDelivery func(due) bool) ([]due, error) {
	switch {
	case s.item == nil:
		return nil, nil
	case s.typ.Name == entity.TypeMaster:
		return s.seriesDues(offsets, now, hasDelivery)
	case s.typ.Name == entity.TypeInstance:
		return s.exceptionDues()
	case isRecurring(s.typ, s.item):
		return s.triggerDues(now, hasDelivery)
	}
	return itemDues(s.typ.Dues(s.item), s.rows), nil
}

// isRecurring says that the item is a reminder whose trigger moves on.
func isRecurring(t *entity.Type, it item.Item) bool {
	return t.Name == product.TypeReminder && it.Has(product.AttrRRule)
}

func (s snapshot) hasDelivery(d due) bool { return s.deliveries[d.deliveryKey(s.target)] != nil }

// same says that nothing which decided has changed: the rows, and whether the deliveries of the dues exist.
func (s snapshot) same(later snapshot) bool {
	if !slices.Equal(s.guards(s.target), later.guards(later.target)) {
		return false
	}
	for _, d := range s.dues {
		if s.hasDelivery(d) != later.hasDelivery(d) {
			return false
		}
	}
	return true
}
