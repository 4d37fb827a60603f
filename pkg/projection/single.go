package projection

import (
	"context"
	"errors"

	"nexus/pkg/item"
	"nexus/pkg/table"
)

// applySingle applies one move with single writes: the sum and the ledger's entry in one, the entry's own row in
// another. A transaction would cost as much as twice both. A move that it cannot finish because of other writers of
// the same rows stays pending. So does a move that the store refuses: a transaction needs less room, and counts
// nothing if it is refused, too.
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

// trySingle reads the sum's row first and the ledger after it: an entry made since then has changed the sum's version,
// and one made before is in the rows read.
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
	case pending:
		return e.write(ctx, m, target, row)
	case done:
		e.joinFacts(ctx, []*move{m}, targets)
	}
	return false, nil
}

// joinFacts adds the facts of finished moves to their sums, if they are missing: a late record may be the only one that
// had them. A move whose facts it cannot add is not finished: its records come again, or are parked.
func (e *sumEngine) joinFacts(ctx context.Context, moves []*move, targets map[string]item.Item) {
	for _, m := range moves {
		if err := e.addFacts(ctx, m, targets[m.user]); err != nil {
			fail([]*move{m}, err)
		}
	}
}

func (e *sumEngine) addFacts(ctx context.Context, m *move, target item.Item) error {
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

// write writes the sum, and then the ledger row. It writes the sum's row even if the sum stays the same: the condition
// on its version detects an entry that another worker has made of the same item since.
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
