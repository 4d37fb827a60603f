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

// deliveryPage bounds the deliveries that one snapshot of an item reads: a user who moves an item from minute to
// minute can have any number. A delivery after the page is read by its key if it affects the decision. A pending one
// after the page is left to the repetition of its own call, and to repair.
const deliveryPage = 200

// snapshot holds everything that decides about the schedules of an item, or of some of its offsets: an instant, the
// rows, and what follows from both. Each row is read consistently, but they are not read at one instant. So the caller
// that acts on a snapshot takes another one afterwards and compares ([snapshot.same]).
type snapshot struct {
	target target
	// now is the single instant of the snapshot. It decides which rows are past their ttl, what is due, late or to come,
	// and when a delivery was decided. It is read right after the item's row, so that no request in that row is later.
	now        time.Time
	lead       time.Duration
	item       item.Item   // nil if gone
	master     item.Item   // of an exception: its series, nil if gone
	instances  []item.Item // of a series: its exceptions
	meta       item.Item   // USER_META or its defaults; nil if nothing floats
	noMeta     bool        // USER_META was read and does not exist
	zone       *time.Location
	dues       []due
	deliveries map[item.Key]item.Item
}

// takeSnapshot reads everything.
func (e engine) takeSnapshot(ctx context.Context, t target, offsets scope) (snapshot, error) {
	s, err := e.readRows(ctx, t)
	if err != nil {
		return snapshot{}, err
	}
	return e.withDeliveries(ctx, s, offsets)
}

// retakeSnapshot reads again to compare with the snapshot before, as of the same instant. It costs no more for a
// series with many exceptions than for one with none: their guard is the series' row. Once a guard differs, it reads
// nothing else, because the two already differ.
func (e engine) retakeSnapshot(ctx context.Context, before snapshot, offsets scope) (snapshot, error) {
	s, err := e.readGuards(ctx, before)
	if err != nil || !slices.Equal(before.guards(), s.guards()) {
		return s, err
	}
	return e.withDeliveries(ctx, s, offsets)
}

// withDeliveries completes a snapshot that has its rows. The occurrences determine which deliveries matter, and the
// deliveries of a series determine which occurrence is next. So it computes the dues again until nothing about them is
// unknown.
func (e engine) withDeliveries(ctx context.Context, s snapshot, offsets scope) (snapshot, error) {
	s.deliveries = map[item.Key]item.Item{}
	page, err := e.Store.Query(ctx, table.Query{
		Partition: s.target.key().PK, Range: table.Range{Prefix: entity.DeliveryPrefix(s.target.id)}, Limit: deliveryPage,
		Descending: true,
	})
	if err != nil {
		return snapshot{}, fmt.Errorf("deliveries of %s: %w", s.target.key(), err)
	}
	if err := s.addDeliveries(page.Items); err != nil {
		return snapshot{}, err
	}
	isWhole, absent := len(page.Next) == 0, map[item.Key]bool{}
	for range maxRounds {
		var unknown []item.Key
		hasDelivery := func(d due) bool {
			key := d.deliveryKey(s.target)
			if s.deliveries[key] == nil && !isWhole && !absent[key] {
				unknown = append(unknown, key)
				absent[key] = true // until it is found
			}
			return s.deliveries[key] != nil
		}
		if s.dues, err = s.computeDues(offsets, hasDelivery); err != nil {
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
			return snapshot{}, fmt.Errorf("deliveries of %s: %w", s.target.key(), err)
		}
		if err := s.addDeliveries(rows); err != nil {
			return snapshot{}, err
		}
	}
	return snapshot{}, fmt.Errorf("deliveries of %s: %w", s.target.key(), ErrUnstable)
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

func (s snapshot) hasDelivery(d due) bool { return s.deliveries[d.deliveryKey(s.target)] != nil }

// same reports whether everything that decided is unchanged: the rows, and whether the deliveries of the dues exist.
func (s snapshot) same(later snapshot) bool {
	return slices.Equal(s.guards(), later.guards()) &&
		!slices.ContainsFunc(s.dues, func(d due) bool { return s.hasDelivery(d) != later.hasDelivery(d) })
}

// guard holds the values of one row that show whether the row has changed.
type guard struct {
	key     item.Key
	exists  bool
	version int64
	// exceptions is a series' exceptionsVersion: it grows with each write of an exception, in the same transaction, so
	// that one row guards them all.
	exceptions int64
	isSeries   bool
}

// guards returns the guards of the rows that decided.
func (s snapshot) guards() []guard {
	out := []guard{guardOf(s.target.key(), s.item)}
	if s.item != nil && s.target.typ.Name == entity.TypeInstance {
		out = append(out, guardOf(s.target.masterKey(), s.master))
	}
	if s.meta != nil {
		g := guardOf(entity.MetaKey(s.target.user), s.meta)
		g.exists = !s.noMeta
		out = append(out, g)
	}
	return out
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

func version(it item.Item) int64 { return it.Int(entity.AttrVersion) }
