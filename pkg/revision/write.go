package revision

import (
	"context"
	"errors"
	"fmt"

	"nexus/pkg/idempotency"
	"nexus/pkg/table"
)

// Attempt reads what a write depends on and prepares its revisions; none if nothing changes. It returns [ErrOutdated]
// to start again.
type Attempt func(ctx context.Context) ([]*Prepared, error)

// Write carries out a write of one user under its receipt. It repeats the attempt, up to a bound, if another write
// came in between. It does not repeat a pinned one: the client decides on its [*ConflictError]. Write returns the ids
// of the published revisions in the order in which they were prepared. It also reports whether an earlier request of
// the same key and content published them.
//
// Errors of the attempt are returned unchanged. Others that a caller decides on: [*ConflictError],
// [idempotency.ErrKey], [idempotency.ErrKeyReused], and those of the store ([table.ErrThrottled],
// [table.ErrUnavailable], [table.ErrConflict]): try again later. Only after ErrUnavailable may the write have been
// carried out.
func (p *Publisher) Write(
	ctx context.Context, user string, r Receipt, pinned bool, attempt Attempt,
) (revIDs []string, replayed bool, err error) {
	before, err := p.once(ctx, user, r, func(remembered *idempotency.Receipt) (err error) {
		revIDs, err = p.attempts(ctx, remembered, pinned, attempt)
		return err
	})
	if before != nil {
		return before.Strings(attrRevIDs), true, nil
	}
	return revIDs, false, err
}

// isRefusal reports whether an error is an answer about the state that was read.
func isRefusal(err error) bool {
	var (
		moved   *ConflictError
		missing *NotFoundError
		pruned  *PrunedError
		rules   *RuleError
	)
	return errors.As(err, &moved) || errors.As(err, &missing) || errors.As(err, &pruned) || errors.As(err, &rules)
}

func (p *Publisher) attempts(
	ctx context.Context, r *idempotency.Receipt, pinned bool, attempt Attempt,
) ([]string, error) {
	var err error
	for range maxAttempts {
		var prepared []*Prepared
		prepared, err = attempt(ctx)
		if errors.Is(err, ErrOutdated) {
			continue
		}
		if err != nil || len(prepared) == 0 {
			return nil, err
		}
		if err = p.publish(ctx, r, prepared...); err == nil {
			var revIDs []string
			for _, one := range prepared {
				revIDs = append(revIDs, one.commit.RevID)
			}
			return revIDs, nil
		}
		var moved *ConflictError
		if !errors.Is(err, errSealed) && !errors.Is(err, ErrOutdated) && (pinned || !errors.As(err, &moved)) {
			return nil, err
		}
	}
	// A client that named no head must not get the conflict of the last attempt.
	return nil, fmt.Errorf("given up after %d attempts, the last: %s: %w", maxAttempts, err.Error(), table.ErrConflict)
}
