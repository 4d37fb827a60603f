package transfer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/entity/account"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// Bounds of one transaction of an import.
const (
	// maxTogether is the number of things of one transaction: each takes at most four actions, the count of what was
	// written one, and the series of exceptions one.
	maxTogether = 24
	// maxBytes is the number of bytes from which on no more things are added. The store takes 4 MB, and a thing with what
	// is kept of it has at most 0.5.
	maxBytes = 2 << 20
)

// run is the visitor that writes what a file holds. Each transaction counts the things that it writes in the import's
// row, under the count that was there: so each is written once, beside any other import of the same file.
type run struct {
	*Service
	user, digest, state string
	begun               time.Time
	done                int // the things that were written, by the row
	seen                int // the things that were visited
	progress            func(done int)

	waiting []thing
	bytes   int
}

// thing is one thing to be written.
type thing struct {
	n       int         // its number in the file
	puts    []item.Item // the first decides: where it is there already, nothing is written
	absent  []item.Key  // rows that must not be there
	of      string      // the series of an exception; empty for anything else
	archive *parsed     // an item whose cold copy is written first
}

// isNext counts a thing that is visited, and reports whether it is still to be written.
func (r *run) isNext() bool {
	r.seen++
	return r.seen > r.done
}

func (r *run) settings(ctx context.Context, row item.Item) error {
	if !r.isNext() {
		return nil
	}
	now, err := table.Find(ctx, r.Store, row.Key())
	if err != nil {
		return err
	}
	action := table.Action(table.Put{Item: row, If: table.NotExists()})
	if now != nil {
		// The account has settings of its own: the file's take their place as a change of them.
		action = r.settingsUpdate(now, row)
	}
	return r.once(ctx, func(count table.Action) error { return r.Store.Transact(ctx, count, action) })
}

// settingsUpdate returns the change that gives settings that are there the content of the file's.
func (r *run) settingsUpdate(now, row item.Item) table.Update {
	u := table.Update{
		Key: row.Key(), Set: item.Item{}, If: table.AtVersion(now.Int(entity.AttrVersion)),
		Remove: []string{product.AttrStatsWritten},
	}
	for _, name := range []string{product.AttrDefaultTzid, product.AttrPreferences} {
		u.Set[name] = row[name]
	}
	if !item.Equal(now[product.AttrDefaultTzid], row[product.AttrDefaultTzid]) {
		u.Set.SetTime(product.AttrZoneSetAt, r.begun)
	}
	u.Set.SetTime(entity.AttrUpdatedAt, r.begun)
	u.Set[entity.AttrVersion] = item.Int(now.Int(entity.AttrVersion) + 1)
	return u
}

func (r *run) item(ctx context.Context, _ numberedLine, of parsed) error {
	if !r.isNext() {
		return nil
	}
	t := thing{n: r.seen, puts: []item.Item{of.item}}
	switch {
	case of.isException():
		t.of = of.item.Str(product.AttrMasterID)
	default:
		t.absent = []item.Key{entity.GoneKey(r.user, of.id)}
	}
	return r.enqueue(ctx, t, of)
}

func (r *run) copied(ctx context.Context, _ numberedLine, of parsed) error {
	if !r.isNext() {
		return nil
	}
	return r.enqueue(ctx, thing{
		n: r.seen, archive: &of, absent: []item.Key{entity.GoneKey(r.user, of.id)},
	}, of)
}

func (r *run) gone(ctx context.Context, _ numberedLine, _ string, row item.Item) error {
	if !r.isNext() {
		return nil
	}
	return r.enqueue(ctx, thing{n: r.seen, puts: []item.Item{row}}, parsed{item: row})
}

func (r *run) revision(ctx context.Context, a adoptable) error {
	if err := r.flush(ctx); err != nil || !r.isNext() {
		return err
	}
	return r.once(ctx, func(count table.Action) error { return a.adopt(ctx, count) })
}

func (r *run) head(ctx context.Context, h newHead) error {
	if err := r.flush(ctx); err != nil || !r.isNext() {
		return err
	}
	repo, _ := r.Values.Repository(r.user)
	return r.once(ctx, func(count table.Action) error {
		return repo.AdoptHead(ctx, h.at, h.commit, h.rolledFrom, h.oldest, count)
	})
}

// once writes one thing that is never beside another's: where its row is there, the user wrote it in between.
func (r *run) once(ctx context.Context, write func(count table.Action) error) error {
	to := r.seen
	return r.repeat(ctx, to, func() (bool, error) {
		err := write(r.count(to))
		var failed *table.ConditionError
		if !errors.As(err, &failed) {
			return err == nil, err
		}
		if _, moved := failed.At(0); !moved {
			return false, ErrOvertaken
		}
		return false, r.catchUp(failed)
	})
}

// enqueue adds a thing to those that are written together. Exceptions go with those of the same series, because each
// transaction counts them in its row.
func (r *run) enqueue(ctx context.Context, t thing, of parsed) error {
	size := item.Size(of.item) + len(of.kept)
	if of.kept != "" {
		t.puts = append(t.puts, command.KeptRow(of.item.Key(), of.kept))
	}
	if len(r.waiting) > 0 && (len(r.waiting) == maxTogether || r.bytes+size > maxBytes || r.waiting[0].of != t.of) {
		if err := r.flush(ctx); err != nil {
			return err
		}
	}
	r.waiting, r.bytes = append(r.waiting, t), r.bytes+size
	return nil
}

// flush writes the things that wait. One that is there already was written by the user in between and stays: so do the
// exceptions of a series that the user has deleted.
func (r *run) flush(ctx context.Context) error {
	things := r.waiting
	if r.waiting, r.bytes = nil, 0; len(things) == 0 {
		return nil
	}
	to := things[len(things)-1].n
	for i := range things {
		if a := things[i].archive; a != nil {
			cold, err := r.Archive.Adopt(ctx, r.user, a.typ, withoutAsked(a.item))
			if err != nil {
				return err
			}
			things[i].absent = append(things[i].absent, a.item.Key())
			things[i].puts = append([]item.Item{cold}, things[i].puts...)
		}
	}
	return r.repeat(ctx, to, func() (bool, error) {
		things = slices.DeleteFunc(things, func(t thing) bool { return t.n <= r.done })
		actions, of, err := r.actions(ctx, things)
		if err != nil {
			return false, err
		}
		err = r.Store.Transact(ctx, append([]table.Action{r.count(to)}, actions...)...)
		var failed *table.ConditionError
		if !errors.As(err, &failed) {
			return err == nil, err
		}
		if _, moved := failed.At(0); moved {
			return false, r.catchUp(failed)
		}
		things = without(things, failed, of)
		return false, nil
	})
}

// count returns the action that counts everything up to a thing as written.
func (r *run) count(to int) table.Action {
	return table.Update{
		Key: account.ImportKey(r.user), Set: item.Item{attrDone: item.Int(int64(to))},
		If: table.Exists(table.Equal(attrDigest, item.String(r.digest)), table.Equal(attrDone, item.Int(int64(r.done)))),
	}
}

// catchUp takes over a count that has moved: by an earlier try of which the answer was lost, or by another import of
// the same file.
func (r *run) catchUp(failed *table.ConditionError) error {
	f, _ := failed.At(0)
	now := int(f.Old.Int(attrDone))
	if f.Old.Str(attrDigest) != r.digest || now <= r.done {
		return ErrOtherFile
	}
	r.done = now
	return nil
}

// maxTries bounds the tries of one write that the store does not take now.
const maxTries = 8

// repeat makes a write until everything up to a thing is written. An error of the store that may pass is waited for.
func (r *run) repeat(ctx context.Context, to int, write func() (bool, error)) error {
	var last error
	for try := 0; try < maxTries && r.done < to; try++ {
		if try > 0 {
			if err := r.Pause(ctx, time.Second<<min(try, 4)/16); err != nil {
				return errors.Join(err, last)
			}
		}
		done, err := write()
		switch {
		case done:
			r.done = to
		case err == nil: // to be tried again, as it was found
		case errors.Is(err, table.ErrConflict), errors.Is(err, table.ErrThrottled), errors.Is(err, table.ErrUnavailable):
			last = err
		default:
			return err
		}
	}
	if r.done < to {
		return fmt.Errorf("import: given up after %d tries: %w", maxTries, errors.Join(last, table.ErrConflict))
	}
	if r.progress != nil {
		r.progress(r.done)
	}
	return nil
}

// end writes what waits, counts what the copies hold, and writes that the import is done.
func (r *run) end(ctx context.Context) error {
	if err := r.flush(ctx); err != nil {
		return err
	}
	if r.CountCopies != nil {
		if err := r.CountCopies(ctx, r.user); err != nil {
			return fmt.Errorf("count the copies: %w", err)
		}
	}
	_, err := r.Store.Update(ctx, table.Update{
		Key: account.ImportKey(r.user),
		Set: item.Item{
			attrState: item.String(stateDone), entity.AttrTTL: item.Int(r.Now().Add(remembered).Unix()),
		},
		If: table.Exists(table.Equal(attrDigest, item.String(r.digest)), table.Equal(attrDone, item.Int(int64(r.done)))),
	})
	if err != nil {
		return fmt.Errorf("end the import: %w", err)
	}
	return nil
}
