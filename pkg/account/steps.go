package account

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"nexus/pkg/blob"
	"nexus/pkg/entity"
	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/port"
	"nexus/pkg/register"
	"nexus/pkg/table"
)

// do carries a step out and returns how much it removed.
func (w *worker) do(ctx context.Context, step int) (removed int, err error) {
	switch step {
	case 1:
		return w.outward(ctx)
	case 2:
		return w.schedules(ctx)
	case 3:
		return w.repositories(ctx)
	case 4:
		return w.objects(ctx)
	case 5:
		return w.parked(ctx)
	}
	return w.partition(ctx)
}

// outward ends what reaches outward: the calendar address.
func (w *worker) outward(ctx context.Context) (int, error) {
	it, err := table.Find(ctx, w.Store, entity.FeedKey(w.user))
	if err != nil || it == nil {
		return 0, err
	}
	return w.delete(ctx, it.Key())
}

// schedules deletes the user's schedules, by their names.
func (w *worker) schedules(ctx context.Context) (int, error) {
	removed := 0
	for _, prefix := range register.Prefixes(register.Scheduler, w.user, w.Digest) {
		var names []string
		err := w.Schedules.Each(ctx, prefix, func(name string) error {
			names = append(names, name)
			return nil
		})
		if err != nil {
			return removed, err
		}
		if w.isSurvey {
			removed += len(names)
			continue
		}
		for _, name := range names {
			if err := w.Scheduler.Delete(ctx, name); err != nil {
				return removed, err
			}
			removed++
			if err := w.stay(ctx); err != nil {
				return removed, err
			}
		}
	}
	return removed, nil
}

// repositories deletes the tree and the plans: the rows of a revision before what names them.
func (w *worker) repositories(ctx context.Context) (int, error) {
	removed, err := w.log(ctx, repository.UserPK(w.user), func(row repository.Row, key item.Key) (int, error) {
		if row.Kind == repository.DayRow {
			return w.plan(ctx, row.Repository)
		}
		return w.delete(ctx, key)
	})
	return removed, err
}

// plan deletes a plan: its revisions, and last its head with the row of its day.
func (w *worker) plan(ctx context.Context, at repository.Address) (int, error) {
	removed, err := w.log(ctx, at.LogPK(), func(row repository.Row, key item.Key) (int, error) {
		if row.Kind == repository.HeadRow {
			return 0, nil
		}
		return w.delete(ctx, key)
	})
	if err != nil {
		return removed, err
	}
	last, err := w.delete(ctx, at.HeadKey(), at.DayKey())
	return removed + last, err
}

// log calls end for each row of a partition with a log, behind the rows of the revision that it names. It begins with
// the last row: the heads are first, and so are the last to go.
func (w *worker) log(
	ctx context.Context, partition string, end func(repository.Row, item.Key) (int, error),
) (int, error) {
	removed := 0
	q := table.Query{Partition: partition, Descending: true}
	for it, err := range table.Rows(ctx, w.Store, q, 0) {
		if err != nil {
			return removed, fmt.Errorf("read the log of a repository: %w", err)
		}
		row, err := repository.ParseRow(it.Key())
		if err != nil {
			n, err := w.delete(ctx, it.Key()) // of no repository, and of this user
			if removed += n; err != nil {
				return removed, err
			}
			continue
		}
		if row.RevisionID != "" {
			n, err := w.rows(ctx, row.Repository.SnapshotPK(row.RevisionID), nil)
			if removed += n; err != nil {
				return removed, err
			}
		}
		n, err := end(row, it.Key())
		if removed += n; err != nil {
			return removed, err
		}
	}
	return removed, nil
}

// objects deletes the cold copies with all their versions, and whatever else the archive bucket has of the user.
func (w *worker) objects(ctx context.Context) (int, error) {
	return w.purge(ctx, w.Archive, register.Prefixes(register.Archive, w.user, w.Digest))
}

// parked deletes the user's parked records, and of those without an owner the ones that name the user.
func (w *worker) parked(ctx context.Context) (int, error) {
	removed, err := w.purge(ctx, w.Parking, register.Prefixes(register.Parking, w.user, w.Digest, w.Consumers...))
	if err != nil {
		return removed, err
	}
	unowned, err := w.unowned(ctx)
	if removed += unowned; err != nil || w.Forget == nil || w.isSurvey {
		return removed, err
	}
	forgotten, err := w.Forget(ctx, w.user)
	return removed + forgotten, err
}

func (w *worker) purge(ctx context.Context, from blob.Purger, folders []string) (int, error) {
	removed := 0
	for _, folder := range folders {
		n, err := w.purgeOne(ctx, from, folder)
		if removed += n; err != nil {
			return removed, err
		}
		if err := w.stay(ctx); err != nil {
			return removed, err
		}
	}
	return removed, nil
}

// purgeOne purges an object or a folder.
func (w *worker) purgeOne(ctx context.Context, from blob.Purger, name string) (found int, err error) {
	if !w.isSurvey {
		return from.Purge(ctx, name)
	}
	err = eachObject(ctx, from, name, func(object string) error {
		if blob.InPurge(name, object) {
			found++
		}
		return nil
	})
	return found, err
}

// ownedParts is the number of parts in the name of a parked object below its owner's folder. Without an owner, and in
// the form before, a name has fewer.
const ownedParts = 5

// unowned reads the parked objects that no folder gives to a user, and deletes those that name this one.
func (w *worker) unowned(ctx context.Context) (removed int, err error) {
	err = eachObject(ctx, w.Parking, parkedFolder, func(name string) error {
		if len(strings.Split(name, "/")) >= ownedParts {
			return nil
		}
		body, err := w.Parking.Get(ctx, name)
		if errors.Is(err, blob.ErrNotFound) || err == nil && !namesUser(body, w.user) {
			return w.stay(ctx)
		}
		if err != nil {
			return err
		}
		n, err := w.purgeOne(ctx, w.Parking, name)
		removed += n
		return err
	})
	return removed, err
}

// parkedFolder holds all parked objects.
const parkedFolder = "parked/"

// namesUser reports whether a text of JSON has a key of the user's rows, or the id as a whole string.
func namesUser(body []byte, user string) bool {
	for _, text := range []string{`"` + user, entity.UserPK(user), repository.UserPK(user)} {
		for rest := body; ; {
			_, after, found := bytes.Cut(rest, []byte(text))
			if !found {
				break
			}
			// The end of a string, also of one in a text of its own, or the next part of a key.
			if len(after) == 0 || strings.ContainsRune(`"\#`, rune(after[0])) {
				return true
			}
			rest = after
		}
	}
	return false
}

// partition deletes the user's rows, USER_META last: it is what makes an account one. Then the table's file forgets.
func (w *worker) partition(ctx context.Context) (int, error) {
	meta := entity.MetaKey(w.user)
	removed, err := w.rows(ctx, entity.UserPK(w.user), func(key item.Key) bool { return key == meta })
	if err != nil {
		return removed, err
	}
	it, err := table.Find(ctx, w.Store, meta)
	if err != nil {
		return removed, err
	}
	if it != nil {
		last, err := w.delete(ctx, meta)
		if removed += last; err != nil {
			return removed, err
		}
	}
	if w.Compact == nil || w.isSurvey {
		return removed, nil
	}
	return removed, w.Compact(ctx)
}

// chunk is the number of rows that are deleted at once. A transaction takes a hundred, and 4 MB of them.
const chunk = 25

// rows deletes all rows of a partition but those to leave.
func (w *worker) rows(ctx context.Context, partition string, leave func(item.Key) bool) (int, error) {
	removed := 0
	q := table.Query{Partition: partition, Limit: 40 * chunk}
	for {
		page, err := w.Store.Query(ctx, q)
		if err != nil {
			return removed, fmt.Errorf("read rows: %w", err)
		}
		var keys []item.Key
		for _, it := range page.Items {
			if leave == nil || !leave(it.Key()) {
				keys = append(keys, it.Key())
			}
		}
		for some := range slices.Chunk(keys, chunk) {
			n, err := w.delete(ctx, some...)
			if removed += n; err != nil {
				return removed, err
			}
		}
		if len(page.Next) == 0 {
			return removed, nil
		}
		q.Start = page.Next
	}
}

// delete deletes rows whatever they are, at the rate. Rows of another owner are a mistake of the program, which would
// break law E3.
func (w *worker) delete(ctx context.Context, keys ...item.Key) (int, error) {
	actions := make([]table.Action, len(keys))
	for i, key := range keys {
		if owner, ok := ownerOf(key.PK); !ok || owner != w.user {
			panic("account: the erasure of one user would delete a row of another")
		}
		actions[i] = table.Delete{Key: key}
	}
	if w.isSurvey {
		return len(keys), nil
	}
	if err := w.transact(ctx, actions); err != nil {
		return 0, fmt.Errorf("delete rows: %w", err)
	}
	if w.Rate > 0 {
		if err := w.Wait(ctx, time.Duration(len(keys))*time.Second/time.Duration(w.Rate)); err != nil {
			return len(keys), err
		}
	}
	return len(keys), w.stay(ctx)
}

// transact deletes in one transaction, or one by one what is too large for it. Another worker's transaction on one of
// the rows ends soon: the rows are tried again.
func (w *worker) transact(ctx context.Context, actions []table.Action) error {
	const attempts, pause = 5, 100 * time.Millisecond
	for attempt := 1; ; attempt++ {
		err := w.Store.Transact(ctx, actions...)
		switch {
		case errors.Is(err, port.ErrInvalid) && len(actions) > 1:
			for _, one := range actions {
				if err := w.transact(ctx, []table.Action{one}); err != nil {
					return err
				}
			}
			return nil
		case errors.Is(err, table.ErrConflict) && attempt < attempts:
			if err := w.Wait(ctx, pause<<attempt); err != nil {
				return err
			}
		default:
			return err
		}
	}
}

// ownerOf returns the user whose partition it is.
func ownerOf(pk string) (user string, ok bool) {
	if user, err := entity.ParseUserPK(pk); err == nil {
		return user, true
	}
	return repository.Owner(pk)
}
