package projection

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/table"
)

// Members of a hold.
const (
	holdOwner = "owner"
	holdUntil = "until"
)

const (
	// holdFor is how long a hold lasts unless it is renewed: after a crash consumers go on by then.
	holdFor = 30 * time.Second
	// renewBefore is how long before its end a hold is renewed.
	renewBefore = 20 * time.Second
	// holdBatch is how many ledger rows one transaction of a repair puts right.
	holdBatch = 90
)

// Errors of a repair of sums. They are matched with errors.Is.
var (
	// ErrHeld: another repair has the user's sum; try again later.
	ErrHeld = errors.New("another repair holds the sum")
	// ErrHoldLost: somebody else wrote what the repair held; begin again.
	ErrHoldLost = errors.New("the hold was lost")
)

// Hold is the repair of one user's sum, which nobody else writes while it lasts: taking, renewing and every write under
// it add to the sum's version, and consumers that see it come back later.
//
// Ledger rows are put right under it, and the sum itself in its last write, together with the last of the rows: readers
// see the old numbers until then, never a part of the new ones. Whoever dies under a hold leaves the old numbers, and
// rows each of which is right or as it was; the hold lapses and the repair can begin again.
type Hold struct {
	c           *Consumer
	user, owner string
	spec        *SumSpec
	row         entity.Item // the sum's row as this hold left it
	until       time.Time
	tally       *Tally
	fixes       []action
}

// Hold takes the user's sum. The owner is unique to this repair.
func (c *Consumer) Hold(ctx context.Context, user, owner string) (*Hold, error) {
	spec := c.projection.shape.target()
	if spec == nil {
		panic("projection: " + c.projection.name + " has nothing to hold")
	}
	h := &Hold{c: c, user: user, owner: owner, spec: spec, tally: c.projection.NewTally()}
	for range maxRounds {
		var err error
		if h.row, err = c.get(ctx, spec.Target(user)); err != nil {
			return nil, err
		}
		if err := spec.checkForm(h.row); err != nil {
			return nil, fmt.Errorf("hold %s of %s: %w", c.projection.name, user, err)
		}
		if spec.held(h.row, c.now()) && h.row.Map(spec.HoldAttr).Str(holdOwner) != owner {
			return nil, fmt.Errorf("%s of %s: %w", c.projection.name, user, ErrHeld)
		}
		waiting, err := c.keepLast(ctx, map[string]entity.Item{user: h.row})
		if err != nil {
			return nil, err
		}
		if err, isWaiting := waiting[user]; err != nil {
			return nil, err
		} else if isWaiting {
			continue
		}
		err = h.renew(ctx)
		if !errors.Is(err, ErrHoldLost) && !errors.Is(err, table.ErrConflict) {
			return h, err
		}
	}
	return nil, fmt.Errorf("hold %s of %s: %w", c.projection.name, user, errUnsettled)
}

// Mend counts what an item's ledger row is to be, and puts it right with one of the next writes. Each item that has a row or
// contributes is mended once. The evidence was read under the hold: its row is the last word of the consumers then,
// and the item cannot be older.
func (h *Hold) Mend(ctx context.Context, e Evidence) error {
	if err := entity.CheckForm(e.Ledger, entity.AttrForm); err != nil {
		return err
	}
	m := h.c.projection.repair(e)
	h.tally.add(m.to)
	if m.isRight {
		return h.renewInTime(ctx)
	}
	return h.fix(ctx, table.Put{Item: h.c.projection.ledgerRow(&m.move, h.c.now()), If: m.condition()})
}

// Drop removes a ledger row that can be no item's, and does not count it.
func (h *Hold) Drop(ctx context.Context, row entity.Item) error {
	m := move{present: true, row: row}
	return h.fix(ctx, table.Delete{Key: row.Key(), If: m.condition()})
}

func (h *Hold) fix(ctx context.Context, a action) error {
	h.fixes = append(h.fixes, a)
	if len(h.fixes) < holdBatch {
		return h.renewInTime(ctx)
	}
	return h.write(ctx, h.holding())
}

// Check returns what is wrong with the sum, once every row was counted.
func (h *Hold) Check() []Fault { return h.tally.Check(h.user, h.row, h.c.now()) }

// Finish sets the sum to that of the rows, puts the last rows right, and gives the hold back.
func (h *Hold) Finish(ctx context.Context) error {
	return h.write(ctx, table.Update{Set: entity.Item{h.spec.SumAttr: h.tally.sum(h.row)}, Remove: []string{h.spec.HoldAttr}})
}

// Release gives the hold back and leaves the sum as it is.
func (h *Hold) Release(ctx context.Context) error {
	h.fixes = nil
	return h.write(ctx, table.Update{Set: entity.Item{}, Remove: []string{h.spec.HoldAttr}})
}

func (h *Hold) renewInTime(ctx context.Context) error {
	if h.c.now().Before(h.until.Add(-renewBefore)) {
		return nil
	}
	return h.renew(ctx)
}

func (h *Hold) renew(ctx context.Context) error {
	fixes := h.fixes
	h.fixes = nil
	err := h.write(ctx, h.holding())
	h.fixes = fixes
	return err
}

// holding is the update that takes or renews.
func (h *Hold) holding() table.Update {
	now := h.c.now()
	hold := entity.Item{holdOwner: entity.String(h.owner)}
	hold.SetTime(holdUntil, now.Add(holdFor))
	u := table.Update{Set: entity.Item{h.spec.HoldAttr: entity.Map(hold)}}
	if h.row == nil {
		for name, v := range h.spec.NewTarget(h.user, now) {
			if name != entity.AttrPK && name != entity.AttrSK {
				u.Set[name] = v
			}
		}
	}
	return u
}

// write applies an update of the sum's row, and the rows that wait to be put right, if the sum's row is as this hold left
// it. A write whose answer was lost is recognised by the version that it would have left.
func (h *Hold) write(ctx context.Context, u table.Update) error {
	u.Key = h.spec.Target(h.user)
	was := h.row.Int(h.spec.VersionAttr)
	u.Set[h.spec.VersionAttr] = entity.Int(was + 1)
	if h.row.Has(h.spec.LastAttr) {
		u.Remove = append(u.Remove, h.spec.LastAttr) // its row is there
	}
	switch {
	case h.row == nil:
		u.If = table.NotExists()
	case h.row.Has(h.spec.VersionAttr):
		u.If = table.Exists(table.Equal(h.spec.VersionAttr, h.row[h.spec.VersionAttr]))
	default:
		u.If = table.Exists(table.Missing(h.spec.VersionAttr))
	}
	err := h.c.store.Transact(ctx, append([]action{u}, h.fixes...)...)
	var failed *table.ConditionError
	if errors.As(err, &failed) {
		err = h.recognise(failed, u)
	}
	if err != nil {
		return fmt.Errorf("repair %s of %s: %w", h.c.projection.name, h.user, err)
	}
	h.row = h.after(u)
	h.fixes = nil
	h.until, _ = h.row.Map(h.spec.HoldAttr).Time(holdUntil)
	return nil
}

// recognise returns nil if the row that stands there is what this very update leaves.
func (h *Hold) recognise(failed *table.ConditionError, u table.Update) error {
	f, ok := failed.At(0)
	if !ok {
		return ErrHoldLost // a ledger row changed, which nobody does under a hold
	}
	for _, name := range []string{h.spec.VersionAttr, h.spec.HoldAttr, h.spec.SumAttr} {
		if want, set := u.Set[name]; set && !entity.Equal(f.Old[name], want) {
			return ErrHoldLost
		}
	}
	for _, name := range u.Remove {
		if f.Old.Has(name) {
			return ErrHoldLost
		}
	}
	return nil
}

// after is the sum's row behind the update, as far as a repair looks at it.
func (h *Hold) after(u table.Update) entity.Item {
	out := entity.Item{}
	for _, name := range []string{h.spec.SumAttr, h.spec.HoldAttr} {
		if v, ok := h.row[name]; ok {
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
