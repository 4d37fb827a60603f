// Package archive moves what is done out of the way without losing it: a completed task becomes ARCHIVED after the
// user's delay, and what stays in a final state long enough leaves the table through TTL, with a cold copy in the
// object store from which it can be restored.
//
// The one rule everything here serves: archive first, expire second. An item gets its ttl only after the copy was
// acknowledged, in one transaction with the row that names the copy, and only at the version that was copied; every
// change by a command takes the ttl off again.
//
// Repeating a record is safe: it only says which item to look at. The item is read consistently, everything written
// depends on its version as read, objects are named by the version they hold, and versions never come back. What a
// record may take away by itself is the copy of the version it left, and that only while no row names it for a later
// life.
//
// It must never set a ttl before the copy is acknowledged, and never remove a copy that a row names.
//
// Timers are never removed early; one that fires for a task that is no longer as completed then does nothing.
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
	"nexus/pkg/table"
)

// Name is the consumer's name.
const Name = "archive"

// maxRounds bounds how often a change that keeps losing against others is tried in one call.
const maxRounds = 8

var errContended = errors.New("item kept changing")

// Config is what the package works with.
type Config struct {
	Store    table.Store
	Registry *entity.Registry
	Copies   blob.Store
	Bus      bus.Bus
	Now      func() time.Time
}

// Consumer keeps timers, cold copies and expiry in agreement with the items.
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
	for _, lasting := range []error{table.ErrInvalid, blob.ErrInvalid, bus.ErrInvalid, entity.ErrID, errMalformedTimer} {
		if errors.Is(err, lasting) {
			return change.Poison
		}
	}
	return change.Retry
}

func (c *Consumer) apply(ctx context.Context, ch change.Change) error {
	if ch.Type == nil {
		return c.timerRemoved(ctx, ch)
	}
	for _, step := range []func(context.Context, change.Change) error{
		c.startTimer, c.keepCopy, c.dropOldCopy, c.announce,
	} {
		if err := step(ctx, ch); err != nil {
			return err
		}
	}
	return nil
}

// get returns nil for a row that is not there.
func get(ctx context.Context, store table.Reader, key item.Key) (item.Item, error) {
	row, err := store.Get(ctx, key)
	if errors.Is(err, table.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", key, err)
	}
	return row, nil
}

// getCold reads the row that names an item's cold copy.
func getCold(ctx context.Context, store table.Reader, user, itemID string) (item.Item, error) {
	cold, err := get(ctx, store, entity.ColdKey(user, itemID))
	if err != nil {
		return nil, err
	}
	return cold, entity.CheckForm(cold, entity.AttrForm)
}
