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
	// removal would be as safe, but a slow writer would have to start again.
	Patience = 15 * time.Minute
	// forgetAfter is how long a sealed draft stays. It lets a later run find rows that a writer sent before it was
	// stopped and that arrived after the removal.
	forgetAfter = 24 * time.Hour
	// maxOrphans bounds the result of one call of Orphans.
	maxOrphans = 1000
)

// ErrCommitted says that history names the revision to remove; nothing was removed.
var ErrCommitted = errors.New("the revision was committed")

// Orphan is a snapshot, or a part of one, that never became a revision.
type Orphan struct {
	Repository repository.Address
	RevID      string
	// StartedAt is when its writer started.
	StartedAt time.Time
	// Rows is the number of its rows.
	Rows int
}

// Orphans returns the abandoned snapshots of a user, oldest names first, up to a thousand: remove them and ask again.
// One Query, and one Count for each draft. It leaves out drafts whose writer may still run, and removed ones whose
// draft only waits to be forgotten. It goes past a row that it cannot read, and returns the error of each beside the
// others.
func (p *Publisher) Orphans(ctx context.Context, user string) ([]Orphan, error) {
	if err := entity.CheckUserID(user); err != nil {
		return nil, fmt.Errorf("user: %w", err)
	}
	q := table.Query{Partition: repository.UserPK(user), Range: table.Range{Prefix: repository.DraftPrefix()}}
	var found []Orphan
	var unread error
	for {
		page, err := p.store.Query(ctx, q)
		if err != nil {
			return nil, fmt.Errorf("read the drafts of %s: %w", repository.UserPK(user), err)
		}
		for _, row := range page.Items {
			d, err := readDraft(row)
			if err != nil {
				unread = errors.Join(unread, err)
				continue
			}
			o, is, err := p.orphan(ctx, d)
			if err != nil {
				return nil, err
			}
			if is {
				found = append(found, o)
			}
			if len(found) == maxOrphans {
				return found, unread
			}
		}
		if len(page.Next) == 0 {
			return found, unread
		}
		q.Start = page.Next
	}
}

// orphan classifies one draft.
func (p *Publisher) orphan(ctx context.Context, d draft) (Orphan, bool, error) {
	age := p.now().Sub(d.startedAt)
	if !d.sealed && age < Patience {
		return Orphan{}, false, nil
	}
	rows, err := p.store.Count(ctx, table.Query{Partition: d.at.SnapshotPK(d.revID)})
	if err != nil {
		return Orphan{}, false, fmt.Errorf("count revision %s of %s: %w", d.revID, d.at, err)
	}
	o := Orphan{Repository: d.at, RevID: d.revID, StartedAt: d.startedAt, Rows: rows}
	return o, !d.sealed || rows > 0 || age >= forgetAfter, nil
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
// again, and may be repeated. It refuses a committed revision with [ErrCommitted].
func (p *Publisher) Remove(ctx context.Context, o Orphan) (int, error) {
	if err := o.Repository.Check(); err != nil {
		return 0, fmt.Errorf("address: %w", err)
	}
	if err := repository.CheckRevisionID(o.RevID); err != nil {
		return 0, fmt.Errorf("orphan: %w", err)
	}
	return p.discard(ctx, o.Repository, o.RevID, p.now().Sub(o.StartedAt) >= forgetAfter)
}
