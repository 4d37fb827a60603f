package dynamo

import (
	"context"
	"fmt"

	"nexus/pkg/table"
)

// maxIdleRounds bounds the consecutive rounds in which a batch stays wholly unprocessed; with the waits between, about
// two seconds.
const maxIdleRounds = 6

// rounds paces the repetitions of one batch request.
type rounds struct {
	settings *settings
	idle     int // rounds in a row without progress
	retries  int // rounds in a row that left something
}

func (s *settings) newRounds() *rounds { return &rounds{settings: s} }

// next is called after a round that had sent members and left some of them. It waits before the next round, or gives up
// with [table.ErrThrottled]. Rounds with progress are bounded by the number of members.
func (r *rounds) next(ctx context.Context, sent, left int) error {
	if left == 0 {
		return nil
	}
	r.idle++
	r.retries++
	if left < sent {
		r.idle = 0
	}
	if r.idle >= maxIdleRounds {
		return fmt.Errorf("%w: %d of a batch left unprocessed %d times", table.ErrThrottled, left, r.idle)
	}
	delay, err := r.settings.backoff.BackoffDelay(r.retries, nil)
	if err != nil {
		return fmt.Errorf("backoff: %w", err)
	}
	return r.settings.pause(ctx, delay)
}
