package change

import "context"

// Verdict is a consumer's answer about one record.
type Verdict int

const (
	// Done says that the effect is there, was there before, or is not needed.
	Done Verdict = iota
	// Retry says that the consumer could not finish now (conflict, throttling, outage); deliver it again.
	Retry
	// Poison says that it can never succeed; park it.
	Poison
)

// Outcome is the verdict on one record, with the error that caused a Retry or Poison.
type Outcome struct {
	Verdict Verdict
	Err     error
	// Already marks a Done record that had been applied before: this delivery was a repetition. A consumer that cannot
	// detect this leaves it false.
	Already bool
}

// Consumer derives one thing from the items. Applying a change again, later, or in another order between items must
// leave the same state.
type Consumer interface {
	// Name returns the one noun used for folder, fixtures, metrics and log fields.
	Name() string
	// Apply handles a batch and returns one outcome for each change, in order. The group's other consumers share the
	// changes, so it must not write to them. Unless the consumer is a [BatchConsumer], a batch is one change, and calls
	// for changes of other items run at the same time.
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
