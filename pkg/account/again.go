package account

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"nexus/pkg/entity/departure"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// notedFor is the age up to which an object of the list of erased accounts is used: the instant decides and not the
// presence, for S3 ends objects late. A user who came back after [Remembered] is a stranger. What is between leaves two
// days for the erasure.
const notedFor = 38 * 24 * time.Hour

// Again is the summary of [Eraser.Again].
type Again struct {
	Rows   int64 `json:"rows"`   // read
	Erased int   `json:"erased"` // accounts
	Waits  int   `json:"waits"`  // accounts that are in the table, and whose erasure is not due
	Put    int   `json:"put"`    // rows of accounts that the table lacked, by the lists
	Undone int   `json:"undone"` // requests that were taken back since, and whose rows the table had again
	// Newest is the latest instant at which a user's row was written, as far as rows say so.
	Newest time.Time `json:"newest,omitzero"`
	// TooOld are accounts of which the table has rows from before their erasure, for which their objects are too old.
	TooOld []string `json:"tooOld,omitempty"`
	// IsOld says that the table itself may be older than the list reaches back.
	IsOld bool `json:"isOld,omitempty"`
	// Accounts are those that it erased.
	Accounts []Erasure `json:"accounts,omitempty"`
}

// Again erases again, in a table that was restored to an instant, the accounts that were erased since: those of the
// list of erased ones, and those of the list of leaving ones whose instant has come. It first puts the rows of both
// lists, so that the fence holds as soon as the table is used. It then walks the table and the names of objects and
// schedules, because the lists know no user, and because a restore may cut a transaction: then a plan has a head and no
// row of its day, or a snapshot has no log. It may be repeated, and finds stray rows in a table that was never
// restored.
func (e *Eraser) Again(ctx context.Context, walker table.Walker) (Again, error) {
	a := &again{
		Eraser: e, lists: map[string]listed{}, past: map[string]*past{},
		users: map[string]string{}, strays: map[string][]string{},
	}
	if err := e.service.checkPepper(ctx); err != nil {
		return a.Again, err
	}
	for _, step := range []func(context.Context) error{
		func(ctx context.Context) error { return a.list(ctx, ErasedPrefix, attrErasedAt) },
		func(ctx context.Context) error { return a.list(ctx, LeavingPrefix, attrEraseAt) },
		a.putPepper, a.putRows, a.undo,
		func(ctx context.Context) error { return a.walk(ctx, walker) },
		a.objects, a.schedules, a.eraseAll, a.checkAge,
	} {
		if err := step(ctx); err != nil {
			return a.Again, err
		}
	}
	return a.Again, nil
}

// again is one run of it.
type again struct {
	*Eraser
	Again
	lists map[string]listed // by the account's name
	users map[string]string // found, by the account's name
	// strays are the partitions of plans and of snapshots that the table has, by the account's name.
	strays map[string][]string
	// past are the accounts whose objects are too old, by name.
	past map[string]*past
}

// listed holds what the lists say of an account.
type listed struct {
	state     State
	at, asked time.Time // ERASED since, or to be erased at
}

// list reads one of the lists.
func (a *again) list(ctx context.Context, prefix, what string) error {
	return a.eachNote(ctx, prefix, func(object string, body []byte) error {
		at, err := readNote(body, what)
		if err != nil {
			return fmt.Errorf("object %s: %w", object, err)
		}
		asked, _ := readNote(body, attrAskedAt)
		a.enter(strings.TrimPrefix(object, prefix), prefix, listed{Leaving, at, asked})
		return nil
	})
}

// enter takes in one object. The list of erased accounts is read first, and decides.
func (a *again) enter(name, prefix string, of listed) {
	if prefix == ErasedPrefix {
		if of.state = Erased; a.Now().Sub(of.at) >= notedFor {
			a.past[name] = &past{erasedAt: of.at}
			return
		}
	}
	if _, known := a.lists[name]; !known {
		a.lists[name] = of
	}
}

// putPepper puts the check of the pepper, which the objects have confirmed.
func (a *again) putPepper(ctx context.Context) error {
	check := PepperRow(a.Pepper)
	err := a.Store.Put(ctx, table.Put{Item: check, If: table.OrNoRow(table.Equal(attrCheck, check[attrCheck]))})
	if failed := (*table.ConditionError)(nil); errors.As(err, &failed) {
		return ErrPepper
	}
	return err
}

// putRows puts the rows of the lists. That of an erased account replaces any but one of an erasure under way, which
// [again.eraseAll] ends. That of a request replaces one with another instant: a request was taken back since, and made
// again, or hastened.
func (a *again) putRows(ctx context.Context) error {
	for _, name := range slices.Sorted(maps.Keys(a.lists)) {
		of := a.lists[name]
		is, err := findRow(ctx, a.Store, name, a.Now())
		if err != nil {
			return err
		}
		put, condition := erased(name, of.at), replaceable(a.Now())
		switch {
		case is.state == Erasing:
			a.users[name] = is.user // also one of whom nothing else is left
			continue
		case of.state == Leaving && (is.state == Erased || is.eraseAt.Equal(of.at)),
			of.state == Erased && is.state == Erased && is.erasedAt.Equal(of.at):
			continue
		case of.state == Leaving:
			put = requested(name, is.user, of.asked, of.at)
		}
		if is.state != Present {
			condition = is.asRead()
		}
		if err := a.Store.Put(ctx, table.Put{Item: put, If: condition}); err != nil {
			return fmt.Errorf("put the row of an account: %w", err)
		}
		a.Put++
	}
	return nil
}

// undo takes away the requests that the restored table has and that were taken back since.
func (a *again) undo(ctx context.Context) error {
	q := table.Query{Index: table.StateView, Partition: departure.StatePK()}
	for it, err := range table.Rows(ctx, a.Store, q, 0) {
		if err != nil {
			return fmt.Errorf("read the accounts that leave: %w", err)
		}
		name, ok := departure.Name(it.Key())
		if _, isListed := a.lists[name]; !ok || isListed || State(it.Str(attrState)) != Leaving {
			continue
		}
		is := readRow(name, it, a.Now())
		if err := a.Store.Delete(ctx, table.Delete{Key: it.Key(), If: is.asRead()}); err != nil {
			return fmt.Errorf("take back the erasure of an account: %w", err)
		}
		a.Undone++
	}
	return nil
}

// eraseAll erases the accounts that it found and whose instant has come, and gives the others' rows their users. An
// erasure under way, which the restored table may have, too, is taken over and comes to its end.
func (a *again) eraseAll(ctx context.Context) error {
	for _, name := range slices.Sorted(maps.Keys(a.users)) {
		done, err := a.eraseOne(ctx, name)
		if done.Account != "" {
			a.Accounts = append(a.Accounts, done)
		}
		switch {
		case errors.Is(err, ErrNotDue):
			a.Waits++
		case err != nil:
			return fmt.Errorf("account %.8s…: %w", name, err)
		default:
			a.Erased++
		}
	}
	return nil
}

// eraseOne erases one account. [ErrNotDue] says that it waits.
func (a *again) eraseOne(ctx context.Context, name string) (Erasure, error) {
	of, user := a.lists[name], a.users[name]
	is, err := findRow(ctx, a.Store, name, a.Now())
	switch {
	case err != nil:
		return Erasure{}, err
	case is.state == Erasing:
		return a.erase(ctx, name, true, a.strays[name])
	case of.state == Erased:
		return a.sweep(ctx, user, a.strays[name])
	}
	_, err = a.Store.Update(ctx, table.Update{
		Key: departure.StateKey(name), Set: item.Item{attrUser: item.String(user)},
		If: table.Exists(table.Equal(attrState, item.String(string(Leaving)))),
	})
	if failed := (*table.ConditionError)(nil); err != nil && !errors.As(err, &failed) {
		return Erasure{}, fmt.Errorf("name the user of an account that leaves: %w", err)
	}
	if a.Now().Before(of.at) {
		return Erasure{}, ErrNotDue
	}
	return a.erase(ctx, name, true, a.strays[name])
}
