package revision

import (
	"context"
	"fmt"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/idempotency"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// Receipt makes a request harmless to repeat. The zero Receipt has no effect.
type Receipt struct {
	// Key is the idempotency key, 1 to 255 printable characters.
	Key string
	// Retention is how long the request is remembered under its key; 0 for [idempotency.Retention].
	Retention time.Duration
	// Request identifies equal requests; it has a JSON form.
	Request []any
}

// Attributes of a repository's receipt.
const (
	attrRevIDs    = "revIds"
	receiptStatus = "COMMITTED"
)

// remember returns the action that writes the receipt of the prepared revisions.
func remember(r *idempotency.Receipt, prepared []*Prepared, now time.Time) table.Put {
	var revIDs item.List
	for _, p := range prepared {
		revIDs = append(revIDs, item.String(p.commit.RevID))
	}
	return r.Put(item.Item{entity.AttrStatus: item.String(receiptStatus), attrRevIDs: revIDs}, now)
}

// refused interprets that the receipt could not be put.
func refused(r *idempotency.Receipt, now time.Time) func(old item.Item) error {
	return func(old item.Item) error {
		if err := r.Check(old, now); err != nil {
			return err
		}
		return fmt.Errorf("receipt %s: %w", r.Key, table.ErrConflict) // it expired between the two clocks
	}
}

// check reads the receipt and classifies it.
func (p *Publisher) check(ctx context.Context, r *idempotency.Receipt) error {
	if r == nil {
		return nil
	}
	row, err := table.Find(ctx, p.store, r.Key)
	if err != nil {
		return err
	}
	return r.Check(row, p.now())
}
