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

// readTargets reads the sums' rows of the users concerned; a user without one is left out.
func (e *sumEngine) readTargets(ctx context.Context, moves []*move) (map[string]item.Item, error) {
	targets := map[string]item.Item{}
	userOf := map[item.Key]string{}
	var keys []item.Key
	for _, m := range moves {
		key := e.spec.Target(m.user)
		if _, seen := userOf[key]; !seen {
			userOf[key] = m.user
			keys = append(keys, key)
		}
	}
	rows, err := e.store.BatchGet(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read %d sums from %s: %w", len(keys), keys[0], err)
	}
	for _, row := range rows {
		targets[userOf[row.Key()]] = row
	}
	return targets, nil
}

// checkOpen returns an error for a sum that must not be written now: a repair has its lease, or a later release wrote
// it.
func (s *SumSpec) checkOpen(row item.Item, now time.Time) error {
	err := s.checkForm(row)
	if err == nil && s.leased(row, now) {
		err = errLeased
	}
	return err
}

// checkForm returns an error for a row that a later release wrote.
func (s *SumSpec) checkForm(row item.Item) error { return entity.CheckForm(row, s.FormAttr) }

// leased reports whether a repair has the lease of the sum.
func (s *SumSpec) leased(row item.Item, now time.Time) bool {
	until, ok := row.Map(s.LeaseAttr).Time(leaseUntil)
	return ok && now.Before(until)
}

// readEntry reads the ledger row of the move's item, and with it that of the sum's pending entry. The entry must be
// written before anything else: again says that it was.
func (e *sumEngine) readEntry(ctx context.Context, m *move, target item.Item) (row item.Item, again bool, err error) {
	key := entity.LedgerKey(m.user, e.name, m.ref.ID)
	keys, lastKey := []item.Key{key}, key
	last, hasLast := e.spec.pendingEntry(m.user, target)
	if hasLast && last.item != m.ref.ID {
		lastKey = entity.LedgerKey(m.user, e.name, last.item)
		seen, err := e.seen(ctx, map[item.Key]pendingEntry{lastKey: last})
		switch {
		case err != nil:
			return nil, false, err
		case seen[lastKey]:
			hasLast = false
		default:
			keys = append(keys, lastKey)
		}
	}
	rows, err := e.readRows(ctx, keys)
	if err != nil {
		return nil, false, err
	}
	for _, key := range keys {
		if err := e.readable(ctx, m.user, rows[key]); err != nil {
			return nil, errors.Is(err, errStaged), orNone(err)
		}
	}
	if hasLast && !last.isIn(rows[lastKey]) {
		_, err := e.flushOrDrop(ctx, last, target, rows[lastKey])
		return nil, true, err
	}
	return rows[key], false, nil
}

// seen returns which entries are surely in their ledger rows, by reads of half the units that may be of a moment ago.
// The version of a ledger row never falls, and only a tombstone is ever removed, which stands for no contribution. So a
// row that once had an entry still has it, or a later one. Rows that did not have it must be read consistently.
func (e *sumEngine) seen(ctx context.Context, entries map[item.Key]pendingEntry) (map[item.Key]bool, error) {
	keys := slices.SortedFunc(maps.Keys(entries), item.Key.Compare)
	rows, err := e.store.Peek(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("look at %d ledger rows from %s: %w", len(keys), keys[0], err)
	}
	found := map[item.Key]bool{}
	for _, row := range rows {
		isPlain := entity.CheckForm(row, entity.AttrForm) == nil // not staged by a repair
		found[row.Key()] = isPlain && entries[row.Key()].isIn(row)
	}
	return found, nil
}

// pendingEntry returns the entry that is stored in the sum's row.
func (s *SumSpec) pendingEntry(user string, target item.Item) (e pendingEntry, ok bool) {
	m := target.Map(s.PendingAttr)
	if _, err := entity.ParseSortKey(entity.LedgerPrefix(s.Name) + m.Str(pendingItem)); err != nil {
		return pendingEntry{}, false // there is none, or a damaged one: a recount finds what it added
	}
	return pendingEntry{user, m.Str(pendingItem), m.Int(pendingVersion), m.Str(pendingContribution)}, true
}

// readRows reads ledger rows by their keys.
func (e *sumEngine) readRows(ctx context.Context, keys []item.Key) (map[item.Key]item.Item, error) {
	found, err := e.store.BatchGet(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read %d ledger rows from %s: %w", len(keys), keys[0], err)
	}
	rows := make(map[item.Key]item.Item, len(found))
	for _, row := range found {
		rows[row.Key()] = row
	}
	return rows, nil
}

// isIn reports whether the ledger row, nil for none, has the entry or a later one.
func (e pendingEntry) isIn(row item.Item) bool {
	return row != nil && row.Int(attrVersion) >= e.version
}

// flushOrDrop writes a pending entry of the sum's row into its older ledger row. If the store refuses that for good,
// the entry is removed again, as though its record had been parked at once. The ledger row was read after the sum's.
func (e *sumEngine) flushOrDrop(
	ctx context.Context, last pendingEntry, target, row item.Item,
) (isKept bool, err error) {
	err = e.flush(ctx, last)
	if !errors.Is(err, table.ErrInvalid) {
		return err == nil, orNone(err)
	}
	if err := e.drop(ctx, last, target, row); err != nil {
		return false, fmt.Errorf("take back the entry of %s: %w", last.item, err)
	}
	return false, nil
}

// flush writes the entry into its ledger row, unless the row has it or a later one.
func (e *sumEngine) flush(ctx context.Context, entry pendingEntry) error {
	m := move{user: entry.user, ref: entity.Ref{ID: entry.item}, version: entry.version, to: entry.contribution}
	err := e.store.Put(ctx, table.Put{
		Item: e.ledgerRow(&m, e.now()),
		If:   table.OrNoRow(table.Less(attrVersion, item.Int(entry.version)), firstForm),
	})
	var failed *table.ConditionError
	if errors.As(err, &failed) {
		return e.readable(ctx, entry.user, failed.Failures[0].Old)
	}
	if err != nil {
		return fmt.Errorf("put ledger row of %s: %w", entry.item, err)
	}
	return nil
}

// drop removes an entry from the sum. The same transaction checks the ledger row: it must still be the one that the
// entry overrides. A sum that was written since is left to the next read of it.
func (e *sumEngine) drop(ctx context.Context, entry pendingEntry, target, row item.Item) error {
	back := newDelta(&move{from: entry.contribution, to: row.Str(attrContribution)})
	update := e.spec.write(entry.user, target, back, e.now())
	update.Remove = []string{e.spec.PendingAttr}
	guard := table.Check{Key: entity.LedgerKey(entry.user, e.name, entry.item), If: asRead(row)}
	err := e.store.Transact(ctx, update, guard)
	var failed *table.ConditionError
	if errors.As(err, &failed) || errors.Is(err, table.ErrConflict) {
		return nil
	}
	return err
}

// orNone returns the error unless it is errStaged, after which the rows are read again.
func orNone(err error) error {
	if errors.Is(err, errStaged) {
		return nil
	}
	return err
}

// write returns the update of the target row, as it was read (nil if there was none), by the delta.
func (s *SumSpec) write(user string, row item.Item, d *delta, now time.Time) table.Update {
	update := table.Update{Key: s.Target(user), If: s.asRead(row), Set: item.Item{}}
	if row == nil {
		s.begin(update.Set, user, now)
	}
	update.Set[s.SumAttr] = s.next(row, d)
	update.Set[s.VersionAttr] = item.Int(row.Int(s.VersionAttr) + 1)
	if s.WrittenAttr != "" {
		update.Set[s.WrittenAttr] = item.Bool(true)
	}
	return update
}

// asRead returns the condition that the target row was not written since it was read; nil for a missing one.
func (s *SumSpec) asRead(row item.Item) table.Condition {
	switch {
	case row == nil:
		return table.NotExists()
	case row.Has(s.VersionAttr):
		return table.Exists(table.Equal(s.VersionAttr, row[s.VersionAttr]))
	default:
		return table.Exists(table.Missing(s.VersionAttr))
	}
}

// begin sets the initial attributes of a missing target row.
func (s *SumSpec) begin(set item.Item, user string, now time.Time) {
	for name, v := range s.NewTarget(user, now) {
		if name != item.AttrPK && name != item.AttrSK {
			set[name] = v
		}
	}
}

// next returns the sum after the delta.
func (s *SumSpec) next(row item.Item, d *delta) item.Map {
	total := item.Item(s.Empty())
	for name, v := range row.Map(s.SumAttr) {
		total[name] = v
	}
	keep := s.Empty()
	for name, n := range d.add {
		value := total.Int(name) + n
		total[name] = item.Int(value)
		if _, always := keep[name]; value == 0 && !always {
			delete(total, name)
		}
	}
	for name, text := range d.facts {
		if text > total.Str(name) {
			total[name] = item.String(text)
		}
	}
	return item.Map(total)
}

// delta is the change of a user's sum by several moves.
type delta struct {
	add   map[string]int64
	facts facts
}

func newDelta(moves ...*move) *delta {
	d := &delta{add: map[string]int64{}}
	for _, m := range moves {
		d.move(m)
	}
	return d
}

func (d *delta) move(m *move) {
	for name, n := range amountsOf(m.from).Add {
		d.add[name] -= n
	}
	for name, n := range amountsOf(m.to).Add {
		d.add[name] += n
	}
	d.facts = d.facts.join(m.facts)
}
