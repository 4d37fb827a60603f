// Package archive removes finished items from the table without losing them. A completed task becomes ARCHIVED after
// the user's delay. An item that stays in a final state long enough leaves the table through TTL. Its cold copy stays
// in the object store, from which it can be restored.
//
// The rule of this package: archive first, expire second. An item gets its ttl only after the copy was acknowledged,
// in one transaction with the row that names the copy, and only at the version that was copied. Every change by a
// command removes the ttl again.
//
// It promises that repeating a record is safe:
//   - A record only says which item to read. The item is read consistently, and every write depends on its version as
//     read.
//   - Objects are named by the version they hold, and versions never repeat.
//   - A record by itself removes only the copy of the version before its change, and only while no row names it for a
//     later expiry.
//
// It must never set a ttl before the copy is acknowledged, and never remove a copy that a row names.
//
// Timers are never removed early; one that fires for a task that is no longer in that completion does nothing.
package archive

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nexus/pkg/blob"
	"nexus/pkg/bus"
	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/port"
	"nexus/pkg/table"
)

// Name is the consumer's name.
const Name = "archive"

// maxRounds bounds the attempts of one call at a change that others interrupt.
const maxRounds = 8

var errContended = errors.New("item kept changing")

// Config holds the dependencies of the package.
type Config struct {
	Store    table.Store
	Registry *entity.Registry
	Copies   blob.Store
	Bus      bus.Bus
	// Announces are the detail types that the consumer publishes, of [Events]; empty for none.
	Announces []string
	Now       func() time.Time
}

// Consumer updates timers, cold copies and expiry according to the items.
type Consumer struct{ Config }

// NewConsumer returns the consumer.
func NewConsumer(cfg Config) *Consumer { return &Consumer{cfg} }

// Name implements [change.Consumer].
func (*Consumer) Name() string { return Name }

// Apply implements [change.Consumer]. A record of an item that was in no final state before or after costs no call.
func (c *Consumer) Apply(ctx context.Context, batch []change.Change) []change.Outcome {
	outcomes := make([]change.Outcome, len(batch))
	for i, ch := range batch {
		if err := c.apply(ctx, ch); err != nil {
			outcomes[i] = change.Outcome{Verdict: verdictOf(err), Err: fmt.Errorf("archive %s: %w", ch.Key, err)}
		}
	}
	return outcomes
}

func verdictOf(err error) change.Verdict {
	if errors.Is(err, port.ErrInvalid) || errors.Is(err, entity.ErrID) || errors.Is(err, errMalformedTimer) {
		return change.Poison
	}
	return change.Retry
}

func (c *Consumer) find(ctx context.Context, key item.Key) (item.Item, error) {
	return table.Find(ctx, c.Store, key)
}

// apply takes every step of the record, also after one that is refused for good: none needs the success of another. It
// returns an error that may pass at once, and what was refused at the end.
func (c *Consumer) apply(ctx context.Context, ch change.Change) (err error) {
	if ch.Kind, err = change.KindOf(ctx, ch, c.find); err != nil {
		return err
	}
	if ch.Type == nil {
		return c.timerRemoved(ctx, ch)
	}
	var refused error
	for _, step := range []func(context.Context, change.Change) error{
		c.startTimer, c.keepCopy, c.dropOldCopy, c.announce,
	} {
		err := step(ctx, ch)
		if err != nil && verdictOf(err) == change.Retry {
			return err
		}
		refused = errors.Join(refused, err)
	}
	return refused
}

// getCold reads the row that names an item's cold copy.
func getCold(ctx context.Context, store table.Reader, user, itemID string) (item.Item, error) {
	cold, err := table.Find(ctx, store, entity.ColdKey(user, itemID))
	if err != nil {
		return nil, err
	}
	return cold, entity.CheckForm(cold, entity.AttrForm)
}
