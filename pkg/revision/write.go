package revision

import (
	"context"
	"errors"
	"fmt"

	"nexus/pkg/entity"
	"nexus/pkg/idempotency"
	"nexus/pkg/table"
)

// Attempt reads what a write depends on and prepares its revisions; none if nothing is to be changed.
type Attempt func(ctx context.Context) ([]*Prepared, error)

// Write carries out a write of one user under its receipt. The attempt is made again, up to a bound, when somebody
// else's write came in between; a pinned one is not: its [*ConflictError] is the client's to decide on. The answer is
// the ids of the revisions that were published, in the order in which they were prepared, and whether an earlier
// request of the same key and content published them.
//
// Errors of the attempt come back as they are. Others that a caller decides on: [*ConflictError], [idempotency.ErrKey],
// [idempotency.ErrKeyReused], and those of the store ([table.ErrThrottled], [table.ErrUnavailable],
// [table.ErrConflict]): try again later; only after ErrUnavailable the write may have been carried out.
func (p *Publisher) Write(
	ctx context.Context, user string, r Receipt, pinned bool, attempt Attempt,
) (revIDs []string, replayed bool, err error) {
	if err := entity.CheckUserID(user); err != nil {
		return nil, false, fmt.Errorf("user: %w", err)
	}
	remembered, err := idempotency.New(user, r.Key, r.Request)
	if err != nil {
		return nil, false, err
	}
	if err = p.check(ctx, remembered); err == nil {
		revIDs, err = p.attempts(ctx, remembered, pinned, attempt)
	}
	if err != nil && isRefusal(err) {
		// A twin of this request may have been at work, and what it did is then what the refusal is about.
		if seen := p.check(ctx, remembered); seen != nil {
			err = seen
		}
	}
	var replay *idempotency.ReplayError
	if errors.As(err, &replay) {
		return replay.Receipt.Strings(attrRevIDs), true, nil
	}
	return revIDs, false, err
}

// isRefusal reports whether an error is an answer about the state that was found.
func isRefusal(err error) bool {
	var (
		moved   *ConflictError
		missing *NotFoundError
		rules   *RuleError
	)
	return errors.As(err, &moved) || errors.As(err, &missing) || errors.As(err, &rules)
}

func (p *Publisher) attempts(
	ctx context.Context, r *idempotency.Receipt, pinned bool, attempt Attempt,
) ([]string, error) {
	var err error
	for range maxAttempts {
		var prepared []*Prepared
		if prepared, err = attempt(ctx); err != nil || len(prepared) == 0 {
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
		if !errors.Is(err, errSealed) && (pinned || !errors.As(err, &moved)) {
			return nil, err
		}
	}
	// The head that the last attempt found moved is no answer to a client that named none.
	return nil, fmt.Errorf("given up after %d attempts, the last: %s: %w", maxAttempts, err.Error(), table.ErrConflict)
}
