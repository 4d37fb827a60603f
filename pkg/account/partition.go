package account

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/port"
	"nexus/pkg/table"
)

// partition deletes the user's rows, USER_META last: it is what makes an account one.
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
		removed += last
		return removed, err
	}
	return removed, nil
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
		if owner, ok := OwnerOf(key.PK); !ok || owner != w.user {
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

// OwnerOf returns the user whose partition it is.
func OwnerOf(pk string) (user string, ok bool) {
	if user, err := entity.ParseUserPK(pk); err == nil {
		return user, true
	}
	return repository.Owner(pk)
}
