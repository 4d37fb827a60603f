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

// A repair with more ledger rows to correct than fit into one transaction stages them: in addition to its content,
// each row holds the content that is valid after the repair. The last write of the repair increments the number of
// repairs in the sum's row, together with the sum. That write makes all staged content valid at once, so a repair that
// dies has changed nothing.

// stagedForm is the form of a ledger row that a repair has staged.
const stagedForm = 2

// attrNext is the text of a staged row with its later content: see [next].
const attrNext = "next"

// maxStaged bounds the old and the new contribution of a staged row together, in bytes: they fit into a row. A longer
// one waits for the last write.
const maxStaged = 380 << 10

var errStaged = errors.New("a repair has staged the row")

// next is the later content of a staged row. It is valid once the sum's row counts as many repairs.
type next struct {
	repair, version int64
	contribution    string
}

// value returns one text, since a condition compares no maps.
func (n next) value() item.String {
	return item.String(fmt.Sprintf("%d %d %s", n.repair, n.version, n.contribution))
}

// nextOf reads the later content of a row. A row that is not staged has none, nor has a damaged one.
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

// CheckForm returns an error for a row of a projection that a later release wrote. A staged row is of this one.
func CheckForm(row item.Item) error {
	if isStaged(row) {
		return nil
	}
	return entity.CheckForm(row, entity.AttrForm)
}

// stage returns the row that a move of a repair leaves until the repair is complete. Its index key is that of the
// item's new contribution, because counts at read time follow the items, not the sum.
func (e *sumEngine) stage(m *move, repair int64) item.Item {
	row := entity.LedgerKey(m.user, e.name, m.ref.ID).Item()
	row[attrVersion], row[attrContribution] = item.Int(m.row.Int(attrVersion)), item.String(m.from)
	row[entity.AttrForm] = item.Int(stagedForm)
	row[attrNext] = next{repair, m.version, m.to}.value()
	e.index(row, m.user, m.to)
	return row
}

// counted returns the valid content of a ledger row, given the sum's row, which was read first.
func (s *SumSpec) counted(target, row item.Item) (version int64, contribution string) {
	if n, isStaged := nextOf(row); isStaged && s.isThrough(target, n) {
		return n.version, n.contribution
	}
	return row.Int(attrVersion), row.Str(attrContribution)
}

// plain returns a staged row with only its valid content.
func (s *SumSpec) plain(target, row item.Item) item.Item {
	version, contribution := s.counted(target, row)
	return item.Item{attrVersion: item.Int(version), attrContribution: item.String(contribution)}
}

// isThrough reports whether the repair which staged a row is complete.
func (s *SumSpec) isThrough(target item.Item, n next) bool {
	return n.repair <= target.Int(s.RepairsAttr)
}

// readable returns an error for a ledger row that cannot be used: a later release wrote it, or a repair has staged it.
// It unstages the latter, and the error is then errStaged: the row must be read again.
func (e *sumEngine) readable(ctx context.Context, user string, row item.Item) error {
	if !isStaged(row) {
		return entity.CheckForm(row, entity.AttrForm)
	}
	if err := e.unstage(ctx, user, row); err != nil {
		return err
	}
	return errStaged
}

// unstage writes a staged row with its valid content. While the repair runs, the row stays staged, and the error is
// errLeased. A row that was written since it was read stays unchanged.
//
// An incomplete repair loses its lease with the same transaction: it could not know that the row is no longer staged.
func (e *sumEngine) unstage(ctx context.Context, user string, row item.Item) error {
	target, err := table.Find(ctx, e.store, e.spec.Target(user))
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

// rewrite writes a staged row with its valid content, in one transaction with the other writes. Rows that were written
// since they were read stay unchanged.
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

// itemOf returns the id of a ledger row's item.
func (e *sumEngine) itemOf(key item.Key) string {
	return strings.TrimPrefix(key.SK, entity.LedgerPrefix(e.name))
}

// fix is a ledger row to correct. A move to version 0 and no contribution removes it.
type fix struct {
	row  item.Item // as read, nil if there was none
	move *move
}

// size returns the size in bytes of the contributions in the row while it is staged.
func (f fix) size() int { return len(f.move.from) + len(f.move.to) }

// put returns the write that corrects a row.
func (e *sumEngine) put(f fix) action {
	if f.move.version == 0 && f.move.to == "" {
		return table.Delete{Key: f.row.Key(), If: asRead(f.row)}
	}
	return table.Put{Item: e.ledgerRow(f.move, e.now()), If: asRead(f.row)}
}

// asRead returns the condition that a ledger row is as it was read, staged or not; nil for a missing one. It leaves out
// a damaged value that no condition can compare, so that a repair can replace the row.
func asRead(row item.Item) table.Condition {
	if row == nil {
		return table.NotExists()
	}
	form := firstForm
	if isStaged(row) {
		form = table.Equal(attrNext, row[attrNext])
	}
	tests := []table.Test{form}
	for _, attr := range []string{attrVersion, attrContribution} {
		switch v := row[attr].(type) {
		case nil:
			tests = append(tests, table.Missing(attr))
		case item.Number, item.String:
			tests = append(tests, table.Equal(attr, v))
		}
	}
	return table.Exists(tests...)
}
