package revision

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/entity/repository"
	"nexus/pkg/idempotency"
	"nexus/pkg/table"
)

const (
	// pruneBatch is the number of revisions that one transaction takes out of the log: two actions each, beside the head,
	// the check of the repository that may name one of them, and the receipt.
	pruneBatch = (table.MaxActions - 3) / 2
	// MaxPruned bounds the revisions that one call of Prune removes.
	MaxPruned = 1000
)

// ErrKeep says that a line is none: neither a number of revisions from 1, nor an instant, or both.
var ErrKeep = errors.New("keep the last revisions, 1 at least, or those since an instant")

// Keep is the line above which revisions stay. Exactly one of its members is set.
type Keep struct {
	// Last is how many of the newest revisions stay, 1 at least.
	Last int
	// Since is the instant from which on AsOf answers as before: the revision of its second stays, and all later ones.
	Since time.Time
}

func (k Keep) check() error {
	if k.Last < 0 || (k.Last > 0) != k.Since.IsZero() {
		return ErrKeep
	}
	return nil
}

// Pruning is the removal of a history's older part.
type Pruning struct {
	Repository repository.Address
	// Follower is the repository whose head may name a revision of this one as rolled over; the zero Address for none.
	Follower repository.Address
	Keep     Keep
	// DryRun counts, and removes nothing.
	DryRun bool
	// Sweep is the number of rows after which the pruning, unless it is a dry run, no longer goes on removing rows of
	// earlier ones; see [Publisher.Sweep].
	Sweep   int
	Receipt Receipt
}

// Pruned counts what a pruning removed, or in a dry run would remove.
type Pruned struct {
	// Revisions is the number of revisions that are no longer in the log.
	Revisions int
	// Rows is the number of rows in their snapshots, which [Publisher.Sweep] removes once [Patience] has passed.
	Rows int
	// Removed is the number of rows of earlier prunings that were removed before.
	Removed int
	// More says that older revisions than the line are left, because a call removes at most [MaxPruned].
	More bool
	// Replayed says that the request had been carried out before under the same idempotency key.
	Replayed bool
}

func (p *Pruned) add(commits []Commit) {
	p.Revisions += len(commits)
	for _, c := range commits {
		p.Rows += c.Rows
	}
}

// with returns what it is after more commits were removed.
func (p Pruned) with(commits []Commit) Pruned {
	p.add(commits)
	return p
}

// Prune removes the revisions below a line from the log, oldest first. It keeps the head, and the revision that the
// follower's head names. A transaction takes up to 48 entries out of the log. For each it puts a draft in the state
// PRUNED, and it records in the head where the unbroken part of the history now begins. It requires that the head and
// the name in the follower's are as they were read. So a commit or a rollover in between makes Prune read again.
//
// The rows of the snapshots stay for [Patience]: a reader that found its revision in the log reads it whole. A process
// that dies leaves a shorter history, and drafts that announce the rows that are left. Repeating it goes on from
// there. It reads two heads and the log. Errors: [ErrKeep], a [*NotFoundError] of a repository without a revision,
// [idempotency.ErrKey], [idempotency.ErrKeyReused], and those of the store.
//
// The last transaction puts the receipt. So a repetition goes on with a pruning that was not answered, and never
// removes what was committed after one that was.
func (r *Repository[S]) Prune(ctx context.Context, p Pruning) (Pruned, error) {
	if err := p.Keep.check(); err != nil {
		return Pruned{}, err
	}
	return r.removeOnce(ctx, p.Repository.User, p.Receipt, func(done *Pruned, receipt *idempotency.Receipt) (err error) {
		if p.Sweep > 0 && !p.DryRun {
			if done.Removed, _, err = r.Sweep(ctx, p.Repository.User, p.Sweep); err != nil {
				return err
			}
		}
		return r.shorten(ctx, p.Repository, p.Follower, receipt, done, func(line *line) error {
			below := line.below(p.Keep)
			if p.DryRun {
				done.Revisions, done.Rows = 0, 0
				done.add(below)
				return r.takeOut(ctx, line, done, nil, receipt)
			}
			if room := MaxPruned - done.Revisions; len(below) > room {
				below, done.More = below[:room], true
			}
			return r.takeOut(ctx, line, done, below, receipt)
		})
	})
}

// removeOnce removes a part of a history under a receipt.
func (r *Repository[S]) removeOnce(
	ctx context.Context, user string, receipt Receipt, remove func(*Pruned, *idempotency.Receipt) error,
) (done Pruned, err error) {
	before, err := r.once(ctx, user, receipt, func(receipt *idempotency.Receipt) error { return remove(&done, receipt) })
	if before != nil {
		return prunedBefore(before), nil
	}
	return done, err
}

// Delete removes a repository with its whole history. It refuses with [*NamedError] while the follower's head names
// one of its revisions. The last transaction removes the head together with its log entry and the row of the day, if
// the head is as it was read. So a commit in between keeps the repository, and one after it begins a new history.
//
// It removes at most [MaxPruned] older revisions. If there are more, and in the second of the head, and while the head
// is ahead of the clock, it returns an [*EarlyError]. Repeating it goes on from there. The last transaction also puts
// the receipt: a repetition after it never removes the new history.
func (r *Repository[S]) Delete(
	ctx context.Context, at, follower repository.Address, receipt Receipt,
) (Pruned, error) {
	return r.removeOnce(ctx, at.User, receipt, func(done *Pruned, receipt *idempotency.Receipt) error {
		return r.shorten(ctx, at, follower, receipt, done, func(line *line) error {
			older := line.below(Keep{Last: 1})
			switch {
			case line.names():
				return &NamedError{at, follower}
			case !r.When(Head{}).After(line.head.RevTs):
				return &EarlyError{at, line.head.RevTs.Add(time.Second).Sub(r.now())}
			}
			room := MaxPruned - done.Revisions
			if err := r.takeOut(ctx, line, done, older[:min(room, len(older))], nil); err != nil {
				return err
			}
			if len(older) > room {
				return &EarlyError{Repository: at}
			}
			return r.takeHead(ctx, line, done, receipt)
		})
	})
}

// shorten reads a repository's history and has it changed, and starts again if another writer was in between. If the
// outcome of a transaction is unknown, the receipt or the log read next tells it.
func (r *Repository[S]) shorten(
	ctx context.Context, at, follower repository.Address, receipt *idempotency.Receipt, done *Pruned,
	change func(*line) error,
) error {
	var tried line
	for attempt := range maxAttempts {
		if attempt > 0 {
			if err := receipt.Find(ctx, r.store, r.now()); err != nil {
				return err
			}
		}
		line, err := r.readLine(ctx, at, follower)
		if err != nil {
			return err
		}
		gone := slices.DeleteFunc(tried.batch, line.has)
		done.add(gone)
		switch {
		case tried.whole && len(gone) > 0:
			return nil // a head that is there now is that of a new history
		case line.head.RevID == "":
			return &NotFoundError{Repository: at}
		}
		if err = change(&line); err == nil {
			return nil
		}
		tried = line
		var failed *table.ConditionError
		var early *EarlyError
		switch {
		case errors.As(err, &early):
			return err
		case errors.Is(err, table.ErrUnavailable):
		case errors.As(err, &failed), errors.Is(err, table.ErrConflict):
			tried.batch = nil
		default:
			return fmt.Errorf("prune %s: %w", at, err)
		}
		if ctx.Err() != nil {
			break
		}
	}
	return fmt.Errorf("prune %s: given up after %d attempts: %w", at, maxAttempts, table.ErrConflict)
}

// Sweep removes the rows of a user's pruned revisions whose [Patience] has passed, oldest names first. It stops after
// the revision with which it has removed so many rows, and reports whether there may be more. One Query of the drafts,
// and for each due one Get, one Query, and a transaction for each hundred rows. It may be repeated, and run beside
// anything.
func (p *Publisher) Sweep(ctx context.Context, user string, most int) (removed int, more bool, err error) {
	if err := entity.CheckUserID(user); err != nil {
		return 0, false, fmt.Errorf("user: %w", err)
	}
	var unread error
	err = p.eachDraft(ctx, user, func(d draft, err error) error {
		switch {
		case err != nil:
			unread = errors.Join(unread, err)
			return nil
		case d.status != draftPruned || p.now().Sub(d.startedAt) < Patience:
			return nil
		case removed >= most:
			more = true
			return errEnough
		}
		n, err := p.Remove(ctx, d.orphan(0))
		removed += n
		return err
	})
	if err == nil {
		err = unread
	}
	return removed, more, err
}
