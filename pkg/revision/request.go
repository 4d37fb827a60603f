package revision

import (
	"context"
	"errors"
	"time"

	"nexus/pkg/entity/repository"
)

// Request describes a new revision on a parent that the client has seen.
type Request[S any] struct {
	Repository repository.Address
	// ParentRevID is the head that the new revision follows; empty for the first revision.
	ParentRevID string
	Message     string
	Source      string
	// OriginRevID is the revision that a rollback restores.
	OriginRevID string
	Receipt     Receipt
	// Build makes the new state from the parent's, as of the new revision's time, or returns what is wrong with it. It
	// may be called several times and must change nothing but its result.
	Build func(ctx context.Context, parent S, at time.Time) (S, error)
}

// Result is the revision that a write made.
type Result[S any] struct {
	Revision[S]
	// Parent is the state that it follows; the zero state of a replayed write.
	Parent S
	// Replayed says that the write had been carried out before under the same idempotency key.
	Replayed bool
}

// Commit makes a revision. Reads: one Get and one Query, one Get more with an idempotency key. Errors are those of
// [Publisher.Write] and of Build; a parent that is not the head is a [*ConflictError], and then nothing was written.
func (r *Repository[S]) Commit(ctx context.Context, req Request[S]) (Result[S], error) {
	if err := req.Repository.Check(); err != nil {
		return Result[S]{}, err
	}
	var (
		made Revision[S]
		base Base[S]
		next *Prepared
	)
	revIDs, replayed, err := r.Write(ctx, req.Repository.User, req.Receipt, true,
		func(ctx context.Context) ([]*Prepared, error) {
			head, err := r.Head(ctx, req.Repository)
			if err != nil {
				return nil, err
			}
			if head.RevID != req.ParentRevID {
				return nil, &ConflictError{req.Repository, head}
			}
			base, err = r.openAt(ctx, req.Repository, head)
			if err != nil {
				return nil, err
			}
			at := r.When(head)
			made.State, err = req.Build(ctx, base.State, at)
			if err != nil {
				return nil, err
			}
			next = r.Prepare(base, at, Change[S]{
				Message: req.Message, Source: req.Source, OriginRevID: req.OriginRevID, State: made.State,
			})
			return []*Prepared{next}, nil
		})
	if err != nil {
		return Result[S]{}, err
	}
	if replayed {
		made, err = r.Revision(ctx, req.Repository, revIDs[0])
		return Result[S]{Revision: made, Replayed: true}, PrunedSince(err, revIDs[0])
	}
	made.Commit = next.commit
	return Result[S]{Revision: made, Parent: base.State}, nil
}

// PrunedSince interprets the error of a read of what a receipt names: a revision that is missing now was there.
func PrunedSince(err error, revID string) error {
	var missing *NotFoundError
	if errors.As(err, &missing) {
		return &PrunedError{Repository: missing.Repository, What: revID}
	}
	return err
}

// Rollback makes a revision whose state is that of an earlier one, row for row. History preserves the revisions
// between.
func (r *Repository[S]) Rollback(
	ctx context.Context, at repository.Address, parentRevID, revID, message string, receipt Receipt,
) (Result[S], error) {
	var broken Violations
	r.checkMessage(&broken, message)
	if err := broken.Err(); err != nil {
		return Result[S]{}, err
	}
	return r.Commit(ctx, Request[S]{
		Repository: at, ParentRevID: parentRevID, Message: message, Source: SourceRollback, OriginRevID: revID,
		Receipt: receipt,
		Build: func(ctx context.Context, _ S, _ time.Time) (S, error) {
			earlier, err := r.Revision(ctx, at, revID)
			return earlier.State, err
		},
	})
}
