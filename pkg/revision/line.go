package revision

import (
	"context"
	"slices"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/entity/repository"
	"nexus/pkg/idempotency"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// line is a repository's history as it was read, from which older revisions are to be taken out.
type line struct {
	at   repository.Address
	head Head
	// follower is the repository whose head may name a revision of this one; the zero Address for none.
	follower repository.Address
	// named is that revision, and follows says that the follower has a head.
	named   string
	follows bool
	log     []Commit // oldest first
	// batch holds the entries that the last transaction tried to take out, and whole says that it removed the head, too.
	batch []Commit
	whole bool
}

// readLine reads the history up to the head: two Gets, and the log in as many pages as the store returns. The log is
// read last, so it has every entry up to the head.
func (r *Repository[S]) readLine(ctx context.Context, at, follower repository.Address) (line, error) {
	l := line{at: at, follower: follower}
	if follower != (repository.Address{}) {
		head, err := r.Head(ctx, follower)
		if err != nil {
			return l, err
		}
		l.named, l.follows = head.RolledFromRevID, head.RevID != ""
	}
	var err error
	if l.head, err = r.Head(ctx, at); err != nil {
		return l, err
	}
	rows, err := r.rows(ctx, table.Query{Partition: at.LogPK(), Range: table.Range{Prefix: at.LogPrefix()}})
	if err != nil {
		return l, err
	}
	for _, row := range rows {
		c, err := readCommit(row, r.shape.SourceAttr)
		if err != nil {
			return l, err
		}
		if l.log = append(l.log, c); c.RevID == l.head.RevID {
			break // what follows was committed since
		}
	}
	return l, nil
}

func (l *line) has(c Commit) bool {
	return slices.ContainsFunc(l.log, func(one Commit) bool { return one.RevID == c.RevID })
}

// names reports whether the follower's head names a revision of the log.
func (l *line) names() bool { return l.named != "" && l.has(Commit{RevID: l.named}) }

// below returns the entries that are to go, oldest first. The newest one never is.
func (l *line) below(k Keep) []Commit {
	first := max(len(l.log)-k.Last, 0)
	if k.Last == 0 {
		first = 0
		for i, c := range l.log {
			if !c.CommittedAt.After(k.Since.UTC().Truncate(time.Second)) {
				first = i
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(l.log[:first]), func(c Commit) bool { return c.RevID == l.named })
}

// oldest returns the entry with which the unbroken part of a log begins: each one after it has the one before it for
// its parent.
func oldest(log []Commit) Commit {
	i := len(log) - 1
	for i > 0 && log[i].ParentRevID == log[i-1].RevID {
		i--
	}
	return log[i]
}

// takeOut removes entries from the log, some in each transaction. The last one puts the receipt, if there is one.
func (p *Publisher) takeOut(
	ctx context.Context, l *line, done *Pruned, commits []Commit, receipt *idempotency.Receipt,
) error {
	if len(commits) == 0 && receipt != nil {
		return p.store.Put(ctx, rememberPruned(receipt, *done, p.now()))
	}
	for len(commits) > 0 {
		batch := commits[:min(pruneBatch, len(commits))]
		commits = commits[len(batch):]
		l.batch = slices.Clone(batch)
		rest := slices.DeleteFunc(slices.Clone(l.log), func(c Commit) bool {
			return slices.ContainsFunc(batch, func(one Commit) bool { return one.RevID == c.RevID })
		})
		next := l.head
		next.OldestRevID, next.PrunedUntil = oldest(rest).RevID, oldest(rest).CommittedAt
		actions := append(p.prune(l, batch), table.Update{Key: l.at.HeadKey(), If: l.head.asRead(), Set: item.Item{
			attrOldestRevID: item.String(next.OldestRevID),
			attrPrunedUntil: item.String(item.FormatInstant(next.PrunedUntil)),
		}})
		if len(commits) == 0 && receipt != nil {
			actions = append(actions, rememberPruned(receipt, done.with(batch), p.now()))
		}
		if err := p.store.Transact(ctx, actions...); err != nil {
			return err
		}
		done.add(batch)
		l.head, l.log, l.batch = next, rest, nil
	}
	return nil
}

// takeHead removes the head and its entry, the last one, and puts the receipt, if there is one.
func (p *Publisher) takeHead(ctx context.Context, l *line, done *Pruned, receipt *idempotency.Receipt) error {
	l.batch, l.whole = slices.Clone(l.log), true
	actions := append(p.prune(l, l.batch), table.Delete{Key: l.at.HeadKey(), If: l.head.asRead()})
	if l.at.Date != "" {
		actions = append(actions, table.Delete{Key: l.at.DayKey()})
	}
	if receipt != nil {
		actions = append(actions, rememberPruned(receipt, done.with(l.batch), p.now()))
	}
	if err := p.store.Transact(ctx, actions...); err != nil {
		return err
	}
	done.add(l.batch)
	return nil
}

// prune returns the actions that take entries out of the log, and the check that the follower names none of them.
func (p *Publisher) prune(l *line, batch []Commit) []table.Action {
	var actions []table.Action
	for _, c := range batch {
		row := l.at.DraftKey(c.RevID).Item()
		row[entity.AttrStatus] = item.String(draftPruned)
		row[attrStartedAt] = item.String(item.FormatInstant(p.now()))
		row[attrRows] = item.Int(int64(c.Rows))
		actions = append(actions,
			table.Delete{Key: l.at.LogKey(c.RevID), If: table.Exists()}, table.Put{Item: row, If: table.NotExists()})
	}
	if l.follower == (repository.Address{}) {
		return actions
	}
	check := table.Check{Key: l.follower.HeadKey(), If: table.NotExists()}
	if l.follows {
		check.If = table.Exists(isOrMissing(attrRolledFrom, l.named))
	}
	return append(actions, check)
}

// asRead returns the condition that the head still names its revision, and that no other call has pruned since.
func (h Head) asRead() table.Condition {
	return table.Exists(table.Equal(attrHeadRevID, item.String(h.RevID)), isOrMissing(attrOldestRevID, h.OldestRevID))
}

// isOrMissing tests for a text; the empty one stands for no attribute.
func isOrMissing(attr, text string) table.Test {
	if text == "" {
		return table.Missing(attr)
	}
	return table.Equal(attr, item.String(text))
}
