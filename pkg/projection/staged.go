package projection

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// A repair that has more ledger rows to put right than fit into one transaction stages them: each row says beside what
// it holds what it is to hold once the repair has been through. The last write of the repair raises the number of
// repairs in the sum's row, together with the sum. That write makes all staged rows count at once, so a repair that
// dies has changed nothing.

// stagedForm is the form of a ledger row that a repair has staged.
const stagedForm = 2

// attrNext is the text of a staged row that says what it is to hold: see [next].
const attrNext = "next"

// maxStaged bounds what a staged row holds, the old contribution and the new one together, in bytes: it fits into a
// row. What is longer waits for the last write.
const maxStaged = 380 << 10

var errStaged = errors.New("a repair has staged the row")

// next is what a staged row is to hold. It counts once the sum's row has seen as many repairs.
type next struct {
	repair, version int64
	contribution    string
}

// value is one text, since a condition compares no maps.
func (n next) value() item.String {
	return item.String(fmt.Sprintf("%d %d %s", n.repair, n.version, n.contribution))
}

// nextOf reads what a row is to hold. A row that is not staged has none, nor has one that was damaged.
func nextOf(row item.Item) (n next, isStaged bool) {
	if row.Int(entity.AttrForm) != stagedForm {
		return next{}, false
	}
	repair, rest, _ := strings.Cut(row.Str(attrNext), " ")
	version, contribution, _ := strings.Cut(rest, " ")
	var failed [2]error
	n.repair, failed[0] = strconv.ParseInt(repair, 10, 64)
	n.version, failed[1] = strconv.ParseInt(version, 10, 64)
	n.contribution = contribution
	return n, errors.Join(failed[:]...) == nil
}

func isStaged(row item.Item) bool {
	_, isStaged := nextOf(row)
	return isStaged
}

// stage is the row that a move of a repair leaves until the repair has been through. Its place in the index is that of
// what the item contributes: what is counted when it is read is counted by the items, not by the sum.
func (e *sumEngine) stage(m *move, repair int64) item.Item {
	row := entity.LedgerKey(m.user, e.name, m.ref.ID).Item()
	row[attrVersion], row[attrContribution] = item.Int(m.row.Int(attrVersion)), item.String(m.from)
	row[entity.AttrForm] = item.Int(stagedForm)
	row[attrNext] = next{repair, m.version, m.to}.value()
	e.index(row, m.user, m.to)
	return row
}

// counted is what counts of a ledger row beside the sum's row, which was read first.
func (s *SumSpec) counted(target, row item.Item) (version int64, contribution string) {
	if n, isStaged := nextOf(row); isStaged && s.isThrough(target, n) {
		return n.version, n.contribution
	}
	return row.Int(attrVersion), row.Str(attrContribution)
}

// plain is a staged row as it counts beside the sum's row.
func (s *SumSpec) plain(target, row item.Item) item.Item {
	version, contribution := s.counted(target, row)
	return item.Item{attrVersion: item.Int(version), attrContribution: item.String(contribution)}
}

// isThrough says that the repair which staged a row has been through.
func (s *SumSpec) isThrough(target item.Item, n next) bool {
	return n.repair <= target.Int(s.RepairsAttr)
}

// readable returns an error for a ledger row that cannot be taken as it is: a later release wrote it, or a repair has
// staged it. The latter it takes out of the repair's hands, and the error is errStaged then: the row is to be read
// again.
func (e *sumEngine) readable(ctx context.Context, user string, row item.Item) error {
	if !isStaged(row) {
		return entity.CheckForm(row, entity.AttrForm)
	}
	if err := e.unstage(ctx, user, row); err != nil {
		return err
	}
	return errStaged
}

// unstage takes a row out of the hands of the repair that has staged it: as it counts. While the repair is at work it
// keeps the row, and the error is errLeased. A row that was written since it was read is left as it is.
//
// A repair that has not been through loses its lease with the same transaction: it could not know that the row is no
// longer staged.
func (e *sumEngine) unstage(ctx context.Context, user string, row item.Item) error {
	target, err := e.get(ctx, e.spec.Target(user))
	if err != nil {
		return err
	}
	if err := e.spec.checkForm(target); err != nil {
		return err
	}
	n, _ := nextOf(row)
	if e.spec.isThrough(target, n) {
		return e.rewrite(ctx, user, target, row)
	}
	now := e.now()
	if e.spec.leased(target, now) {
		return errLeased
	}
	update := e.spec.write(user, target, newDelta(), now)
	update.Remove = []string{e.spec.LeaseAttr}
	return e.rewrite(ctx, user, target, row, update)
}

// rewrite writes a staged row as it counts beside the sum's row, in one transaction with what else is to be written.
// What was written since it was read is left as it is.
func (e *sumEngine) rewrite(ctx context.Context, user string, target, row item.Item, more ...action) error {
	key := row.Key()
	m := move{user: user, ref: entity.Ref{ID: e.itemOf(key)}}
	m.version, m.to = e.spec.counted(target, row)
	err := e.store.Transact(ctx, append([]action{e.put(fix{row, &m})}, more...)...)
	var failed *table.ConditionError
	if errors.As(err, &failed) || errors.Is(err, table.ErrConflict) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("take %s out of a repair's hands: %w", key, err)
	}
	return nil
}

// itemOf is the id of the item that a ledger row is of.
func (e *sumEngine) itemOf(key item.Key) string {
	return strings.TrimPrefix(key.SK, entity.LedgerPrefix(e.name))
}

// fix is a ledger row that is to be put right. A move to version 0 and no contribution takes it away.
type fix struct {
	row  item.Item // as read, nil if there was none
	move *move
}

// size is what the contributions take that a row holds while it is staged, in bytes.
func (f fix) size() int { return len(f.move.from) + len(f.move.to) }

// put is the write that puts a row right.
func (e *sumEngine) put(f fix) action {
	if f.move.version == 0 && f.move.to == "" {
		return table.Delete{Key: f.row.Key(), If: asRead(f.row)}
	}
	return table.Put{Item: e.ledgerRow(f.move, e.now()), If: asRead(f.row)}
}

// asRead is the condition that a ledger row is as it was read, staged or not; nil for one that was not there.
func asRead(row item.Item) table.Condition {
	if row == nil {
		return table.NotExists()
	}
	form := firstForm
	if isStaged(row) {
		form = table.Equal(attrNext, row[attrNext])
	}
	return table.Exists(table.Equal(attrVersion, row[attrVersion]),
		table.Equal(attrContribution, row[attrContribution]), form)
}
