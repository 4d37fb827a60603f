package projection

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// Members of a lease.
const (
	leaseOwner = "owner"
	leaseUntil = "until"
)

const (
	// leaseDuration is how long a lease lasts unless it is renewed: after a crash consumers continue after this time.
	leaseDuration = 30 * time.Second
	// renewBefore is how long before its end a lease is renewed.
	renewBefore = 20 * time.Second
	// repairBatch is the number of ledger rows that one transaction of a repair stages or repairs.
	repairBatch = 90
	// repairBytes bounds the size of their contributions together, up to one more row: a transaction takes 4 MB.
	repairBytes = 3 << 20
)

// Errors of a repair of sums. They are matched with errors.Is.
var (
	// ErrLeased says that another repair has the user's sum, or that consumers wrote it before each try to take it; try
	// again later.
	ErrLeased = errors.New("the sum cannot be leased now")
	// ErrLeaseLost says that another writer wrote rows under the lease; begin again.
	ErrLeaseLost = errors.New("the lease was lost")
)

// Lease is the repair of one user's sum, which no other writer changes while it lasts. Taking it, renewing it and
// every write under it add to the sum's version. Consumers that find it ask for a later delivery.
//
// Its last write corrects the sum, together with the ledger rows that fit into one transaction. Rows that do not fit
// are staged before that, and are valid from the last write on. So readers see the old numbers until then, never a
// part of the new ones. A repair that dies under a lease has changed nothing: the lease expires, and consumers use the
// staged rows' former content.
type Lease struct {
	e           *sumEngine
	user, owner string
	row         item.Item // the sum's row as this lease left it
	until       time.Time
	tally       *Tally
	fixes       []fix
	staged      bool // some rows are
}

// AcquireLease takes the lease of the user's sum. The owner is unique to this repair.
func (c *Consumer) AcquireLease(ctx context.Context, user, owner string) (*Lease, error) {
	e, isSum := c.engine.(*sumEngine)
	if !isSum {
		panic("projection: " + c.name + " has no sum to lease")
	}
	spec := e.spec
	l := &Lease{e: e, user: user, owner: owner, tally: e.NewTally()}
	for range maxRounds {
		var err error
		if l.row, err = table.Find(ctx, e.store, spec.Target(user)); err != nil {
			return nil, err
		}
		if err := spec.checkForm(l.row); err != nil {
			return nil, fmt.Errorf("lease %s of %s: %w", c.name, entity.UserPK(user), err)
		}
		if spec.leased(l.row, e.now()) && l.row.Map(spec.LeaseAttr).Str(leaseOwner) != owner {
			return nil, fmt.Errorf("%s of %s: %w: another repair has it", c.name, entity.UserPK(user), ErrLeased)
		}
		waiting, err := e.flushPending(ctx, map[string]item.Item{user: l.row})
		if err != nil {
			return nil, err
		}
		if err, isWaiting := waiting[user]; err != nil {
			return nil, err
		} else if isWaiting {
			continue
		}
		err = l.renew(ctx)
		if !errors.Is(err, ErrLeaseLost) && !errors.Is(err, table.ErrConflict) {
			return l, err
		}
	}
	return nil, fmt.Errorf("%s of %s: %w: it kept changing", c.name, entity.UserPK(user), ErrLeased)
}

// Repair counts the correct state of an item's ledger row, and one of the next writes corrects the row. Each item that
// has a row or contributes is repaired once. The evidence was read under the lease: consumers no longer change its
// row, and the item cannot be older.
func (l *Lease) Repair(ctx context.Context, e Evidence) error {
	was := e.Ledger
	if err := CheckForm(was); err != nil {
		return err
	}
	if isStaged(was) {
		e.Ledger = l.e.spec.plain(l.row, was)
	}
	m := l.e.repair(e)
	l.tally.add(m.to)
	if m.isRight && !isStaged(was) {
		return l.renewInTime(ctx)
	}
	return l.fix(ctx, fix{was, &m.move})
}

// Drop removes a ledger row that belongs to no possible item, and does not count it.
func (l *Lease) Drop(ctx context.Context, row item.Item) error {
	if err := CheckForm(row); err != nil {
		return err
	}
	_, from := l.e.spec.counted(l.row, row)
	return l.fix(ctx, fix{row, &move{user: l.user, ref: entity.Ref{ID: l.e.itemOf(row.Key())}, row: row, from: from}})
}

// fix adds a row to repair. It stages the collected rows once they exceed the last write.
func (l *Lease) fix(ctx context.Context, f fix) error {
	l.fixes = append(l.fixes, f)
	size := 0
	for _, f := range l.fixes {
		size += f.size()
	}
	if len(l.fixes) < repairBatch && size < repairBytes {
		return l.renewInTime(ctx)
	}
	return l.stage(ctx)
}

// stage stages the collected rows, except those that are too long.
func (l *Lease) stage(ctx context.Context) error {
	repair := l.row.Int(l.e.spec.RepairsAttr) + 1
	var stages []action
	var rest []fix
	for _, f := range l.fixes {
		if f.size() > maxStaged {
			rest = append(rest, f)
			continue
		}
		stages = append(stages, table.Put{Item: l.e.stage(f.move, repair), If: asRead(f.row)})
	}
	if len(stages) == 0 {
		return fmt.Errorf("repair %s of %s: %w: %d ledger rows cannot be staged", l.e.name, entity.UserPK(l.user),
			table.ErrInvalid, len(rest))
	}
	if err := l.write(ctx, l.leaseUpdate(), stages); err != nil {
		return err
	}
	l.fixes, l.staged = rest, true
	return nil
}

// Staged reports whether rows were staged: [Lease.Unstage] must complete each after the repair.
func (l *Lease) Staged() bool { return l.staged }

// Unstage completes a staged row after its repair. It leaves any other row unchanged, and one that was written since
// it was read.
func (l *Lease) Unstage(ctx context.Context, row item.Item) error {
	if n, isStaged := nextOf(row); !isStaged || !l.e.spec.isThrough(l.row, n) {
		return nil
	}
	return l.e.rewrite(ctx, l.user, l.row, row)
}

// Check returns the faults of the sum, once every row was counted.
func (l *Lease) Check() []Fault { return l.tally.Check(l.user, l.row, l.e.now()) }

// Finish sets the sum to that of the rows, corrects the last rows, and returns the lease.
func (l *Lease) Finish(ctx context.Context) error {
	last := table.Update{Set: item.Item{l.e.spec.SumAttr: l.tally.sum(l.row)}, Remove: []string{l.e.spec.LeaseAttr}}
	if l.staged {
		last.Set[l.e.spec.RepairsAttr] = item.Int(l.row.Int(l.e.spec.RepairsAttr) + 1)
	}
	var rows []action
	for _, f := range l.fixes {
		rows = append(rows, l.e.put(f))
	}
	return l.write(ctx, last, rows)
}

// Release returns the lease and leaves the sum unchanged.
func (l *Lease) Release(ctx context.Context) error {
	return l.write(ctx, table.Update{Set: item.Item{}, Remove: []string{l.e.spec.LeaseAttr}}, nil)
}

func (l *Lease) renewInTime(ctx context.Context) error {
	if l.e.now().Before(l.until.Add(-renewBefore)) {
		return nil
	}
	return l.renew(ctx)
}

func (l *Lease) renew(ctx context.Context) error { return l.write(ctx, l.leaseUpdate(), nil) }

// leaseUpdate returns the update that takes or renews the lease.
func (l *Lease) leaseUpdate() table.Update {
	now := l.e.now()
	lease := item.Item{leaseOwner: item.String(l.owner)}
	lease.SetTime(leaseUntil, now.Add(leaseDuration))
	u := table.Update{Set: item.Item{l.e.spec.LeaseAttr: item.Map(lease)}}
	if l.row == nil {
		l.e.spec.begin(u.Set, l.user, now)
	}
	return u
}

// write applies an update of the sum's row, and writes of ledger rows, if the sum's row is as this lease left it. A
// write whose answer was lost is recognised by what it would have left.
func (l *Lease) write(ctx context.Context, u table.Update, rows []action) error {
	u.Key, u.If = l.e.spec.Target(l.user), l.e.spec.asRead(l.row)
	was := l.row.Int(l.e.spec.VersionAttr)
	u.Set[l.e.spec.VersionAttr] = item.Int(was + 1)
	if l.row.Has(l.e.spec.PendingAttr) {
		u.Remove = append(u.Remove, l.e.spec.PendingAttr) // its row is there
	}
	err := l.e.store.Transact(ctx, append([]action{u}, rows...)...)
	var failed *table.ConditionError
	if errors.As(err, &failed) {
		err = l.recognise(failed, u, rows)
	}
	if err != nil {
		return fmt.Errorf("repair %s of %s: %w", l.e.name, entity.UserPK(l.user), err)
	}
	l.row = l.after(u)
	l.until, _ = l.row.Map(l.e.spec.LeaseAttr).Time(leaseUntil)
	return nil
}

// recognise returns nil if the present rows equal the result of this write. The sum's row alone does not tell: a
// consumer that unstages a row ends a lease that has expired, at the version that this write would have left.
func (l *Lease) recognise(failed *table.ConditionError, u table.Update, rows []action) error {
	f, ok := failed.At(0)
	if !ok {
		return ErrLeaseLost // a ledger row changed: it was staged, or it had expired
	}
	for i, a := range rows {
		row, ok := failed.At(i + 1)
		if put, _ := a.(table.Put); !ok || !row.Old.Equal(put.Item) { // a deletion leaves nothing
			return ErrLeaseLost
		}
	}
	if l.e.spec.checkForm(f.Old) != nil {
		return ErrLeaseLost // a later release has written it, at the version that this write would have left
	}
	for _, name := range []string{l.e.spec.VersionAttr, l.e.spec.LeaseAttr, l.e.spec.SumAttr, l.e.spec.RepairsAttr} {
		if want, set := u.Set[name]; set && !item.Equal(f.Old[name], want) {
			return ErrLeaseLost
		}
	}
	for _, name := range u.Remove {
		if f.Old.Has(name) {
			return ErrLeaseLost
		}
	}
	return nil
}

// after returns the sum's row after the update, as far as a repair reads it.
func (l *Lease) after(u table.Update) item.Item {
	out := item.Item{}
	for _, name := range []string{l.e.spec.SumAttr, l.e.spec.LeaseAttr, l.e.spec.RepairsAttr} {
		if v, ok := l.row[name]; ok {
			out[name] = v
		}
	}
	for name, v := range u.Set {
		out[name] = v
	}
	for _, name := range u.Remove {
		delete(out, name)
	}
	return out
}
