package revision_test

import (
	"time"

	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/revision"
)

// uncommitted returns the snapshots in the table that are of no revision: a key of each, by their partitions.
func (w *fixture) uncommitted() map[string]item.Key {
	found := map[string]item.Key{}
	w.NoError(w.store.Walk(w.ctx, 0, 1, func(row item.Item) error {
		parsed, err := repository.ParseRow(row.Key())
		if err == nil && parsed.Kind == repository.SnapshotRow && !w.isPublished(parsed.Repository, parsed.RevisionID) {
			found[row.Key().PK] = row.Key()
		}
		return nil
	}))
	return found
}

func (w *fixture) isPublished(at repository.Address, revID string) bool {
	_, ok := w.was[at.LogKey(revID)]
	return ok
}

// checkOrphans requires that all abandoned snapshots are found, that none is of an answered request, that nothing else
// is found, and that they can be removed. It returns how many there were, and how many of them no draft announced.
func (w *fixture) checkOrphans() (orphans, strays int) {
	p := w.process(w.store).publisher
	w.now = w.now.Add(revision.Patience)
	lost := w.uncommitted()
	found := map[string]bool{}
	named, err := p.Orphans(w.ctx, user)
	w.NoError(err)
	for pk, key := range lost {
		stray, is, err := p.Stray(w.ctx, key)
		w.NoError(err)
		if is {
			named = append(named, stray)
			strays++
			found[pk] = true
		}
	}
	winners := map[string]bool{}
	for _, one := range w.acked {
		winners[one.revID] = true
	}
	for _, o := range named {
		found[o.Repository.SnapshotPK(o.RevID)] = true
		w.False(w.isPublished(o.Repository, o.RevID), "an orphan is no revision")
		w.False(winners[o.RevID], "an orphan is a loser's")
		_, err := p.Remove(w.ctx, o)
		w.NoError(err)
	}
	for pk := range lost {
		w.True(found[pk], "%s is abandoned and not found", pk)
	}
	w.Empty(w.uncommitted())
	w.checkForgotten(p)
	w.checkSafe(p)
	return len(lost), strays
}

// checkForgotten requires that no draft is left for ever.
func (w *fixture) checkForgotten(p *revision.Publisher) {
	w.now = w.now.Add(48 * time.Hour)
	orphans, err := p.Orphans(w.ctx, user)
	w.NoError(err)
	for _, o := range orphans {
		_, err := p.Remove(w.ctx, o)
		w.NoError(err)
	}
	w.Empty(w.partition(repository.UserPK(user), repository.DraftPrefix()))
}

// checkSafe requires that no revision can be taken for an orphan, nor be removed as one.
func (w *fixture) checkSafe(p *revision.Publisher) {
	for key := range w.was {
		row, err := repository.ParseRow(key)
		w.NoError(err)
		for _, one := range w.snapshot(row.Repository, row.RevisionID)[:min(1, w.was[key].rows)] {
			_, is, err := p.Stray(w.ctx, one.Key())
			w.NoError(err)
			w.False(is, "a revision's row is no stray")
		}
		_, err = p.Remove(w.ctx, revision.Orphan{Repository: row.Repository, RevID: row.RevisionID})
		w.ErrorIs(err, revision.ErrCommitted)
	}
}
