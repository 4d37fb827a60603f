package verify

import (
	"context"
	"errors"
	"fmt"

	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/revision"
	"nexus/pkg/table"
)

// snapshots finds the rows of a user's repositories that never became a revision, or were pruned. A draft announces
// each, and its writer or its readers had enough time to finish. One read is therefore enough. A run names a thousand
// at most.
func (r *run) snapshots(ctx context.Context, user string) error {
	if r.Repositories == nil {
		return nil
	}
	r.repairing = r.o.Repair
	found, err := r.abandoned(ctx, user)
	if err != nil || !r.repairing || found == 0 {
		return err
	}
	r.repairing = false
	_, err = r.abandoned(ctx, user)
	return err
}

// abandoned names, and in a repair removes, the abandoned snapshots of a user.
func (r *run) abandoned(ctx context.Context, user string) (found int, err error) {
	orphans, err := r.Repositories.Orphans(ctx, user)
	if err := r.forgive(ctx, user, "drafts of repositories", err); err != nil {
		return 0, err
	}
	for _, o := range orphans {
		if err := r.orphan(ctx, o); err != nil {
			return 0, err
		}
	}
	return len(orphans), nil
}

func (r *run) orphan(ctx context.Context, o revision.Orphan) error {
	r.read(o.Rows)
	partition := o.Repository.SnapshotPK(o.RevID)
	form := "%d rows of a revision that was begun %s and never committed"
	if o.Pruned {
		form = "%d rows of a revision that was pruned %s"
	}
	err := r.found(Difference{
		Kind: Snapshot, User: o.Repository.User, Key: partition,
		Is: fmt.Sprintf(form, o.Rows, item.FormatInstant(o.StartedAt)), ShouldBe: "no rows",
	})
	if err != nil || !r.repairing {
		return err
	}
	if _, err = r.Repositories.Remove(ctx, o); errors.Is(err, revision.ErrCommitted) {
		err = nil // its writer was slow and not dead, and there is nothing to remove
	}
	return r.forgive(ctx, o.Repository.User, partition, err)
}

// repository checks a partition of a repository that a walk over the table found.
func (r *run) repository(ctx context.Context, key item.Key) error {
	row, err := repository.ParseRow(key)
	if err != nil {
		return nil //nolint:nilerr // a row of something that has nothing derived
	}
	if isAway, err := r.isAway(ctx, row.Repository.User, key.PK); isAway || err != nil {
		return err
	}
	switch {
	case row.Kind == repository.SnapshotRow:
		return r.unannounced(ctx, key)
	case key.PK == repository.UserPK(row.Repository.User):
		if err := r.heads(ctx, row.Repository.User, repository.Address{User: row.Repository.User}); err != nil {
			return err
		}
		return r.snapshots(ctx, row.Repository.User)
	}
	// The head of a plan, which is first in the partition of its log.
	if err := r.day(ctx, row); err != nil {
		return err
	}
	return r.heads(ctx, row.Repository.User, row.Repository)
}

// unannounced finds a snapshot that no draft announces and no log names. Only a walk over the table can find it.
func (r *run) unannounced(ctx context.Context, key item.Key) error {
	if r.Repositories == nil {
		return nil
	}
	o, is, err := r.Repositories.Stray(ctx, key)
	if err != nil || !is {
		return err
	}
	// The rows read by the walk may have been removed since, with their draft.
	if o.Rows, err = r.Store.Count(ctx, table.Query{Partition: key.PK}); err != nil || o.Rows == 0 {
		return err
	}
	r.repairing = r.o.Repair
	if err := r.orphan(ctx, o); err != nil || !r.repairing {
		return err
	}
	r.repairing = false
	if o.Rows, err = r.Store.Count(ctx, table.Query{Partition: key.PK}); err != nil || o.Rows == 0 {
		return err
	}
	return r.orphan(ctx, o)
}
