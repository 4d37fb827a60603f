package projection

import (
	"context"

	"nexus/pkg/item"
)

// Unstage takes a row out of the hands of the repair that has staged it, as a consumer does that meets it.
func (c *Consumer) Unstage(ctx context.Context, user string, row item.Item) error {
	if !isStaged(row) {
		return nil
	}
	return c.engine.(*sumEngine).unstage(ctx, user, row)
}

// SetBatch has a repair stage rows as soon as there are so many.
func (h *Lease) SetBatch(rows int) { h.batch = rows }
