package deliver

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nexus/pkg/item"
	"nexus/pkg/table"
)

// overdue is the time after its instant at which an attempt counts as forgotten: longer than a call may be late and
// take.
const overdue = 10 * time.Minute

// IsOverdue reports whether a row PUSH# has an attempt ahead that nothing calls for any more. The error says that the
// row cannot be read.
func (o *Outbox) IsOverdue(row item.Item) (bool, error) {
	of, err := readDelivery(row)
	return err == nil && of.state == statePending && o.Now().Sub(of.nextAt) > overdue, err
}

// Resume puts the schedule for the attempt of a row that is overdue, and then moves the attempt's instant. A row that
// another worker has moved since stays as it is.
func (o *Outbox) Resume(ctx context.Context, row item.Item) error {
	of, err := readDelivery(row)
	if err != nil {
		return err
	}
	now := o.Now().UTC().Truncate(time.Second)
	if err := o.schedule(ctx, of, now); err != nil {
		return err
	}
	set := item.Item{}
	set.SetTime(attrNextAt, now)
	_, err = o.Store.Update(ctx, table.Update{Key: of.key(), Set: set, If: of.asRead()})
	if failed := (*table.ConditionError)(nil); err != nil && !errors.As(err, &failed) {
		return fmt.Errorf("move the attempt of %s: %w", of.key(), err)
	}
	return nil
}
