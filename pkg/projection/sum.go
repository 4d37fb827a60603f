package projection

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
)

var errLeased = errors.New("a repair has the lease of the sum")

// sumEngine applies changes to one row per user that holds a sum: a user's only change of a batch in two single writes,
// others in transactions with the ledger rows.
type sumEngine struct {
	ledger
	spec *SumSpec
}

func (s *SumSpec) engine(l ledger) engine { return &sumEngine{l, s} }

func (e *sumEngine) apply(ctx context.Context, batch []change.Change) []change.Outcome {
	moves := e.fold(batch, e.now())
	for _, m := range singles(moves) {
		e.applySingle(ctx, m)
	}
	for shared := range rounds(moves, sizeInSum, func(open []*move) {
		late := e.readPresent(ctx, open, e.readable)
		e.resolveLate(ctx, late)
	}) {
		e.commit(ctx, shared)
	}
	return e.outcomes(batch, moves)
}

// resolveLate joins the facts of moves whose records the ledger has.
func (e *sumEngine) resolveLate(ctx context.Context, moves []*move) {
	var knowing []*move
	for _, m := range moves {
		if len(m.facts) > 0 {
			knowing = append(knowing, m)
		}
	}
	if len(knowing) == 0 {
		return
	}
	targets, err := e.readTargets(ctx, knowing)
	if err != nil {
		postpone(knowing, err)
		return
	}
	e.joinFacts(ctx, knowing, targets)
}

// sizeInSum returns how many actions a move has in a transaction with others: one, and one more for the first of its
// user.
func sizeInSum(others []*move, m *move) int {
	if slices.ContainsFunc(others, func(other *move) bool { return other.user == m.user }) {
		return 1
	}
	return 2
}

// commit tries to apply the moves in one transaction.
func (e *sumEngine) commit(ctx context.Context, moves []*move) {
	targets, err := e.readTargets(ctx, moves)
	if err != nil {
		postpone(moves, err)
		return
	}
	moves = e.deferLeased(moves, targets)
	waiting, err := e.flushPending(ctx, targets)
	if err != nil {
		postpone(moves, err)
		return
	}
	if moves = dropWaiting(moves, waiting); len(moves) == 0 {
		return
	}
	now := e.now()
	updates := e.sums(moves, targets, now) // the next round reads a changed target again
	e.joinFacts(ctx, e.transact(ctx, moves, now, updates, e.readable), targets)
}

// deferLeased leaves moves for a later delivery if a repair has the lease of their sum, or a later release wrote it.
// It removes these sums from the targets, because they must not be written.
func (e *sumEngine) deferLeased(moves []*move, targets map[string]item.Item) []*move {
	closed := map[string]error{}
	now := e.now()
	for user, target := range targets {
		if err := e.spec.checkOpen(target, now); err != nil {
			closed[user] = err
			delete(targets, user)
		}
	}
	return dropWaiting(moves, closed)
}

// flushPending writes the pending entries in the sums' rows, as they were read before, into their ledger rows. It
// returns the users with an entry that could not be written, with the error. The error is nil if the entry was
// removed, so that the sum must be read again.
func (e *sumEngine) flushPending(ctx context.Context, targets map[string]item.Item) (map[string]error, error) {
	entries := map[item.Key]pendingEntry{}
	var keys []item.Key
	for _, user := range slices.Sorted(maps.Keys(targets)) {
		if entry, ok := e.spec.pendingEntry(user, targets[user]); ok {
			key := entity.LedgerKey(user, e.name, entry.item)
			entries[key] = entry
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil, nil
	}
	seen, err := e.seen(ctx, entries)
	if err != nil {
		return nil, err
	}
	keys = slices.DeleteFunc(keys, func(key item.Key) bool { return seen[key] })
	if len(keys) == 0 {
		return nil, nil
	}
	rows, err := e.readRows(ctx, keys)
	if err != nil {
		return nil, err
	}
	waiting := map[string]error{}
	for _, key := range keys {
		entry := entries[key]
		if err := e.readable(ctx, entry.user, rows[key]); err != nil {
			waiting[entry.user] = orNone(err)
			continue
		}
		if entry.isIn(rows[key]) {
			continue
		}
		if isKept, err := e.flushOrDrop(ctx, entry, targets[entry.user], rows[key]); !isKept {
			waiting[entry.user] = err
		}
	}
	return waiting, nil
}

// dropWaiting leaves the moves of users whose sums cannot be written for a later delivery, or for the next round if
// the error is nil. If the store refuses that write for good, their records are parked: they would hold the reader for
// all users.
func dropWaiting(moves []*move, waiting map[string]error) []*move {
	var free []*move
	for _, m := range moves {
		err, isWaiting := waiting[m.user]
		switch {
		case !isWaiting:
			free = append(free, m)
		case err != nil:
			fail([]*move{m}, err)
		}
	}
	return free
}

// sums returns one update per user with the amounts of all the user's moves.
func (e *sumEngine) sums(moves []*move, targets map[string]item.Item, now time.Time) []action {
	deltas := map[string]*delta{}
	var users []string
	for _, m := range moves {
		if deltas[m.user] == nil {
			deltas[m.user] = newDelta()
			users = append(users, m.user)
		}
		deltas[m.user].move(m)
	}
	var updates []action
	for _, user := range users {
		update := e.spec.write(user, targets[user], deltas[user], now)
		if targets[user].Has(e.spec.PendingAttr) {
			update.Remove = []string{e.spec.PendingAttr} // its row is there
		}
		updates = append(updates, update)
	}
	return updates
}
