package plan

import (
	"context"
	"errors"
	"math"
	"time"

	"nexus/pkg/entity/repository"
	"nexus/pkg/revision"
)

// Prune removes older revisions of the day's plan: it sets the repositories and the receipt's request. The revision
// that the next day's plan names as rolled over stays. See [revision.Repository.Prune].
func (s *Service) Prune(ctx context.Context, user, date string, p revision.Pruning) (revision.Pruned, error) {
	at, err := repositoryOf(user, date)
	if err != nil {
		return revision.Pruned{}, err
	}
	p.Repository, p.Follower, p.Receipt.Request = at, followerOf(at), []any{"PrunePlan", date, p.Keep, p.DryRun}
	return s.plans.Prune(ctx, p)
}

// Delete removes the day's plan with its history. It is refused with a [*revision.NamedError] while the next day's plan
// names one of its revisions as rolled over. See [revision.Repository.Delete].
func (s *Service) Delete(ctx context.Context, user, date, idempotencyKey string) (revision.Pruned, error) {
	at, err := repositoryOf(user, date)
	if err != nil {
		return revision.Pruned{}, err
	}
	return s.plans.Delete(ctx, at, followerOf(at), revision.Receipt{
		Key: idempotencyKey, Request: []any{"DeletePlan", date},
	})
}

// followerOf returns the plan of the next day; the zero Address after the last day that there is.
func followerOf(at repository.Address) repository.Address {
	next, err := dayAfter(at)
	if err != nil {
		return repository.Address{}
	}
	return next
}

// PruneAll does a user's part of a job that runs from time to time: it removes the rows of what was pruned at least
// [revision.Patience] before. If the user keeps history for so many days only (the preference historyDays; 0 is for
// ever), it prunes the values tree and all plans up to that many days before the instant. It may be repeated and die
// anywhere. Of each plan it reads the head, the next day's head and the log. A plan of a release before whose day has
// no row is left out, until a verification has put the row.
func (s *Service) PruneAll(ctx context.Context, user string, historyDays int, at time.Time) (revision.Pruned, error) {
	if _, _, err := s.plans.Sweep(ctx, user, math.MaxInt); err != nil || historyDays <= 0 {
		return revision.Pruned{}, err
	}
	dates, err := s.plans.Days(ctx, user)
	if err != nil {
		return revision.Pruned{}, err
	}
	keep := revision.Pruning{Keep: revision.Keep{Since: at.AddDate(0, 0, -historyDays)}}
	done, err := unlessMissing(s.tree.Prune(ctx, user, keep))
	for _, date := range dates {
		if err != nil {
			return done, err
		}
		var pruned revision.Pruned
		pruned, err = unlessMissing(s.Prune(ctx, user, date, keep))
		done.Revisions, done.Rows = done.Revisions+pruned.Revisions, done.Rows+pruned.Rows
		done.More = done.More || pruned.More
	}
	return done, err
}

// unlessMissing takes a repository without a revision for one that has nothing to prune.
func unlessMissing(done revision.Pruned, err error) (revision.Pruned, error) {
	var missing *revision.NotFoundError
	if errors.As(err, &missing) {
		err = nil
	}
	return done, err
}
