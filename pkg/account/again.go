package account

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"nexus/pkg/blob"
	"nexus/pkg/entity/departure"
	"nexus/pkg/item"
	"nexus/pkg/register"
	"nexus/pkg/schedule"
	"nexus/pkg/table"
)

// notedFor is the age from which an object of the list of erased accounts counts as none: the instant decides and not
// the presence, for S3 ends objects late. A user who came back after [Remembered] is a stranger.
const notedFor = 38 * 24 * time.Hour

// Again is the summary of [Eraser.Again].
type Again struct {
	Rows   int64 `json:"rows"`   // read
	Erased int   `json:"erased"` // accounts
	Waits  int   `json:"waits"`  // accounts that are in the table, and whose erasure is not due
	Put    int   `json:"put"`    // rows of accounts, by the lists
	Undone int   `json:"undone"` // requests that were taken back since, and whose rows the table had again
}

// Again erases again, in a table that was restored to an instant, the accounts that were erased since: those of the
// list of erased ones, and those of the list of leaving ones whose instant has come. It first puts the rows of both
// lists, so that the fence holds as soon as the table is used. It then walks the table and the names of objects and
// schedules, because the lists know no user. It may be repeated, and finds stray rows in a table that was never
// restored.
func (e *Eraser) Again(ctx context.Context, walker table.Walker) (Again, error) {
	a := &again{Eraser: e, lists: map[string]listed{}, users: map[string]string{}}
	if err := e.service.checkPepper(ctx); err != nil {
		return a.Again, err
	}
	for _, step := range []func(context.Context) error{
		func(ctx context.Context) error { return a.list(ctx, ErasedPrefix, attrErasedAt) },
		func(ctx context.Context) error { return a.list(ctx, LeavingPrefix, attrEraseAt) },
		a.putPepper, a.putRows, a.undo,
		func(ctx context.Context) error { return a.walk(ctx, walker) },
		a.objects, a.schedules, a.eraseAll,
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
}

// listed holds what the lists say of an account.
type listed struct {
	state     State
	at, asked time.Time // ERASED since, or to be erased at
}

// list reads one of the lists.
func (a *again) list(ctx context.Context, prefix, what string) error {
	return eachObject(ctx, a.Archive, prefix, func(object string) error {
		body, err := a.Archive.Get(ctx, object)
		if errors.Is(err, blob.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
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
			return
		}
	}
	if _, known := a.lists[name]; !known {
		a.lists[name] = of
	}
}

// putPepper puts the check of the pepper, which the objects have confirmed.
func (a *again) putPepper(ctx context.Context) error {
	check := departure.PepperKey().Item()
	check[attrCheck] = item.String(a.Pepper.Check())
	err := a.Store.Put(ctx, table.Put{Item: check, If: table.OrNoRow(table.Equal(attrCheck, check[attrCheck]))})
	if failed := (*table.ConditionError)(nil); errors.As(err, &failed) {
		return ErrPepper
	}
	return err
}

// putRows puts the rows of the lists. That of an erased account replaces any but one of an erasure under way, which
// [again.eraseAll] ends.
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
		case of.state == Leaving && is.state != Present:
			continue
		case of.state == Leaving:
			put = requested(name, "", of.asked, of.at)
		case is.state != Present:
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

// walk finds the users whose rows are in the table.
func (a *again) walk(ctx context.Context, walker table.Walker) error {
	last := ""
	return walker.Walk(ctx, 0, 1, func(it item.Item) error {
		a.Rows++
		if pk := it.Str(item.AttrPK); pk != last {
			last = pk
			if user, ok := ownerOf(pk); ok {
				a.find(user)
			}
		}
		return nil
	})
}

// find notes a user that one of the lists has.
func (a *again) find(user string) {
	name := a.Pepper.Erasure(user)
	if _, is := a.lists[name]; is {
		a.users[name] = user
	}
}

// objects finds the users whose objects are there: the folders of users are in the folders that the register names for
// a user without a name.
func (a *again) objects(ctx context.Context) error {
	for _, of := range []struct {
		from  blob.Store
		place register.Place
	}{{a.Archive, register.Archive}, {a.Parking, register.Parking}} {
		for _, folder := range register.Prefixes(of.place, "", a.Digest, a.Consumers...) {
			folder = strings.TrimSuffix(folder, "/")
			err := eachObject(ctx, of.from, folder, func(name string) error {
				if user, _, ok := strings.Cut(strings.TrimPrefix(name, folder), "/"); ok {
					a.find(user)
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// schedules finds the users whose schedules are there. A name has a part of the user's digest alone, so each schedule
// is read.
func (a *again) schedules(ctx context.Context) error {
	for _, prefix := range register.Prefixes(register.Scheduler, "", func(string) string { return "" }) {
		var names []string
		err := a.Schedules.Each(ctx, strings.TrimSuffix(prefix, "-"), func(name string) error {
			names = append(names, name)
			return nil
		})
		if err != nil {
			return err
		}
		for _, name := range names {
			one, err := a.Schedules.Find(ctx, name)
			if errors.Is(err, schedule.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			var call struct {
				UserID string `json:"userId"`
			}
			if json.Unmarshal(one.Payload, &call) == nil && call.UserID != "" {
				a.find(call.UserID)
			}
		}
	}
	return nil
}

// eraseAll erases the accounts that it found and whose instant has come, and gives the others' rows their users. An
// erasure under way, which the restored table may have, too, is taken over and comes to its end.
func (a *again) eraseAll(ctx context.Context) error {
	for _, name := range slices.Sorted(maps.Keys(a.users)) {
		isErased, err := a.eraseOne(ctx, name)
		if err != nil {
			return fmt.Errorf("account %.8s…: %w", name, err)
		}
		if isErased {
			a.Erased++
		} else {
			a.Waits++
		}
	}
	return nil
}

func (a *again) eraseOne(ctx context.Context, name string) (isErased bool, err error) {
	of, user := a.lists[name], a.users[name]
	is, err := findRow(ctx, a.Store, name, a.Now())
	switch {
	case err != nil:
		return false, err
	case is.state == Erasing:
		return true, a.erase(ctx, name, true)
	case of.state == Erased:
		return true, a.Sweep(ctx, user)
	}
	_, err = a.Store.Update(ctx, table.Update{
		Key: departure.StateKey(name), Set: item.Item{attrUser: item.String(user)},
		If: table.Exists(table.Equal(attrState, item.String(string(Leaving)))),
	})
	if failed := (*table.ConditionError)(nil); err != nil && !errors.As(err, &failed) {
		return false, fmt.Errorf("name the user of an account that leaves: %w", err)
	}
	if a.Now().Before(of.at) {
		return false, nil
	}
	return true, a.erase(ctx, name, true)
}

// eachObject calls visit for the name of each object that begins with the prefix.
func eachObject(ctx context.Context, from blob.Store, prefix string, visit func(name string) error) error {
	for after := ""; ; {
		names, err := from.List(ctx, prefix, blob.MaxList, after)
		if err != nil {
			return err
		}
		for _, name := range names {
			after = name
			if err := visit(name); err != nil {
				return err
			}
		}
		if len(names) < blob.MaxList {
			return nil
		}
	}
}
