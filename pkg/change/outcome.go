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
	// Already says of what is Done that it had been before, and this record was a repetition; whoever cannot tell leaves
	// it false.
	Already bool
}

// Consumer keeps one derived thing in agreement with the items. Applying a change again, later, or in another order
// between items must leave the same state.
type Consumer interface {
	// Name is the one noun used for folder, fixtures, metrics and log fields.
	Name() string
	// Apply handles a batch and returns one outcome for each change, in order. The changes are shared with the other
	// consumers of the group: it must not write to them. No item has two changes in the batch, unless the consumer is a
	// [BatchConsumer].
	Apply(ctx context.Context, batch []Change) []Outcome
}

// BatchConsumer accepts several changes of one item in a call. It applies them in their order, or folds them by
// version, and reports none of them Done while an earlier one of the item is not. Any other consumer gets an item's
// next change only after it has finished the previous one.
type BatchConsumer interface {
	Consumer
	// AcceptsBatches marks the consumer. It is never called.
	AcceptsBatches()
}

// Wrap returns the consumer with apply in place of its Apply. The result is a [BatchConsumer] if the consumer is.
func Wrap(c Consumer, apply func(context.Context, []Change) []Outcome) Consumer {
	w := wrapped{c, apply}
	if _, ok := c.(BatchConsumer); ok {
		return wrappedBatch{w}
	}
	return w
}

type wrapped struct {
	Consumer
	apply func(context.Context, []Change) []Outcome
}

func (w wrapped) Apply(ctx context.Context, batch []Change) []Outcome { return w.apply(ctx, batch) }

type wrappedBatch struct{ wrapped }

func (wrappedBatch) AcceptsBatches() {}
