package account

import (
	"context"
	"strings"
	"time"

	"nexus/pkg/entity/departure"
	"nexus/pkg/table"
)

// endRequests deletes the objects of requests whose rows a crash kept from being put, or took away alone. One of
// less than an hour ago may be that of a request under way.
func (e *Eraser) endRequests(ctx context.Context) error {
	return e.eachNote(ctx, LeavingPrefix, func(object string, body []byte) error {
		return e.endRequest(ctx, object, body)
	})
}

// EndNotes removes the objects of accounts that were erased [Remembered] ago, and returns their number. It is for a
// store of objects without rules that end them.
func (e *Eraser) EndNotes(ctx context.Context) (removed int, err error) {
	err = e.eachErased(ctx, func(name string, at time.Time) error {
		if e.Now().Before(at.Add(Remembered)) {
			return nil
		}
		n, err := e.Archive.Purge(ctx, ErasedPrefix+name)
		removed += n
		return err
	})
	return removed, err
}

func (e *Eraser) endRequest(ctx context.Context, object string, body []byte) error {
	name := strings.TrimPrefix(object, LeavingPrefix)
	asked, err := readNote(body, attrAskedAt)
	if err != nil || e.Now().Before(asked.Add(time.Hour)) {
		return nil //nolint:nilerr // an object that no program has put is left to the operator
	}
	it, err := table.Find(ctx, e.Store, departure.StateKey(name))
	if err != nil || it != nil {
		return err
	}
	_, err = e.Archive.Purge(ctx, object)
	return err
}
