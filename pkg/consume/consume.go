// Package consume is the batch loop between a stream and the consumers that share a reader of it. It decodes,
// dispatches, retries, parks, and answers where to continue.
//
// It promises:
//   - A bad record or a failing consumer delays no other consumer.
//   - A record is acknowledged only after every consumer of the group has finished or parked it.
//   - An item's changes reach a consumer in their order.
//   - A record that can never succeed is stored whole before the loop passes it.
//
// It must never decide what a change means, and never lose one: the answer names the records that it cannot finish,
// and they are delivered again.
package consume

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/mask"
)

// Defaults for zero fields of [Config].
const (
	DefaultAttempts = 3
	DefaultBackoff  = 100 * time.Millisecond
	DefaultMargin   = 2 * time.Second
	DefaultWidth    = 16
)

// Parking stores records that could not be processed. Put must have stored the object durably when it returns nil. A
// Put of the same name replaces the object.
type Parking interface {
	Put(ctx context.Context, name string, body []byte) error
}

// Config holds the dependencies and limits of a [Loop]. Fields without a default are required.
type Config struct {
	Registry  *entity.Registry
	Consumers []change.Consumer
	Parking   Parking
	Log       *slog.Logger
	// Now dates parked objects, nothing else.
	Now func() time.Time
	// Wait returns after d, or with an error when ctx ends before; see [Sleep].
	Wait func(ctx context.Context, d time.Duration) error

	// Attempts bounds the attempts for one record within an invocation; zero means [DefaultAttempts].
	Attempts int
	// Backoff is the wait before a second attempt, doubled before each later one; zero means [DefaultBackoff].
	Backoff time.Duration
	// Margin is the part of the invocation's time reserved for answering: the consumers' context ends that long before
	// ctx's deadline. Zero means [DefaultMargin].
	Margin time.Duration
	// Width bounds the records that a consumer has under way, each in a call of its own, if it is no
	// [change.BatchConsumer]. No two are of one item. Zero means [DefaultWidth].
	Width int
	// Spread runs the tasks of a batch and returns behind the last; at most width are under way at a time. The tasks are
	// the calls of the consumers, and within one of them those for single records. Nil means [SideBySide].
	Spread func(width int, tasks []func())
	// Gone, if set, returns those of the users whose account is being erased or was. It is asked once for a batch. A
	// record of such a user is done unread, also one that cannot be decoded: the key's partition decides. An error leaves
	// the whole batch to a redelivery.
	Gone func(ctx context.Context, users []string) (map[string]bool, error)
	// Observe, if set, receives the counts once per invocation and consumer.
	Observe func(consumer string, c Counts)
	// Settled, if set, receives each record of the batch at each consumer, once per invocation, when every consumer has
	// ended. It needs Clock, which measures how long the attempts take and decides nothing.
	Settled func(s Settled)
	Clock   func() time.Time
}

// Counts summarises one batch at one consumer: Records = Done + Parked + Unfinished.
type Counts struct {
	Records, Done, Parked, Unfinished int
	// Newer counts the Unfinished records that need a row written by a later release: they wait for that release.
	Newer int
	// Already counts the Done records that had been applied before, as far as the consumer can detect it.
	Already int
	// Retried counts failed attempts, each record once per failure.
	Retried int
	// Oldest is the write time of the oldest record, by the stream's clock; zero if no record has one.
	Oldest time.Time
}

// Loop handles the events of one group of consumers.
type Loop struct{ cfg Config }

// New returns a loop, or an error that names what the configuration lacks.
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
	case cfg.Settled != nil && cfg.Clock == nil:
		return nil, errors.New("consume: Settled needs a clock")
	case cfg.Attempts < 0 || cfg.Backoff < 0 || cfg.Margin < 0 || cfg.Width < 0:
		return nil, errors.New("consume: attempts, backoff, margin or width below zero")
	}
	var names []string
	for _, c := range cfg.Consumers {
		if !isNoun(c.Name()) || slices.Contains(names, c.Name()) {
			return nil, fmt.Errorf("consume: consumer name %q: want a name of its own of 1 to 40 of a-z 0-9 -", c.Name())
		}
		names = append(names, c.Name())
	}
	cfg.Consumers = slices.Clone(cfg.Consumers)
	cfg.Attempts = cmp.Or(cfg.Attempts, DefaultAttempts)
	cfg.Backoff = cmp.Or(cfg.Backoff, DefaultBackoff)
	cfg.Margin = cmp.Or(cfg.Margin, DefaultMargin)
	cfg.Width = cmp.Or(cfg.Width, DefaultWidth)
	if cfg.Spread == nil {
		cfg.Spread = SideBySide
	}
	return &Loop{cfg}, nil
}

// isNoun ensures that a consumer's name can be part of an object's name.
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

// Handle processes the event of one batch and returns the partial-failure answer of an event source mapping with
// ReportBatchItemFailures. It names the sequence number of the first record that a consumer could not finish, or none.
// An error means that the whole batch must be delivered again: the event is malformed, or the record to name has no
// sequence number.
func (l *Loop) Handle(ctx context.Context, event []byte) ([]byte, error) {
	batch, err := change.Decode(event, l.cfg.Registry)
	if err != nil {
		return nil, fmt.Errorf("decode stream event: %w", err)
	}
	ctx = mask.With(ctx, usersOf(batch)...)
	working, stop := l.working(ctx)
	defer stop()

	gone, err := l.gone(working, batch)
	if err != nil {
		l.unasked(ctx, batch, err)
		return answer(batch, 0)
	}
	runs, tasks := make([]*batchRun, len(l.cfg.Consumers)), make([]func(), len(l.cfg.Consumers))
	for i, c := range l.cfg.Consumers {
		runs[i] = newBatchRun(&l.cfg, c, batch, gone)
		tasks[i] = func() { runs[i].run(ctx, working) }
	}
	l.cfg.Spread(len(tasks), tasks)

	first := len(batch)
	for _, d := range runs {
		first = min(first, d.firstUnfinished())
		if l.cfg.Observe != nil {
			l.cfg.Observe(d.consumer.Name(), d.counts())
		}
		d.reportSettled()
	}
	l.trace(ctx, batch, first)
	return answer(batch, first)
}

// usersOf returns the users of the records that have one, so that the log names none of them.
func usersOf(batch []change.Decoded) []string {
	ids := make([]string, len(batch))
	for i := range batch {
		ids[i] = batch[i].Change.User
	}
	return ids
}

// unasked counts and logs a batch of which no record was begun, because the fence could not be asked.
func (l *Loop) unasked(ctx context.Context, batch []change.Decoded, err error) {
	for _, c := range l.cfg.Consumers {
		if l.cfg.Observe != nil {
			l.cfg.Observe(c.Name(), Counts{Records: len(batch), Unfinished: len(batch)})
		}
	}
	l.cfg.Log.LogAttrs(ctx, slog.LevelError, "batch not begun", slog.Int("records", len(batch)), slog.Any("error", err))
}

// gone says of each record whether its user's account is gone; nil for none.
func (l *Loop) gone(ctx context.Context, batch []change.Decoded) ([]bool, error) {
	if l.cfg.Gone == nil {
		return nil, nil
	}
	owners, users := make([]string, len(batch)), []string(nil)
	for i, rec := range batch {
		owners[i], _ = rec.Owner()
		if owners[i] != "" && !slices.Contains(users, owners[i]) {
			users = append(users, owners[i])
		}
	}
	if len(users) == 0 {
		return nil, nil
	}
	are, err := l.cfg.Gone(ctx, users)
	if err != nil {
		return nil, fmt.Errorf("ask for the state of accounts: %w", err)
	}
	out := make([]bool, len(batch))
	for i, owner := range owners {
		out[i] = are[owner]
	}
	return out, nil
}

// trace logs one line per batch, which lets an operator follow a write through this reader: the trace ids up to the
// first unfinished record. The others are delivered again.
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
