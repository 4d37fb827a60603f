package projection

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

const (
	// sharedRounds is how many rounds try moves in shared transactions before each is tried alone.
	sharedRounds = 3
	// maxRounds bounds one call; unfinished moves must be delivered again.
	maxRounds = 8
	// agedAfter is the age from which a record may be older than the expiry of its item's tombstone, given possible
	// delays of delivery.
	agedAfter = time.Hour
)

var errContended = errors.New("ledger row kept changing")

type action = table.Action

// ledger holds what both engines share: the rows that say which version of each item was applied.
type ledger struct {
	*Projection
	store table.Store
	now   func() time.Time
}

// move advances one item's contribution: the folded records of a batch for that item.
type move struct {
	user    string
	ref     entity.Ref
	typ     *entity.Type
	records []int // their positions in the batch
	version int64
	from    string // the contribution the ledger is expected to hold
	to      string
	facts   facts
	// aged says that a record in it is so old that the ledger row of a deleted item may be gone.
	aged bool

	// present says that to and version are the item's state as read, and that row is the ledger row as read (nil for
	// none). The write then depends on exactly that row.
	present bool
	row     item.Item
	effects []action // of a projection of rows: the writes of the rows, as planned in this round

	state state
	err   error
	// already says that the ledger had the records before this call; at most facts were left to join.
	already bool
}

type state int

const (
	pending state = iota
	needsItem
	done
	retry
	poison
)

// postpone leaves moves for a later delivery, because rows that they need could not be read. That is never a record's
// own fault.
func postpone(moves []*move, err error) {
	for _, m := range moves {
		m.state, m.err = retry, err
	}
}

// rounds yields the planned moves that share a transaction, as long as any move is not finished. It calls plan at the
// start of each round. A move that still needs its item after that waits for the next round.
func rounds(moves []*move, size func(others []*move, m *move) int, plan func(open []*move)) iter.Seq[[]*move] {
	return func(yield func([]*move) bool) {
		for round := range maxRounds {
			open := unfinished(moves)
			if len(open) == 0 {
				return
			}
			plan(open)
			planned := slices.DeleteFunc(open, func(m *move) bool { return m.state != pending })
			for _, shared := range pack(planned, round >= sharedRounds, size) {
				if !yield(shared) {
					return
				}
			}
		}
	}
}

// pack distributes moves over transactions: as many as fit into each, or one in each if isAlone. A move has as many
// actions as size says in a transaction with others.
func pack(moves []*move, isAlone bool, size func(others []*move, m *move) int) [][]*move {
	var packs [][]*move
	var current []*move
	total := 0
	for _, m := range moves {
		cost := size(current, m)
		if len(current) > 0 && (isAlone || total+cost > table.MaxActions) {
			packs = append(packs, current)
			current, total, cost = nil, 0, size(nil, m)
		}
		current, total = append(current, m), total+cost
	}
	if len(current) > 0 {
		packs = append(packs, current)
	}
	return packs
}

// rowCheck returns an error for a ledger row of a user that cannot be used in its present form.
type rowCheck func(ctx context.Context, user string, row item.Item) error

// readPresent plans the moves that must not rely on their records from their ledger rows and items, all in few reads:
// a replay of a day consists of such records. It reads the rows before the items. If an item is deleted and restored
// in between, a row read later would have the restored contribution, and the move would remove it again. readPresent
// returns the moves whose records the ledger has.
func (l *ledger) readPresent(ctx context.Context, moves []*move, check rowCheck) (past []*move) {
	var unsure, open []*move
	for _, m := range moves {
		if m.state == needsItem {
			unsure = append(unsure, m)
		}
	}
	rows, err := l.readEach(ctx, unsure, func(m *move) item.Key { return entity.LedgerKey(m.user, l.name, m.ref.ID) })
	if err != nil {
		postpone(unsure, err)
		return nil
	}
	for _, m := range unsure {
		err := check(ctx, m.user, rows[m])
		switch {
		case err != nil:
			m.leave(err)
		case m.isPast(rows[m]):
			m.state, m.already = done, true
			past = append(past, m)
		default:
			open = append(open, m)
		}
	}
	items, err := l.readEach(ctx, open, func(m *move) item.Key { return entity.ItemKey(m.user, m.ref) })
	if err != nil {
		postpone(open, err)
		return past
	}
	var missing []*move
	for _, m := range open {
		if m.resolvePresent(l.Projection, rows[m], items[m]); items[m] == nil && l.Keeps() {
			missing = append(missing, m)
		}
	}
	rests, err := l.readLeft(ctx, missing)
	if err != nil {
		postpone(missing, err)
		return past
	}
	for _, m := range missing {
		m.resolveLeft(l.Projection, rests[m])
	}
	return past
}

// readEach reads one row for each move; it leaves out missing rows.
func (l *ledger) readEach(
	ctx context.Context, moves []*move, keyOf func(*move) item.Key,
) (map[*move]item.Item, error) {
	if len(moves) == 0 {
		return nil, nil
	}
	keys := make([]item.Key, len(moves))
	owner := make(map[item.Key]*move, len(moves)) // a fold has one move per item, so no two share a key
	for i, m := range moves {
		keys[i] = keyOf(m)
		owner[keys[i]] = m
	}
	found, err := l.store.BatchGet(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read %d rows from %s: %w", len(keys), keys[0], err)
	}
	rows := make(map[*move]item.Item, len(found))
	for _, row := range found {
		rows[owner[row.Key()]] = row
	}
	return rows, nil
}

// checkForm is the rowCheck of rows that no repair stages.
func checkForm(_ context.Context, _ string, row item.Item) error {
	return entity.CheckForm(row, entity.AttrForm)
}

// leave leaves a move whose ledger row cannot be used for a later delivery, or for the next round, which reads it
// again.
func (m *move) leave(err error) {
	if m.err = err; !errors.Is(err, errStaged) {
		m.state = retry
	}
}

// isPast reports whether the ledger row, nil for none, is at the records' version or beyond it: then it has them,
// however old they are.
func (m *move) isPast(row item.Item) bool {
	return row != nil && row.Int(attrVersion) >= m.version
}

// resolvePresent plans from a ledger row that is not past and the item, read after it; nil for either that is missing.
// The row is older than the records, and the item is not: versions never repeat. An existing item was never deleted,
// so its records are reliable: the move uses them if no row can hold the item's contribution.
func (m *move) resolvePresent(p *Projection, row, it item.Item) {
	m.present, m.row, m.state = true, row, pending
	m.from = row.Str(attrContribution)
	if it == nil {
		if !p.Keeps() {
			m.to = ""
		}
		return
	}
	if to := p.contribution(m.typ, it); p.refuses(m.user, m.ref, to) == nil {
		m.to, m.version = to, it.Int(entity.AttrVersion)
		m.facts = m.facts.join(p.shape.facts(to))
	}
}

// left holds the rows that say why an item is not there; nil for a missing one.
type left struct{ gone, cold item.Item }

// readLeft reads them for moves whose items were not found. They are read after the items: an item that is restored
// in between has no COLD row, and the record of its restoration is still to come.
func (l *ledger) readLeft(ctx context.Context, moves []*move) (map[*move]left, error) {
	out := map[*move]left{}
	gone, err := l.readEach(ctx, moves, func(m *move) item.Key { return entity.GoneKey(m.user, m.ref.ID) })
	if err != nil {
		return nil, err
	}
	cold, err := l.readEach(ctx, moves, func(m *move) item.Key { return entity.ColdKey(m.user, m.ref.ID) })
	for _, m := range moves {
		out[m] = left{gone[m], cold[m]}
	}
	return out, err
}

// expired reports whether the item has expired and not come back. After a deletion a COLD row may stand beside the GONE
// row, until the copy is dropped.
func (r left) expired() bool { return r.gone == nil && r.cold != nil }

// resolveLeft plans a move whose item is not there from the rows that it left, for a projection that keeps. What a
// deleted item contributed is taken out. Of an expired one the COLD row says what it contributed last. A row of a
// release before does not: then the ledger keeps what it has, and without a ledger row it takes the contribution of the
// copied version or of its removal. A verification names what stays wrong.
func (m *move) resolveLeft(p *Projection, r left) {
	if !r.expired() {
		m.to = ""
		return
	}
	if err := entity.CheckForm(r.cold, entity.AttrForm); err != nil {
		m.leave(err)
		return
	}
	version := r.cold.Int(entity.AttrVersion)
	to, known := p.outlived(m.typ, r.cold)
	switch {
	case known && p.refuses(m.user, m.ref, to) == nil:
		m.to, m.version = to, max(m.version, version)
	case m.row != nil || m.version != version && m.version != version+1:
		m.state = done
	}
}

// outlived returns what an expired item contributes by its COLD row; not known if a release before wrote the row.
func (p *Projection) outlived(t *entity.Type, cold item.Item) (c string, known bool) {
	remains := t.RemainsIn(cold)
	return p.contribution(t, remains), remains != nil
}

// transact tries to apply the moves in one transaction with their effects. It replans each move whose ledger row was
// not as expected by that row; the others are tried again. It returns the moves whose records the ledger has.
func (l *ledger) transact(
	ctx context.Context, moves []*move, now time.Time, effects []action, check rowCheck,
) (past []*move) {
	var actions []action
	for _, m := range moves { // the ledger rows first: move i is action i
		actions = append(actions, table.Put{Item: l.ledgerRow(m, now), If: m.condition()})
	}
	err := l.store.Transact(ctx, append(actions, effects...)...)
	var failed *table.ConditionError
	switch {
	case err == nil:
		for _, m := range moves {
			m.state = done
		}
	case errors.As(err, &failed):
		return replanFailed(ctx, moves, failed, check)
	default:
		fail(moves, err)
	}
	return nil
}

// replanFailed replans the moves whose ledger rows, which are the first actions, were not as expected. It returns those
// whose records the ledger has.
func replanFailed(
	ctx context.Context, moves []*move, failed *table.ConditionError, check rowCheck,
) (past []*move) {
	for i, m := range moves {
		failure, ok := failed.At(i)
		if !ok {
			continue
		}
		if err := check(ctx, m.user, failure.Old); err != nil {
			m.leave(err)
			continue
		}
		if m.replan(failure.Old); m.state == done {
			past = append(past, m)
		}
	}
	return past
}

// firstForm is the form of the rows that may be changed without having been read.
var firstForm = table.Missing(entity.AttrForm)

// condition returns the condition on the ledger row under which the move applies as planned.
func (m *move) condition() table.Condition {
	if m.present {
		return asRead(m.row)
	}
	tests := []table.Test{
		table.Less(attrVersion, item.Int(m.version)),
		table.Equal(attrContribution, item.String(m.from)),
		firstForm,
	}
	if m.from == "" && !m.aged {
		return table.OrNoRow(tests...)
	}
	return table.Exists(tests...)
}

// fail ends moves whose write failed. If a shared write was refused for good, one of its moves is at fault: all stay
// unfinished, and the rounds continue until each is tried alone.
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

// replan decides how to continue when the ledger row was not as expected; row is the row found, nil for none.
func (m *move) replan(row item.Item) {
	switch {
	case m.present:
		m.state = needsItem // the item may have changed with the row
	case row == nil:
		m.from = ""
		if m.aged {
			m.state = needsItem
		}
	case row.Int(attrVersion) >= m.version:
		m.state, m.already = done, true
	default:
		m.from = row.Str(attrContribution)
		if m.from == "" && m.aged {
			m.state = needsItem
		}
	}
}

// outcomes returns the batch's outcomes after its moves have been tried.
func (l *ledger) outcomes(batch []change.Change, moves []*move) []change.Outcome {
	outcomes := make([]change.Outcome, len(batch))
	for _, m := range moves {
		if m.state == pending || m.state == needsItem {
			m.err = errContended
		}
		for _, i := range m.records {
			outcomes[i] = m.outcome(l.name)
		}
	}
	return outcomes
}

func (m *move) outcome(projection string) change.Outcome {
	if m.state == done {
		return change.Outcome{Already: m.already}
	}
	verdict := change.Retry
	if m.state == poison {
		verdict = change.Poison
	}
	return change.Outcome{
		Verdict: verdict, Err: fmt.Errorf("%s of %s at version %d: %w", projection, m.ref, m.version, m.err),
	}
}
