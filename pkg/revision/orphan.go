package revision

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

const (
	// Patience is how long a writer with an open draft is undisturbed: the longest time that a function may run. Earlier
	// removal would be as safe, but a slow writer would have to start again. It is also how long the rows of a pruned
	// revision stay. Earlier removal would show a reader a part of them.
	Patience = 15 * time.Minute
	// forgetAfter is how long a sealed draft stays. It lets a later run find rows that a writer sent before it was
	// stopped and that arrived after the removal.
	forgetAfter = 24 * time.Hour
	// maxOrphans bounds the result of one call of Orphans.
	maxOrphans = 1000
)

// ErrCommitted says that history names the revision to remove; nothing was removed.
var ErrCommitted = errors.New("the revision was committed")

// Orphan is a snapshot, or a part of one, that is no revision: it never became one, or was pruned.
type Orphan struct {
	Repository repository.Address
	RevID      string
	// StartedAt is when its writer started; of a pruned one when it was taken out of the log.
	StartedAt time.Time
	// Rows is the number of its rows.
	Rows int
	// Pruned says that it was a revision.
	Pruned bool
}

// Orphans returns the abandoned and the pruned snapshots of a user, oldest names first, up to a thousand: remove them
// and ask again. One Query, and one Count for each draft. It leaves out drafts whose writer, or whose readers, may
// still run, and removed ones whose draft only waits to be forgotten. It goes past a row that it cannot read, and
// returns the error of each beside the others.
func (p *Publisher) Orphans(ctx context.Context, user string) ([]Orphan, error) {
	if err := entity.CheckUserID(user); err != nil {
		return nil, fmt.Errorf("user: %w", err)
	}
	var found []Orphan
	var unread error
	err := p.eachDraft(ctx, user, func(d draft, err error) error {
		if err != nil {
			unread = errors.Join(unread, err)
			return nil
		}
		o, is, err := p.orphan(ctx, d)
		if is {
			found = append(found, o)
		}
		if len(found) == maxOrphans {
			return errEnough
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return found, unread
}

// errEnough ends a walk over drafts.
var errEnough = errors.New("enough")

// eachDraft calls visit for the drafts of a user, in the order of their names, or with the error of one that cannot be
// read. Any error of visit but errEnough is its own.
func (p *Publisher) eachDraft(ctx context.Context, user string, visit func(draft, error) error) error {
	q := table.Query{Partition: repository.UserPK(user), Range: table.Range{Prefix: repository.DraftPrefix()}}
	for {
		page, err := p.store.Query(ctx, q)
		if err != nil {
			return fmt.Errorf("read the drafts of %s: %w", repository.UserPK(user), err)
		}
		for _, row := range page.Items {
			switch err := visit(readDraft(row)); {
			case errors.Is(err, errEnough):
				return nil
			case err != nil:
				return err
			}
		}
		if len(page.Next) == 0 {
			return nil
		}
		q.Start = page.Next
	}
}

// orphan classifies one draft.
func (p *Publisher) orphan(ctx context.Context, d draft) (Orphan, bool, error) {
	age, sealed := p.now().Sub(d.startedAt), d.status == draftSealed
	if !sealed && age < Patience {
		return Orphan{}, false, nil
	}
	rows, err := p.store.Count(ctx, table.Query{Partition: d.at.SnapshotPK(d.revID)})
	if err != nil {
		return Orphan{}, false, fmt.Errorf("count revision %s of %s: %w", d.revID, d.at, err)
	}
	return d.orphan(rows), !sealed || rows > 0 || age >= forgetAfter, nil
}

// Stray classifies a row found by a walk over the whole table. It reports whether the row belongs to a snapshot that
// was never committed and that no draft announces. Such a snapshot can no longer be published, however young it is.
// Two Gets for a row of a snapshot, the draft before the log: a publication in between removes the draft and adds the
// log entry.
func (p *Publisher) Stray(ctx context.Context, key item.Key) (Orphan, bool, error) {
	row, err := repository.ParseRow(key)
	if err != nil || row.Kind != repository.SnapshotRow {
		return Orphan{}, false, nil //nolint:nilerr // no row of a snapshot, and so not a stray one
	}
	at, err := repository.RevisionTime(row.RevisionID)
	if err != nil {
		return Orphan{}, false, fmt.Errorf("snapshot of %s: %w", row.Repository, err)
	}
	for _, known := range []item.Key{row.Repository.DraftKey(row.RevisionID), row.Repository.LogKey(row.RevisionID)} {
		if found, err := table.Find(ctx, p.store, known); found != nil || err != nil {
			return Orphan{}, false, err
		}
	}
	return Orphan{Repository: row.Repository, RevID: row.RevisionID, StartedAt: at}, true, nil
}

// Remove removes an orphan's rows and returns their number. It may run beside the orphan's writer, which then starts
// again, and may be repeated. It refuses a committed revision with [ErrCommitted]. Of a pruned one it also deletes the
// draft: no row of it can arrive late.
func (p *Publisher) Remove(ctx context.Context, o Orphan) (int, error) {
	if err := o.Repository.Check(); err != nil {
		return 0, fmt.Errorf("address: %w", err)
	}
	if err := repository.CheckRevisionID(o.RevID); err != nil {
		return 0, fmt.Errorf("orphan: %w", err)
	}
	if o.Pruned {
		return p.clear(ctx, o.Repository, o.RevID, true)
	}
	return p.discard(ctx, o.Repository, o.RevID, p.now().Sub(o.StartedAt) >= forgetAfter)
}
