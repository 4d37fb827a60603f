package projection

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// Members of the pending entry.
const (
	pendingItem         = "item"
	pendingVersion      = attrVersion
	pendingContribution = attrContribution
)

// pendingEntry is a ledger entry that is stored in the row of the sum until its own ledger row is written. One write
// stores it together with what it adds, and the next writes the ledger row, so neither has to be a transaction. While
// it is there, it overrides the ledger row, whose v is lower. Every writer of the sum flushes it first.
type pendingEntry struct {
	user, item   string
	version      int64
	contribution string
}

// pendingEntry returns the entry that is stored in the sum's row.
func (s *SumSpec) pendingEntry(user string, target item.Item) (e pendingEntry, ok bool) {
	m := target.Map(s.PendingAttr)
	if m.Str(pendingItem) == "" {
		return pendingEntry{}, false
	}
	return pendingEntry{user, m.Str(pendingItem), m.Int(pendingVersion), m.Str(pendingContribution)}, true
}

func (e pendingEntry) value() item.Map {
	return item.Map{
		pendingItem: item.String(e.item), pendingVersion: item.Int(e.version),
		pendingContribution: item.String(e.contribution),
	}
}

// isIn reports whether the ledger row, nil for none, has the entry or a later one.
func (e pendingEntry) isIn(row item.Item) bool {
	return row != nil && row.Int(attrVersion) >= e.version
}

// flush writes the entry into its ledger row, unless the row has it or a later one.
func (c *Consumer) flush(ctx context.Context, e pendingEntry) error {
	m := move{user: e.user, ref: entity.Ref{ID: e.item}, version: e.version, to: e.contribution}
	err := c.store.Put(ctx, table.Put{
		Item: c.projection.ledgerRow(&m, c.now()),
		If:   table.OrNoRow(table.Less(attrVersion, item.Int(e.version)), firstForm),
	})
	var failed *table.ConditionError
	if errors.As(err, &failed) {
		return c.readable(ctx, e.user, failed.Failures[0].Old)
	}
	if err != nil {
		return fmt.Errorf("put ledger row of %s: %w", e.item, err)
	}
	return nil
}

// flushPending writes the pending entries in the sums' rows, as they were read before, into their ledger rows. It
// returns the users of whom one could not be written, with the error: nil where the entry was taken back, so that the
// sum is to be read again.
func (c *Consumer) flushPending(ctx context.Context, targets map[string]item.Item) (map[string]error, error) {
	entries := map[item.Key]pendingEntry{}
	var keys []item.Key
	for _, user := range slices.Sorted(maps.Keys(targets)) {
		if e, ok := c.projection.shape.target().pendingEntry(user, targets[user]); ok {
			key := entity.LedgerKey(user, c.projection.name, e.item)
			entries[key] = e
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil, nil
	}
	rows, err := c.readRows(ctx, keys)
	if err != nil {
		return nil, err
	}
	waiting := map[string]error{}
	for _, key := range keys {
		e := entries[key]
		if err := c.readable(ctx, e.user, rows[key]); err != nil {
			waiting[e.user] = orNone(err)
			continue
		}
		if e.isIn(rows[key]) {
			continue
		}
		if isKept, err := c.flushOrDrop(ctx, e, targets[e.user], rows[key]); !isKept {
			waiting[e.user] = err
		}
	}
	return waiting, nil
}

// readRows reads ledger rows by their keys.
func (c *Consumer) readRows(ctx context.Context, keys []item.Key) (map[item.Key]item.Item, error) {
	found, err := c.store.BatchGet(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read %d ledger rows from %s: %w", len(keys), keys[0], err)
	}
	rows := make(map[item.Key]item.Item, len(found))
	for _, row := range found {
		rows[row.Key()] = row
	}
	return rows, nil
}

// goesSingle says that a move may be applied with single writes.
func (c *Consumer) goesSingle(m *move) bool {
	return m.state == pending && c.projection.Summed() && len(m.to) <= maxPending
}

// applySingle applies one move with single writes: the sum and the ledger's entry in one, the entry's own row in
// another. A transaction would cost as much as twice both. What it cannot finish because others write the same rows
// stays pending, and so does what the store refuses: a transaction needs less room, and counts nothing if it is
// refused, too.
func (c *Consumer) applySingle(ctx context.Context, m *move) {
	for range maxRounds {
		again, err := c.trySingle(ctx, m)
		switch {
		case errors.Is(err, table.ErrInvalid):
			return
		case err != nil:
			postpone([]*move{m}, err)
			return
		case !again:
			return
		}
	}
}

// trySingle reads the sum's row first and the ledger after it: an entry made since then has moved the sum's version on,
// and one made before shows in what is read.
func (c *Consumer) trySingle(ctx context.Context, m *move) (again bool, err error) {
	spec := c.projection.shape.target()
	targets, err := c.readTargets(ctx, []*move{m})
	if err != nil {
		return false, err
	}
	target := targets[m.user]
	if err := spec.checkForm(target); err != nil {
		return false, err
	}
	if spec.leased(target, c.now()) {
		return false, errLeased
	}
	row, again, err := c.readEntry(ctx, m, target)
	if again || err != nil {
		return again, err
	}
	if m.isPast(row) {
		m.state, m.already = done, true
		return false, c.joinFacts(ctx, m, target)
	}
	if m.from = row.Str(attrContribution); m.from == "" && m.aged {
		m.state = needsItem
		return false, nil
	}
	return c.write(ctx, m, target, row)
}

// readEntry reads the ledger row of the move's item, and with it that of the sum's pending entry, which has to be
// written before anything else is: again says that it was.
func (c *Consumer) readEntry(ctx context.Context, m *move, target item.Item) (row item.Item, again bool, err error) {
	key := entity.LedgerKey(m.user, c.projection.name, m.ref.ID)
	keys, lastKey := []item.Key{key}, key
	last, hasLast := c.projection.shape.target().pendingEntry(m.user, target)
	if hasLast && last.item != m.ref.ID {
		lastKey = entity.LedgerKey(m.user, c.projection.name, last.item)
		keys = append(keys, lastKey)
	}
	rows, err := c.readRows(ctx, keys)
	if err != nil {
		return nil, false, err
	}
	for _, row := range rows {
		if err := c.readable(ctx, m.user, row); err != nil {
			return nil, errors.Is(err, errStaged), orNone(err)
		}
	}
	if hasLast && !last.isIn(rows[lastKey]) {
		_, err := c.flushOrDrop(ctx, last, target, rows[lastKey])
		return nil, true, err
	}
	return rows[key], false, nil
}

// write moves the sum, and then the ledger row. The sum's row is written also where the sum stays as it is: the version
// that it is written under is what tells of an entry that somebody else has made of the same item meanwhile.
func (c *Consumer) write(ctx context.Context, m *move, target, row item.Item) (again bool, err error) {
	d := newDelta()
	d.move(m)
	e := pendingEntry{m.user, m.ref.ID, m.version, m.to}
	var failed *table.ConditionError
	written, err := c.store.Update(ctx, c.projection.shape.target().writePending(target, d, e, c.now()))
	if errors.As(err, &failed) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	isKept, err := c.flushOrDrop(ctx, e, written, row)
	if isKept {
		m.state = done
	}
	return false, err
}

// writePending is [SumSpec.write] with the entry of the ledger that it is for.
func (s *SumSpec) writePending(target item.Item, d *delta, e pendingEntry, now time.Time) table.Update {
	update := s.write(e.user, target, d, now)
	update.Set[s.PendingAttr] = e.value()
	return update
}
