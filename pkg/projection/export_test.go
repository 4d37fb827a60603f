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

// Stage stages the rows collected so far, as a repair does once there are too many for its last write.
func (l *Lease) Stage(ctx context.Context) error {
	if len(l.fixes) == 0 {
		return nil
	}
	return l.stage(ctx)
}
