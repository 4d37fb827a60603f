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

	// Those of a pruning or deletion, beside attrRows.
	attrRevisions = "revisions"
	attrRemoved   = "removed"
	attrMore      = "more"
	prunedStatus  = "PRUNED"
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

// once carries out a write of the user under its receipt; see [idempotency.Receipt.Once].
func (p *Publisher) once(
	ctx context.Context, user string, r Receipt, write func(*idempotency.Receipt) error,
) (before item.Item, err error) {
	if err := entity.CheckUserID(user); err != nil {
		return nil, fmt.Errorf("user: %w", err)
	}
	remembered, err := idempotency.New(user, r.Key, r.Retention, r.Request)
	if err != nil {
		return nil, err
	}
	return remembered.Once(ctx, p.store, p.now, isRefusal, func() error { return write(remembered) })
}

// rememberPruned returns the action that writes the receipt of a pruning, with what it removed in all.
func rememberPruned(r *idempotency.Receipt, done Pruned, now time.Time) table.Put {
	return r.Put(item.Item{
		entity.AttrStatus: item.String(prunedStatus), attrRevisions: item.Int(int64(done.Revisions)),
		attrRows: item.Int(int64(done.Rows)), attrRemoved: item.Int(int64(done.Removed)), attrMore: item.Bool(done.More),
	}, now)
}

// prunedBefore returns what a receipt remembers of a pruning.
func prunedBefore(row item.Item) Pruned {
	return Pruned{
		Revisions: int(row.Int(attrRevisions)), Rows: int(row.Int(attrRows)), Removed: int(row.Int(attrRemoved)),
		More: row.Bool(attrMore), Replayed: true,
	}
}
