package verify

import (
	"context"
	"errors"

	"nexus/pkg/entity"
	"nexus/pkg/entity/metering"
	"nexus/pkg/item"
	"nexus/pkg/limit"
	"nexus/pkg/table"
)

// counting counts what the quotas need of a user and no total has, while a pass goes through the items.
type counting struct {
	counts limit.Counts
	// before is the row of counts as it was before the pass counted anything, nil for none: of two repairs at once the
	// one that counted first does not replace the row of the other.
	before item.Item
}

// beginCount reads the row of counts.
func (r *run) beginCount(ctx context.Context, user string) (err error) {
	r.counted = counting{}
	r.counted.before, err = r.find(ctx, metering.CountKey(user))
	return err
}

// count counts a group, whose item requires so many schedules.
func (c *counting) count(r *run, g group, schedules int) {
	if g.item != nil && g.typ.Name == entity.TypeInstance {
		c.counts.Exceptions++
	}
	c.counts.Gone += len(r.other(g, familyCold)) + len(r.other(g, familyGone))
	c.counts.Schedules += schedules
}

// endCount compares the row of counts with what was counted. One read is enough: only a repair writes the row.
func (r *run) endCount(ctx context.Context, user string) error {
	kept, counts := limit.CountsOf(r.counted.before), r.counted.counts
	if r.Reminders == nil {
		counts.Schedules = kept.Schedules // nothing says which are open
	}
	if !r.Limits.IsOff(kept, counts) {
		return nil
	}
	key := metering.CountKey(user)
	err := r.found(Difference{Kind: Count, User: user, Key: key.String(), Is: kept.String(), ShouldBe: counts.String()})
	if err != nil || !r.repairing {
		return err
	}
	put := table.Put{Item: counts.Row(key, r.Now()), If: table.NotExists()}
	if r.counted.before != nil {
		put.If = table.Exists(table.Equal(limit.CountedAt(r.counted.before)))
	}
	err = r.Store.Put(ctx, put)
	var failed *table.ConditionError
	if errors.As(err, &failed) {
		return nil // another repair has counted since
	}
	return r.forgive(ctx, user, key.SK, err)
}
