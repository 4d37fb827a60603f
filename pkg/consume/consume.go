// Package consume is the batch loop between a stream and the consumers that share a reader of it: decode, dispatch,
// retry, park, and answer where to go on.
//
// It promises that a bad record or a failing consumer holds up no other consumer, that no record is acknowledged before
// every consumer of the group has finished or parked it, that an item's changes reach a consumer in their order, and
// that what can never succeed is stored whole before it is passed over. It must never decide what a change means, and
// never lose one: whatever it cannot finish is named in the answer and comes again.
package consume

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"nexus/pkg/change"
	"nexus/pkg/entity"
)

// Values that a zero field of [Config] stands for.
const (
	DefaultAttempts = 3
	DefaultBackoff  = 100 * time.Millisecond
	DefaultMargin   = 2 * time.Second
)

// Parking keeps what could not be processed. Put must have stored the object durably when it returns nil; the same name
// again replaces it.
type Parking interface {
	Put(ctx context.Context, name string, body []byte) error
}

// Config is what a [Loop] is made of. Fields without a default are required.
type Config struct {
	Registry  *entity.Registry
	Consumers []change.Consumer
	Parking   Parking
	Log       *slog.Logger
	// Now dates parked objects, nothing else.
	Now func() time.Time
	// Wait returns after d, or with an error when ctx ends before; see [Sleep].
	Wait func(ctx context.Context, d time.Duration) error

	// Attempts is how often one record is tried within an invocation; zero means [DefaultAttempts].
	Attempts int
	// Backoff is the wait before a second attempt, doubled before each later one; zero means [DefaultBackoff].
	Backoff time.Duration
	// Margin is the part of the invocation's time kept for answering: that long before ctx's deadline the consumers'
	// context ends. Zero means [DefaultMargin].
	Margin time.Duration
	// InTurn calls the consumers one after another, in their order, instead of side by side: for runs that must be
	// repeatable to the step. A consumer that hangs then costs the later ones their time.
	InTurn bool
	// Observe, if set, is told once per invocation and consumer what became of the records.
	Observe func(consumer string, c Counts)
}

// Counts is what became of one batch at one consumer: Records = Done + Parked + Unfinished.
type Counts struct {
	Records, Done, Parked, Unfinished int
	// Newer counts what of Unfinished asks for a row that a later release wrote: it waits for that release.
	Newer int
	// Already counts what of Done had been done before, as far as the consumer can tell.
	Already int
	// Retried counts attempts that failed, each record as often as it did.
	Retried int
	// Oldest is when the oldest of the records was written, by the stream's clock; zero if none says.
	Oldest time.Time
}

// Loop handles the events of one group of consumers.
type Loop struct{ cfg Config }

// New returns a loop, or an error that names what is missing in the configuration.
func New(cfg Config) (*Loop, error) {
	switch {
	case cfg.Registry == nil:
		return nil, errors.New("consume: no registry")
	case len(cfg.Consumers) == 0:
		return nil, errors.New("consume: no consumers")
	case cfg.Parking == nil:
		return nil, errors.New("consume: no parking")
	case cfg.Log == nil:
		return nil, errors.New("consume: no log")
	case cfg.Now == nil:
		return nil, errors.New("consume: no clock")
	case cfg.Wait == nil:
		return nil, errors.New("consume: no wait")
	case cfg.Attempts < 0 || cfg.Backoff < 0 || cfg.Margin < 0:
		return nil, errors.New("consume: attempts, backoff or margin below zero")
	}
	var names []string
	for _, c := range cfg.Consumers {
		if !isNoun(c.Name()) || slices.Contains(names, c.Name()) {
			return nil, fmt.Errorf("consume: consumer name %q: want a name of its own of 1 to 40 of a-z 0-9 -", c.Name())
		}
		names = append(names, c.Name())
	}
	cfg.Consumers = slices.Clone(cfg.Consumers)
	if cfg.Attempts == 0 {
		cfg.Attempts = DefaultAttempts
	}
	if cfg.Backoff == 0 {
		cfg.Backoff = DefaultBackoff
	}
	if cfg.Margin == 0 {
		cfg.Margin = DefaultMargin
	}
	return &Loop{cfg}, nil
}

// isNoun keeps consumers' names usable in an object's name.
func isNoun(name string) bool {
	if name == "" || len(name) > 40 {
		return false
	}
	for i := range len(name) {
		c := name[i]
		if !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-') {
			return false
		}
	}
	return true
}

// Handle takes the event of one batch and returns the partial-failure answer of an event source mapping with
// ReportBatchItemFailures: the sequence number of the first record that a consumer could not finish, or none. An error
// means that the whole batch has to come again: the event is malformed, or the record to name has no sequence number.
func (l *Loop) Handle(ctx context.Context, event []byte) ([]byte, error) {
	batch, err := change.Decode(event, l.cfg.Registry)
	if err != nil {
		return nil, fmt.Errorf("decode stream event: %w", err)
	}
	working, stop := l.working(ctx)
	defer stop()

	runs := make([]*batchRun, len(l.cfg.Consumers))
	var wait sync.WaitGroup
	for i, c := range l.cfg.Consumers {
		runs[i] = newBatchRun(&l.cfg, c, batch)
		if l.cfg.InTurn {
			runs[i].run(ctx, working)
			continue
		}
		wait.Go(func() { runs[i].run(ctx, working) })
	}
	wait.Wait()

	first := len(batch)
	for _, d := range runs {
		first = min(first, d.firstUnfinished())
		if l.cfg.Observe != nil {
			l.cfg.Observe(d.consumer.Name(), d.counts())
		}
	}
	l.trace(ctx, batch, first)
	return answer(batch, first)
}

// trace logs the one line by which the way of a write is followed through this reader: the trace ids of the batch up to
// the first record that is not finished; the others come again.
func (l *Loop) trace(ctx context.Context, batch []change.Decoded, first int) {
	if !l.cfg.Log.Enabled(ctx, slog.LevelInfo) {
		return
	}
	ids := make([]string, 0, first)
	for _, rec := range batch[:first] {
		if id := rec.Change.TraceID(); id != "" {
			ids = append(ids, id)
		}
	}
	l.cfg.Log.LogAttrs(ctx, slog.LevelInfo, "batch", slog.Int("records", len(batch)), slog.Int("finished", first),
		slog.Any("traceIds", ids))
}

// working returns the context in which consumers work: it ends while there is still time to answer.
func (l *Loop) working(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return ctx, func() {}
	}
	return context.WithDeadline(ctx, deadline.Add(-l.cfg.Margin))
}

// nothingLeft is the answer that names no record.
const nothingLeft = `{"batchItemFailures":[]}`

// Finished reports whether the answer of [Loop.Handle] says that every record of the batch is finished.
func Finished(answer []byte) bool { return string(answer) == nothingLeft }

func answer(batch []change.Decoded, first int) ([]byte, error) {
	if first == len(batch) {
		return []byte(nothingLeft), nil
	}
	sequence := batch[first].Sequence
	if sequence == "" {
		// An empty identifier would fail the whole batch as well, but silently.
		return nil, fmt.Errorf("record %d is not finished and has no sequence number", first)
	}
	return append(appendText([]byte(`{"batchItemFailures":[{"itemIdentifier":`), sequence), `}]}`...), nil
}
