package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/series"
	"nexus/pkg/table"
)

// SplitSeries ends a series before one of its occurrences, and a new series continues from there, with changes: "this
// and all following". It needs the expected version. Later exceptions move to the new series if their dates are
// occurrences of it. The result is the new series, with the old one beside it.
type SplitSeries struct {
	ID string
	// Date YYYYMMDD is the local date of the first occurrence that is to change.
	Date string
	// Changes is a merge patch, as for [UpdateSeries], of the series as it would continue unchanged from that occurrence.
	// A start without an end preserves the length.
	Changes map[string]any
}

func (cmd SplitSeries) content() []any {
	return []any{"splitSeries", cmd.ID, cmd.Date, cmd.Changes}
}

// Places of a split's fields in the request.
const (
	pointerToDate    = "/date"
	pointerToChanges = "/changes"
)

func (cmd SplitSeries) run(ctx context.Context, c call) (Result, error) {
	ref, err := c.checkSeries(cmd.ID)
	if err != nil {
		return Result{}, err
	}
	if c.expected == nil {
		return Result{}, ErrNoVersion
	}
	patch, broken := c.masterType().Parse(cmd.Changes)
	w := &splitting{
		call: c, ref: ref, date: cmd.Date, changes: cmd.Changes, patch: patch,
		id: c.masterType().IDPrefix + "_" + followerID(cmd.ID, *c.expected, cmd.Date), broken: broken,
	}
	res, err := c.decide(ctx, func(c call) (Result, error) {
		w.call = c
		return w.attempt(ctx)
	})
	if err == nil && res.Replayed {
		if res.Ended, err = w.old(ctx); err != nil {
			return Result{}, err
		}
	}
	if err := w.abandon(ctx, err); err != nil {
		return Result{}, err
	}
	return c.finish(ctx, cmd.ID, res, err)
}

// followerID returns the id of the new series. It is derived, so that a repetition finds the rows of an interrupted
// attempt.
func followerID(masterID string, version int64, date string) string {
	return uuid.NewSHA1(uuid.NameSpaceOID, fmt.Appendf(nil, "%s %d %s", masterID, version, date)).String()
}

// splitting is the state of one split. Its order makes it atomic. First it writes the new series' instances, which are
// invisible without their series. Then one transaction ends the old series and makes the new one. Last, it undoes the
// old series' instances after the split, which are now invisible.
type splitting struct {
	call
	ref     entity.Ref
	date    string
	changes map[string]any
	patch   item.Item // the changes, parsed
	broken  []entity.FieldError
	id      string // of the new series
	// walked is the number of the old series' exceptions.
	walked int
	// wasTaken says that the new series was found before the split.
	wasTaken bool
}

func (w *splitting) newKey() item.Key {
	return entity.ItemKey(w.user, entity.Ref{Type: entity.TypeMaster, ID: w.id})
}

func (w *splitting) attempt(ctx context.Context) (Result, error) {
	e := edit{typ: w.masterType(), ref: w.ref, links: entity.LinksOf(w.patch)}
	rows, err := w.read(ctx, append(w.keysOf(e), w.newKey()))
	if err != nil {
		return Result{}, err
	}
	if w.receipt != nil {
		if err := w.receipt.Check(rows[w.receipt.Key], w.now); err != nil {
			return Result{}, err
		}
	}
	before, err := w.seen(e, rows[entity.ItemKey(w.user, w.ref)])
	if err != nil {
		return Result{}, err
	}
	if rows[w.newKey()] != nil {
		return Result{}, w.taken()
	}
	s, err := w.exceptions(ctx, before)
	if err != nil {
		return Result{}, err
	}
	p, err := w.plan(ctx, s)
	if err != nil {
		return Result{}, err
	}
	err = w.checkTargets(newLinks(before, p.following), rows, func(i int) string {
		return pointerToChanges + pointerToTarget(i)
	})
	if err != nil {
		return Result{}, err
	}
	if err := w.stage(ctx, before, p); err != nil {
		return Result{}, err
	}
	steps := append([]step{
		{table.Diff(before, p.ended, unchanged(before)), w.moved},
		{table.Put{Item: p.following, If: table.NotExists()}, w.moved},
	}, w.moveKept(p.kept[before.Key()], p.following)...)
	ref := e.typ.Ref(p.following)
	made := effect{
		done: doneCreate, ref: ref, version: p.following.Int(entity.AttrVersion), ended: p.ended.Int(entity.AttrVersion),
	}
	if _, err := w.commit(ctx, steps, made); err != nil {
		return Result{}, err
	}
	if err := w.strip(ctx, p.left); err != nil {
		return Result{}, unfinished(err)
	}
	return Result{
		Type: e.typ, Ref: ref, Item: p.following, Version: made.ended, Ended: p.ended, Created: true, Walked: w.walked,
	}, nil
}

// taken interprets an existing new series. The two rows are not read at one instant, so a twin may have made it; the
// old one then has another version when it is read again.
func (w *splitting) taken() error {
	if !w.wasTaken {
		w.wasTaken = true
		return errMoved
	}
	return &StateError{
		entity.Ref{Type: entity.TypeMaster, ID: w.id}, "exists already, under the id of the series that would follow",
	}
}

// moved interprets a failed condition of a split: the series, or one of its instances, was written in between.
func (w *splitting) moved(item.Item) error { return errMoved }

// exceptions returns the series with its exceptions. It undoes those that are idle in the present series.
func (w *splitting) exceptions(ctx context.Context, master item.Item) (*series.Series, error) {
	if !master.Bool(product.AttrHasExceptions) {
		return open(master)
	}
	rows, err := w.instances(ctx, w.ref.ID)
	if err != nil {
		return nil, err
	}
	w.walked = len(rows)
	s, err := open(master, rows...)
	if err != nil {
		return nil, err
	}
	return s, w.strip(ctx, s.Idle())
}

// old returns the series that was split, as it is now; nil if it has gone.
func (w *splitting) old(ctx context.Context) (item.Item, error) {
	key := entity.ItemKey(w.user, w.ref)
	rows, err := w.read(ctx, []item.Key{key})
	return rows[key], err
}

// stage writes the instances of the new series. Each transaction checks that the old series is as it was read and that
// the new one does not exist. So an attempt that was overtaken never writes into an existing series. It overwrites the
// rows of an earlier attempt, under their version, or undoes them. The new series says that it has exceptions if any
// row is there, an undone one too: a deletion of the series has to find it.
func (w *splitting) stage(ctx context.Context, before item.Item, p splitPlan) error {
	if !before.Bool(product.AttrHasExceptions) {
		return nil
	}
	left, err := w.instances(ctx, w.id)
	if err != nil {
		return err
	}
	if len(left)+len(p.taken) > 0 {
		p.following[product.AttrHasExceptions] = item.Bool(true)
	}
	var steps []step
	taken := p.taken
	for _, row := range left {
		i := slices.IndexFunc(taken, func(t item.Item) bool { return t.Key() == row.Key() })
		switch {
		case i >= 0:
			again := taken[i].Clone()
			again[entity.AttrVersion] = item.Int(row.Int(entity.AttrVersion) + 1)
			steps = append(steps, putRow(row, again))
			taken = slices.Delete(slices.Clone(taken), i, i+1)
		case row.Has(product.AttrModifiedFields):
			steps = append(steps, putRow(row, w.undone(row)))
		}
	}
	for _, row := range taken {
		steps = append(steps, putRow(nil, row))
	}
	for chunk := range slices.Chunk(steps, maxTidied) {
		actions := []table.Action{
			table.Check{Key: before.Key(), If: unchanged(before)}, table.Check{Key: w.newKey(), If: table.NotExists()},
		}
		for _, s := range chunk {
			actions = append(actions, s.action)
			if text := w.keptOf(p, s.action.Target()); text != nil {
				actions = append(actions, table.Put{Item: text})
			}
		}
		err := w.store.Transact(ctx, actions...)
		var failed *table.ConditionError
		if errors.As(err, &failed) {
			return errMoved
		}
		if err != nil {
			return fmt.Errorf("write %d instances of %s: %w", len(chunk), w.id, err)
		}
	}
	return nil
}

// keptOf returns the KEPT row of an instance of the new series, taken over from the old one's; nil for none.
func (w *splitting) keptOf(p splitPlan, key item.Key) item.Item {
	i := slices.IndexFunc(p.taken, func(it item.Item) bool { return it.Key() == key && it.Has(product.AttrKept) })
	if i < 0 {
		return nil
	}
	_, date, _ := entity.ParseInstanceID(p.taken[i].Str(product.AttrEventID))
	row := entity.KeptKey(key).Item()
	row[AttrKeptText] = item.String(p.kept[entity.ItemKey(w.user, entity.Ref{
		Type: entity.TypeInstance, ID: entity.InstanceID(w.ref.ID, date),
	})])
	return row
}

// abandon deletes the rows of an attempt that can no longer be finished, because another writer has changed or deleted
// the series. The split commits only at the expected version, which never returns, so a new series that does not exist
// now never will.
func (w *splitting) abandon(ctx context.Context, refusal error) error {
	var (
		stale   *StaleError
		missing *NotFoundError
	)
	overtaken := errors.As(refusal, &stale) && stale.Current > *w.expected ||
		errors.As(refusal, &missing) && missing.Pointer == ""
	if !overtaken {
		return nil
	}
	rows, err := w.read(ctx, []item.Key{w.newKey()})
	if err != nil || len(rows) > 0 {
		return err
	}
	return w.drop(ctx, w.id)
}

// justBefore returns the last instant, in whole seconds, at which an earlier occurrence may start.
func justBefore(start time.Time) time.Time { return start.Add(-time.Second) }
