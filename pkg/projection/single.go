package projection

import (
	"context"
	"errors"

	"nexus/pkg/item"
	"nexus/pkg/table"
)

// maxPending bounds the contribution of a pending entry: the row that holds the sum has other writers, who need the
// room.
const maxPending = 16 << 10

// goesSingle says that a move may be applied with single writes.
func goesSingle(m *move) bool {
	return m.state == pending && len(m.to) <= maxPending
}

// applySingle applies one move with single writes: the sum and the ledger's entry in one, the entry's own row in
// another. A transaction would cost as much as twice both. What it cannot finish because others write the same rows
// stays pending, and so does what the store refuses: a transaction needs less room, and counts nothing if it is
// refused, too.
func (e *sumEngine) applySingle(ctx context.Context, m *move) {
	for range maxRounds {
		again, err := e.trySingle(ctx, m)
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
func (e *sumEngine) trySingle(ctx context.Context, m *move) (again bool, err error) {
	targets, err := e.readTargets(ctx, []*move{m})
	if err != nil {
		return false, err
	}
	target := targets[m.user]
	if err := e.spec.checkOpen(target, e.now()); err != nil {
		return false, err
	}
	row, again, err := e.readEntry(ctx, m, target)
	if again || err != nil {
		return again, err
	}
	m.replan(row)
	switch m.state {
	case done:
		return false, e.joinFacts(ctx, m, target)
	case needsItem:
		return false, nil
	default:
		return e.write(ctx, m, target, row)
	}
}

// joinFacts brings the facts of a move that was done already into the sum, if they are not there: the record that is
// late may be the only one that knew them.
func (e *sumEngine) joinFacts(ctx context.Context, m *move, target item.Item) error {
	if len(m.facts) == 0 {
		return nil
	}
	for range maxRounds {
		if target != nil && e.spec.knows(target, m.facts) {
			return nil
		}
		if err := e.spec.checkOpen(target, e.now()); err != nil {
			return err
		}
		late := newDelta()
		late.facts = m.facts
		_, err := e.store.Update(ctx, e.spec.write(m.user, target, late, e.now()))
		var failed *table.ConditionError
		if !errors.As(err, &failed) {
			return err
		}
		target = failed.Failures[0].Old
	}
	return errContended
}

// knows reports whether the row already holds facts at least as great.
func (s *SumSpec) knows(row item.Item, f facts) bool {
	total := row.Map(s.SumAttr)
	for name, text := range f {
		if text > total.Str(name) {
			return false
		}
	}
	return true
}

// write moves the sum, and then the ledger row. The sum's row is written also where the sum stays as it is: the version
// that it is written under is what tells of an entry that another worker has made of the same item since.
func (e *sumEngine) write(ctx context.Context, m *move, target, row item.Item) (again bool, err error) {
	update := e.spec.write(m.user, target, newDelta(m), e.now())
	update.Set[e.spec.PendingAttr] = item.Map{
		pendingItem: item.String(m.ref.ID), pendingVersion: item.Int(m.version), pendingContribution: item.String(m.to),
	}
	written, err := e.store.Update(ctx, update)
	var failed *table.ConditionError
	if errors.As(err, &failed) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	isKept, err := e.flushOrDrop(ctx, pendingEntry{m.user, m.ref.ID, m.version, m.to}, written, row)
	if isKept {
		m.state = done
	}
	return false, err
}
