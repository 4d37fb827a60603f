package account

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"nexus/pkg/blob"
	"nexus/pkg/entity"
	"nexus/pkg/item"
)

// ErrTooOld says that a table has, or may have, users whom nothing erases again any more.
var ErrTooOld = errors.New("the table is too old, and must not be used")

// past holds the knowledge of an account whose object in the list is too old to erase by it.
type past struct {
	erasedAt time.Time
	// isThere says that there are rows, isBack that one was written after the erasure, by a stranger with the id.
	isThere, isBack bool
}

// see takes in when a user's row was written.
func (a *again) see(row item.Item, of *past) {
	var written time.Time
	for _, attr := range []string{entity.AttrCreatedAt, entity.AttrUpdatedAt} {
		if at, ok := row.Time(attr); ok && at.After(written) {
			written = at
		}
	}
	if written.After(a.Newest) {
		a.Newest = written
	}
	if of != nil {
		// A stranger has the id from [Remembered] on. The row of a burst of writes may be seconds later than they were.
		of.isThere, of.isBack = true, of.isBack || written.After(of.erasedAt.Add(notedFor))
	}
}

// checkAge says what the table may have that nothing erases again.
func (a *again) checkAge(context.Context) error {
	for _, name := range slices.Sorted(maps.Keys(a.past)) {
		if of := a.past[name]; of.isThere && !of.isBack {
			a.TooOld = append(a.TooOld, name)
		}
	}
	a.IsOld = !a.Newest.IsZero() && a.Now().Sub(a.Newest) >= notedFor
	return nil
}

// Check returns [ErrTooOld] if nothing vouches for the table.
func (a Again) Check() error {
	days := int(notedFor / (24 * time.Hour))
	switch {
	case len(a.TooOld) > 0:
		return fmt.Errorf("%w: it has rows of %d accounts that were erased more than %d days ago (the first is %s), for "+
			"which their entries of the list erased/ are too old", ErrTooOld, len(a.TooOld), days, a.TooOld[0])
	case a.IsOld:
		return fmt.Errorf("%w: no row was written after %s, and the list erased/ reaches back %d days alone. The table "+
			"may have users whose erasure nothing tells any more. A table that was never restored, and had rested, has none",
			ErrTooOld, item.FormatInstant(a.Newest), days)
	}
	return nil
}

// ErasedNames returns the names of the accounts that the list has and the table knows as ERASED, for an hour at least.
func (e *Eraser) ErasedNames(ctx context.Context) (map[string]bool, error) {
	names := map[string]bool{}
	err := e.eachErased(ctx, func(name string, _ time.Time) error {
		is, err := findRow(ctx, e.Store, name, e.Now().Add(time.Hour))
		if is.state == Erased {
			names[name] = true
		}
		return err
	})
	return names, err
}

// NeedsAgain reports whether the table does not know what the list of erased accounts says, so that it is older. Of a
// table that was set back for another reason to think so, it reports whether an account has ever left.
func (e *Eraser) NeedsAgain(ctx context.Context, wasSetBack bool) (bool, error) {
	if wasSetBack {
		_, err := e.Archive.Get(ctx, PepperObject)
		if !errors.Is(err, blob.ErrNotFound) {
			return err == nil, err
		}
	}
	needs := false
	err := e.eachErased(ctx, func(name string, at time.Time) error {
		// The row ends at the instant at which the object does.
		is, err := findRow(ctx, e.Store, name, e.Now())
		if !is.state.IsGone() && e.Now().Before(at.Add(Remembered-time.Hour)) {
			needs = true
		}
		return err
	})
	return needs, err
}

// eachErased calls visit for each account of the list of erased ones. An object that no program has put is left to the
// operator.
func (e *Eraser) eachErased(ctx context.Context, visit func(name string, at time.Time) error) error {
	return e.eachNote(ctx, ErasedPrefix, func(object string, body []byte) error {
		at, err := readNote(body, attrErasedAt)
		if err != nil {
			return nil //nolint:nilerr // see above
		}
		return visit(strings.TrimPrefix(object, ErasedPrefix), at)
	})
}
