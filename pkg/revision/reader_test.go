package revision_test

import (
	"errors"
	"slices"

	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/revision"
)

// readWhole is a read of any kind, while others write between its calls: what it finds is a revision that was
// published, whole.
func (w *fixture) readWhole(p process) error {
	w.looks++
	var err error
	switch w.luck.IntN(5) {
	case 0:
		base, found := p.values.Current(w.ctx, user)
		w.seen(tree, base.Head.RevID, len(base.State.Nodes)+len(base.State.Edges), found)
		err = found
	case 1:
		base, found := p.plans.Current(w.ctx, user, day)
		w.seen(today, base.Head.RevID, len(base.State.Todos)+len(base.State.Blocks), found)
		err = found
	case 2:
		rev, found := p.values.AsOf(w.ctx, user, w.now)
		w.seen(tree, rev.RevID, len(rev.State.Nodes)+len(rev.State.Edges), found)
		err = found
	case 3:
		rev, found := p.values.Revision(w.ctx, user, w.anyRevision())
		w.seen(tree, rev.RevID, len(rev.State.Nodes)+len(rev.State.Edges), found)
		err = found
	default:
		page, found := p.values.History(w.ctx, user, 3, "")
		for _, c := range page.Commits {
			w.seen(tree, c.RevID, c.Rows, nil)
		}
		err = found
	}
	var missing *revision.NotFoundError
	if errors.As(err, &missing) {
		return nil
	}
	return err
}

// seen holds what was read against what was published.
func (w *fixture) seen(at repository.Address, revID string, rows int, err error) {
	if err != nil {
		return
	}
	was, ok := w.was[at.LogKey(revID)]
	if !ok || was.rows != rows {
		w.broken = append(w.broken, revID+" was read and is not what was published")
	}
}

// anyRevision is the id of some snapshot of which there are rows, published or not.
func (w *fixture) anyRevision() string {
	ids := []string{repository.NewRevisionID(w.now, w.newID())}
	for pk := range w.uncommitted() {
		row, err := repository.ParseRow(item.Key{PK: pk, SK: "any"})
		if err == nil && row.Repository == tree {
			ids = append(ids, row.RevisionID)
		}
	}
	for key := range w.was {
		if row, err := repository.ParseRow(key); err == nil && row.Repository == tree {
			ids = append(ids, row.RevisionID)
		}
	}
	slices.Sort(ids)
	return ids[w.luck.IntN(len(ids))]
}
