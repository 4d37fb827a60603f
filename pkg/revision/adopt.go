package revision

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"nexus/pkg/entity"
	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// Log returns the entries of a repository's log, oldest first. One Query for each page of 1 MB. The error comes last.
func (r *Repository[S]) Log(ctx context.Context, at repository.Address) iter.Seq2[Commit, error] {
	return func(yield func(Commit, error) bool) {
		if err := at.Check(); err != nil {
			yield(Commit{}, fmt.Errorf("address: %w", err))
			return
		}
		q := table.Query{Partition: at.LogPK(), Range: table.Range{Prefix: at.LogPrefix()}}
		for row, err := range table.Rows(ctx, r.store, q, 0) {
			var commit Commit
			if err == nil {
				commit, err = readCommit(row, r.shape.SourceAttr)
			}
			if err != nil {
				err = fmt.Errorf("read the log of %s: %w", at, err)
			}
			if !yield(commit, err) || err != nil && !errors.Is(err, ErrBroken) {
				return
			}
		}
	}
}

// Adopt puts a revision that was made elsewhere into a repository without a head: its rows and its entry in the log, in
// one transaction with the caller's own actions. The caller has checked the state; Adopt counts its rows. No reader
// sees the revision before [Publisher.AdoptHead].
//
// Rows that do not fit into the transaction are written before it, announced by a draft as for any commit. To repeat
// Adopt is safe: it writes the same rows. A [*table.ConditionError] counts from the caller's actions. An error that
// wraps [table.ErrConflict] says that a repair has taken the rows of an attempt for abandoned: they are free again a
// day later.
func (r *Repository[S]) Adopt(
	ctx context.Context, at repository.Address, c Commit, state S, own ...table.Action,
) error {
	rows := r.shape.Rows(at, c.RevID, state)
	c.Rows = len(rows)
	one := &Prepared{at: at, commit: c, sourceAttr: r.shape.SourceAttr, rows: rows}
	actions := append(slices.Clip(own), table.Put{Item: c.row(at, r.shape.SourceAttr), If: table.NotExists()})
	if len(actions)+len(rows) <= r.inline {
		for _, row := range rows {
			actions = append(actions, table.Put{Item: row})
		}
		return r.store.Transact(ctx, actions...)
	}
	if err := r.announceAgain(ctx, one); err != nil {
		return err
	}
	if err := r.Publisher.load(ctx, rows); err != nil {
		return fmt.Errorf("write revision %s of %s: %w", c.RevID, at, err)
	}
	return r.store.Transact(ctx, append(actions, one.takeDraft())...)
}

// announceAgain puts the draft of an adopted revision, or takes up the one of an attempt that crashed.
func (p *Publisher) announceAgain(ctx context.Context, one *Prepared) error {
	err := p.announce(ctx, one)
	var failed *table.ConditionError
	if !errors.As(err, &failed) {
		return err
	}
	_, err = p.store.Update(ctx, table.Update{
		Key: one.at.DraftKey(one.commit.RevID),
		Set: item.Item{attrStartedAt: item.String(item.FormatInstant(p.now()))},
		If:  table.Exists(table.Equal(entity.AttrStatus, item.String(draftOpen))),
	})
	if errors.As(err, &failed) {
		return fmt.Errorf("revision %s of %s: %w", one.commit.RevID, one.at, errSealed)
	}
	return err
}

// Named is a revision of another repository that a head names; the zero Named for none. It is in the log there.
type Named struct {
	Repository repository.Address
	RevID      string
}

// AdoptHead makes an adopted revision the present one of a repository without a head, in one transaction with the
// caller's own actions. Oldest is the revision with which the unbroken part of a history begins that was pruned
// elsewhere; nil for one that was not. A [*table.ConditionError] counts from those; the action behind
// them is the head's.
func (p *Publisher) AdoptHead(
	ctx context.Context, at repository.Address, c Commit, rolledFrom Named, oldest *Commit, own ...table.Action,
) error {
	one := &Prepared{at: at, commit: c, rolledFrom: rolledFrom.RevID}
	head := one.moveHead()
	if oldest != nil {
		head.Set[attrOldestRevID] = item.String(oldest.RevID)
		head.Set[attrPrunedUntil] = item.String(item.FormatInstant(oldest.CommittedAt))
	}
	actions := append(slices.Clip(own), head)
	if rolledFrom.RevID != "" {
		named := rolledFrom.Repository.LogKey(rolledFrom.RevID)
		actions = append(actions, table.Check{Key: named, If: table.Exists()})
	}
	if one.beginsDay() {
		actions = append(actions, table.Put{Item: at.DayKey().Item()})
	}
	return p.store.Transact(ctx, actions...)
}
