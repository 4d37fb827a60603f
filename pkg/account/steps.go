package account

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"nexus/pkg/blob"
	"nexus/pkg/entity"
	"nexus/pkg/entity/device"
	"nexus/pkg/entity/outbox"
	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/register"
	"nexus/pkg/table"
)

// do carries a step out and returns how much it removed.
func (w *worker) do(ctx context.Context, step int) (removed Survey, err error) {
	switch step {
	case 1:
		removed.Rows, err = w.outward(ctx)
	case 2:
		removed.Schedules, err = w.schedules(ctx)
	case 3:
		removed.Repositories, err = w.repositories(ctx)
	case 4:
		removed.Objects, err = w.objects(ctx)
	case 5:
		removed.Parked, err = w.parked(ctx)
	default:
		if w.Forget != nil {
			if removed, err = w.Forget(ctx, w.user, w.isSurvey); err != nil {
				return removed, err
			}
		}
		removed.Rows, err = w.partition(ctx)
	}
	return removed, err
}

// outward ends what reaches outward: the calendar address, the devices on which reminders are told, and the webhooks
// with what is to be sent to them.
func (w *worker) outward(ctx context.Context) (int, error) {
	var keys []item.Key
	it, err := table.Find(ctx, w.Store, entity.FeedKey(w.user))
	if err != nil {
		return 0, err
	}
	if it != nil {
		keys = append(keys, it.Key())
	}
	for _, prefix := range []string{device.DevicePrefix(), entity.ItemPrefix(outbox.TypeWebhook), outbox.Outs()} {
		q := table.Query{Partition: entity.UserPK(w.user), Range: table.Range{Prefix: prefix}}
		for it, err := range table.Rows(ctx, w.Store, q, 0) {
			if err != nil {
				return 0, fmt.Errorf("read what reaches outward: %w", err)
			}
			keys = append(keys, it.Key())
		}
	}
	if len(keys) == 0 {
		return 0, nil
	}
	return w.delete(ctx, keys...)
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

// repositories deletes the tree and the plans: the rows of a revision before what names them. The strays come last:
// what is left there is named by nothing.
func (w *worker) repositories(ctx context.Context) (int, error) {
	removed, err := w.log(ctx, repository.UserPK(w.user), func(row repository.Row, key item.Key) (int, error) {
		if row.Kind == repository.DayRow {
			return w.plan(ctx, row.Repository)
		}
		return w.delete(ctx, key)
	})
	for _, partition := range w.strays {
		if err != nil {
			break
		}
		n := 0
		n, err = w.rows(ctx, partition, nil)
		removed += n
	}
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

// objects deletes the cold copies with all their versions, whatever else the archive bucket has of the user, and the
// snapshots.
func (w *worker) objects(ctx context.Context) (int, error) {
	removed, err := w.purge(ctx, w.Archive, register.Prefixes(register.Archive, w.user, w.Digest))
	if err != nil {
		return removed, err
	}
	more, err := w.purge(ctx, w.Snapshots, register.Prefixes(register.Snapshots, w.user, w.Digest))
	return removed + more, err
}

// parked deletes the user's parked records, and of those without an owner the ones that name the user.
func (w *worker) parked(ctx context.Context) (int, error) {
	removed, err := w.purge(ctx, w.Parking, register.Prefixes(register.Parking, w.user, w.Digest, w.Consumers...))
	if err != nil {
		return removed, err
	}
	unowned, err := w.unowned(ctx)
	return removed + unowned, err
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
