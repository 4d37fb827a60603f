package change

import "context"

// Verdict is what a consumer says of one record.
type Verdict int

const (
	// Done: the effect is there, or was already, or there is none to have.
	Done Verdict = iota
	// Retry: it could not be finished now (conflict, throttling, outage); deliver it again.
	Retry
	// Poison: it can never succeed; park it.
	Poison
)

// Outcome is the verdict on one record, with the error behind a Retry or Poison.
type Outcome struct {
	Verdict Verdict
	Err     error
}

// Consumer keeps one derived thing in agreement with the items. Applying a change again, later, or in another order
// between items must leave the same state.
type Consumer interface {
	// Name is the one noun used for folder, fixtures, metrics and log fields.
	Name() string
	// Apply handles a batch and returns one outcome for each change, in order.
	Apply(ctx context.Context, batch []Change) []Outcome
}
