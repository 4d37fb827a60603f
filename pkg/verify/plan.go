package verify

import (
	"context"
	"fmt"

	"nexus/pkg/entity/repository"
	"nexus/pkg/table"
)

// days checks the heads of all plans that the user's rows of days name.
func (r *run) days(ctx context.Context, user string) error {
	q := table.Query{
		Partition: repository.UserPK(user), Range: table.Range{Prefix: repository.DayPrefix()}, Limit: pageRows,
	}
	for {
		page, err := r.Store.Query(ctx, q)
		if err != nil {
			return fmt.Errorf("read the plans of %s: %w", repository.UserPK(user), err)
		}
		r.read(len(page.Items))
		var plans []repository.Address
		for _, it := range page.Items {
			if row, err := repository.ParseRow(it.Key()); err == nil {
				plans = append(plans, row.Repository)
			}
		}
		if err := r.heads(ctx, user, plans...); err != nil || len(page.Next) == 0 {
			return err
		}
		q.Start = page.Next
	}
}

// day finds a plan without the row of its day, by the head that a walk over the table found.
func (r *run) day(ctx context.Context, head repository.Row) error {
	at := head.Repository
	if head.Kind != repository.HeadRow {
		return nil
	}
	r.repairing = r.o.Repair
	for range 2 {
		lacks, err := r.lacksDay(ctx, at)
		if err != nil || !lacks {
			return err
		}
		err = r.found(Difference{
			Kind: Plan, User: at.User, Key: at.DayKey().String(), Is: "no row", ShouldBe: "there: the day has a plan",
		})
		if err != nil || !r.repairing {
			return err
		}
		err = r.Store.Transact(ctx,
			table.Check{Key: at.HeadKey(), If: table.Exists()}, table.Put{Item: at.DayKey().Item()})
		if err := r.forgive(ctx, at.User, at.DayKey().String(), err); err != nil {
			return err
		}
		r.repairing = false
	}
	return nil
}

// lacksDay reports whether a plan has a head and no row of its day. One transaction makes both, and one removes both.
// So it reads the head after the row that is missing, and then that row again.
func (r *run) lacksDay(ctx context.Context, at repository.Address) (bool, error) {
	if row, err := r.find(ctx, at.DayKey()); err != nil || row != nil {
		return false, err
	}
	if row, err := r.find(ctx, at.HeadKey()); err != nil || row == nil {
		return false, err
	}
	row, err := r.find(ctx, at.DayKey())
	return err == nil && row == nil, err
}
