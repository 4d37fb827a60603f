package projection

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nexus/pkg/change"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

const (
	// sharedRounds is how often moves are tried in shared transactions before each is tried on its own.
	sharedRounds = 3
	// maxRounds bounds one call; what is not finished then is to be delivered again.
	maxRounds = 8
)

var (
	errContended = errors.New("ledger row kept changing")
	errLeased    = errors.New("a repair holds the sum")
)

// Consumer runs a projection as a consumer of the stream.
type Consumer struct {
	projection *Projection
	store      table.Store
	now        func() time.Time
}

// NewConsumer returns the consumer. Now gives the time for the age of records and the life of tombstones.
func NewConsumer(p *Projection, store table.Store, now func() time.Time) *Consumer {
	return &Consumer{p, store, now}
}

// Name is the projection's name.
func (c *Consumer) Name() string { return c.projection.name }

// AcceptsBatches implements [change.BatchConsumer]: the changes of one item are applied together.
func (*Consumer) AcceptsBatches() {}

// Apply implements [change.Consumer]. A record that leaves the item's contribution as it was costs no call.
func (c *Consumer) Apply(ctx context.Context, batch []change.Change) []change.Outcome {
	moves := c.projection.fold(batch, c.now())
	if open := unfinished(moves); len(open) == 1 && c.goesSingle(open[0]) {
		c.applySingle(ctx, open[0])
	}
	for round := 0; round < maxRounds; round++ {
		open := unfinished(moves)
		if len(open) == 0 {
			break
		}
		c.readPresent(ctx, open)
		for _, shared := range c.pack(unfinished(open), round >= sharedRounds) {
			c.commit(ctx, shared)
		}
	}
	outcomes := make([]change.Outcome, len(batch))
	for _, m := range moves {
		if m.state == pending || m.state == needsItem {
			m.err = errContended
		}
		for _, i := range m.records {
			outcomes[i] = m.outcome(c.projection.name)
		}
	}
	return outcomes
}

func (m *move) outcome(projection string) change.Outcome {
	verdict := m.state.verdict()
	if verdict == change.Done {
		return change.Outcome{Already: m.already}
	}
	return change.Outcome{
		Verdict: verdict, Err: fmt.Errorf("%s of %s at version %d: %w", projection, m.ref, m.version, m.err),
	}
}

func unfinished(moves []*move) []*move {
	var open []*move
	for _, m := range moves {
		if m.state == pending || m.state == needsItem {
			open = append(open, m)
		}
	}
	return open
}

// pack shares moves out over transactions: as many as fit into each, or one in each when alone.
func (c *Consumer) pack(moves []*move, alone bool) [][]*move {
	var packs [][]*move
	var current []*move
	users := map[string]bool{}
	size := 0
	for _, m := range moves {
		cost := 1 + len(c.projection.shape.actions(m))
		if c.projection.shape.target() != nil && !users[m.user] {
			cost++
		}
		if len(current) > 0 && (alone || size+cost > table.MaxActions) {
			packs = append(packs, current)
			current, users, size = nil, map[string]bool{}, 0
			if c.projection.shape.target() != nil {
				cost = 2
			}
		}
		current, size = append(current, m), size+cost
		users[m.user] = true
	}
	if len(current) > 0 {
		packs = append(packs, current)
	}
	return packs
}

// commit tries to apply the moves in one transaction.
func (c *Consumer) commit(ctx context.Context, moves []*move) {
	targets, err := c.readTargets(ctx, moves)
	if err != nil {
		postpone(moves, err)
		return
	}
	moves = c.deferLeased(moves, targets)
	if len(moves) == 0 {
		return
	}
	waiting, err := c.flushPending(ctx, targets)
	if err != nil {
		postpone(moves, err)
		return
	}
	if moves = dropWaiting(moves, waiting); len(moves) == 0 {
		return
	}
	now := c.now()
	var actions []action
	for _, m := range moves { // the ledger rows first: move i is action i
		actions = append(actions, table.Put{Item: c.projection.ledgerRow(m, now), If: m.condition()})
	}
	for _, m := range moves {
		actions = append(actions, c.projection.shape.actions(m)...)
	}
	actions = append(actions, c.sums(moves, targets, now)...)

	err = c.store.Transact(ctx, actions...)
	var failed *table.ConditionError
	switch {
	case err == nil:
		for _, m := range moves {
			m.state = done
		}
	case errors.As(err, &failed):
		c.replanFailed(ctx, moves, failed, targets)
	default:
		fail(moves, err)
	}
}

// fail ends moves whose write failed. Of several with a write that was refused for good one is at fault: they stay as
// they are, and the rounds go on until each is tried alone.
func fail(moves []*move, err error) {
	isRefused := errors.Is(err, table.ErrInvalid)
	switch {
	case isRefused && len(moves) == 1:
		moves[0].state, moves[0].err = poison, err
	case isRefused:
	default:
		postpone(moves, err)
	}
}

// postpone leaves moves for later, because what they need could not be read. That is never a record's own fault.
func postpone(moves []*move, err error) {
	for _, m := range moves {
		m.state, m.err = retry, err
	}
}

// replanFailed replans the moves whose ledger rows were not as expected; the others were innocent and are tried again.
// A target that moved on is read again by the next round.
func (c *Consumer) replanFailed(
	ctx context.Context, moves []*move, failed *table.ConditionError, targets map[string]item.Item,
) {
	for i, m := range moves {
		failure, ok := failed.At(i)
		if !ok {
			continue
		}
		if err := c.readable(ctx, m.user, failure.Old); err != nil {
			m.leave(err)
			continue
		}
		m.replan(failure.Old)
		if m.state != done {
			continue
		}
		if err := c.joinFacts(ctx, m, targets[m.user]); err != nil {
			m.state, m.err = retry, err
		}
	}
}

// readTargets reads the sums' rows of the users concerned; a user without one is left out.
func (c *Consumer) readTargets(ctx context.Context, moves []*move) (map[string]item.Item, error) {
	spec := c.projection.shape.target()
	if spec == nil {
		return nil, nil
	}
	targets := map[string]item.Item{}
	userOf := map[item.Key]string{}
	var keys []item.Key
	for _, m := range moves {
		key := spec.Target(m.user)
		if _, seen := userOf[key]; !seen {
			userOf[key] = m.user
			keys = append(keys, key)
		}
	}
	rows, err := c.store.BatchGet(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read %d sums from %s: %w", len(keys), keys[0], err)
	}
	for _, row := range rows {
		targets[userOf[row.Key()]] = row
	}
	return targets, nil
}

// deferLeased leaves the moves of users whose sums a repair holds, or a later release wrote, for later, and takes these
// sums out of the targets: nothing of them is to be written.
func (c *Consumer) deferLeased(moves []*move, targets map[string]item.Item) []*move {
	closed := map[string]error{}
	spec, now := c.projection.shape.target(), c.now()
	for user, target := range targets {
		err := spec.checkForm(target)
		if err == nil && spec.leased(target, now) {
			err = errLeased
		}
		if err != nil {
			closed[user] = err
			delete(targets, user)
		}
	}
	var free []*move
	for _, m := range moves {
		if err := closed[m.user]; err != nil {
			m.state, m.err = retry, err
			continue
		}
		free = append(free, m)
	}
	return free
}

// dropWaiting leaves the moves of users whose pending entries could not be kept for later, or for the next round.
func dropWaiting(moves []*move, waiting map[string]error) []*move {
	var free []*move
	for _, m := range moves {
		err, isWaiting := waiting[m.user]
		switch {
		case !isWaiting:
			free = append(free, m)
		case err != nil:
			m.state, m.err = retry, err
		}
	}
	return free
}

// sums returns one update per user with what all the user's moves add.
func (c *Consumer) sums(moves []*move, targets map[string]item.Item, now time.Time) []action {
	spec := c.projection.shape.target()
	if spec == nil {
		return nil
	}
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
		update := spec.write(user, targets[user], deltas[user], now)
		if targets[user].Has(spec.PendingAttr) {
			update.Remove = []string{spec.PendingAttr} // its row is there
		}
		updates = append(updates, update)
	}
	return updates
}

// joinFacts brings the facts of a move that was done already into the sum, if they are not there: the record that is
// late may be the only one that knew them.
func (c *Consumer) joinFacts(ctx context.Context, m *move, target item.Item) error {
	spec := c.projection.shape.target()
	if spec == nil || len(m.facts) == 0 {
		return nil
	}
	for range maxRounds {
		if target != nil && spec.knows(target, m.facts) {
			return nil
		}
		if err := spec.checkForm(target); err != nil {
			return err
		}
		if spec.leased(target, c.now()) {
			return errLeased
		}
		late := newDelta()
		late.facts = m.facts
		_, err := c.store.Update(ctx, spec.write(m.user, target, late, c.now()))
		var failed *table.ConditionError
		if !errors.As(err, &failed) {
			return err
		}
		target = failed.Failures[0].Old
	}
	return errContended
}
