package account

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"nexus/pkg/blob"
	"nexus/pkg/entity"
	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/register"
	"nexus/pkg/schedule"
	"nexus/pkg/table"
)

// walk finds the users whose rows are in the table, and the partitions of their plans and snapshots.
func (a *again) walk(ctx context.Context, walker table.Walker) error {
	last, isUsers, old := "", false, (*past)(nil)
	return walker.Walk(ctx, 0, 1, func(it item.Item) error {
		a.Rows++
		if pk := it.Str(item.AttrPK); pk != last {
			last = pk
			isUsers, old = a.findPartition(pk)
		}
		if isUsers {
			a.see(it, old)
		}
		return nil
	})
}

// findPartition notes the partition of a user whom one of the lists has. It reports whether it is a user's, and what
// is known of one whose object is too old.
func (a *again) findPartition(pk string) (isUsers bool, old *past) {
	user, ok := OwnerOf(pk)
	if !ok {
		return false, nil
	}
	name := a.find(user)
	if name == "" {
		return true, a.past[a.Pepper.Erasure(user)]
	}
	if pk != entity.UserPK(user) && pk != repository.UserPK(user) {
		a.strays[name] = append(a.strays[name], pk)
	}
	return true, nil
}

// find notes a user that one of the lists has, and returns the account's name; empty for any other user.
func (a *again) find(user string) string {
	name := a.Pepper.Erasure(user)
	if _, is := a.lists[name]; !is {
		return ""
	}
	a.users[name] = user
	return name
}

// objects finds the users whose objects are there: the folders of users are in the folders that the register names for
// a user without a name.
func (a *again) objects(ctx context.Context) error {
	for _, of := range []struct {
		from  blob.Store
		place register.Place
	}{{a.Archive, register.Archive}, {a.Parking, register.Parking}, {a.Snapshots, register.Snapshots}} {
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

// eachNote calls visit for each object of one of the lists, with its content. One that ended since is left out.
func (e *Eraser) eachNote(ctx context.Context, list string, visit func(object string, body []byte) error) error {
	return eachObject(ctx, e.Archive, list, func(object string) error {
		body, err := e.Archive.Get(ctx, object)
		if errors.Is(err, blob.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		return visit(object, body)
	})
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
