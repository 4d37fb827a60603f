package webhook

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/entity/outbox"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// overdue is the time after its instant at which an attempt counts as forgotten: longer than a call may be late and
// take.
const overdue = 10 * time.Minute

// attrCalledAt, in a lane, is the time at which a repair had its worker called.
const attrCalledAt = "calledAt"

// Fault is a row of a user that is not as it should be.
type Fault struct {
	Key          item.Key
	Is, ShouldBe string
	// Repair mends it; nil if it cannot be mended.
	Repair func(context.Context) error
}

// Check calls found for each fault of a user's messages: a lane in which something was due 10 minutes ago and nothing
// moves, a row OUT# whose message is not pending, a pending message without a row OUT#, and the lane of an endpoint
// that was deleted 10 minutes ago.
func (o *Outbox) Check(ctx context.Context, user string, found func(Fault) error) error {
	pendings, outs := map[outbox.ID]bool{}, map[outbox.ID]item.Item{}
	err := o.each(ctx, user, outbox.Messages(), found, func(id outbox.ID, row item.Item) error {
		if row.Str(attrState) == StatePending {
			pendings[id] = true
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = o.each(ctx, user, outbox.Outs(), found, func(id outbox.ID, row item.Item) error {
		outs[id] = row
		return nil
	})
	if err != nil {
		return err
	}
	for _, id := range sorted(pendings) {
		if outs[id] == nil {
			if err := o.checkMessage(ctx, user, id, found); err != nil {
				return err
			}
		}
	}
	byHook := map[string][]pending{}
	for _, id := range sorted(outs) {
		if !pendings[id] {
			isStray, err := o.checkOut(ctx, user, id, found)
			if err != nil {
				return err
			}
			if isStray {
				continue
			}
		}
		p, err := readPending(outs[id])
		if err != nil {
			if err := found(unreadable(outs[id], err)); err != nil {
				return err
			}
			continue
		}
		byHook[id.Hook] = append(byHook[id.Hook], p)
	}
	for _, hook := range slices.Sorted(maps.Keys(byHook)) {
		if err := o.checkLane(ctx, call{user, hook}, byHook[hook], found); err != nil {
			return err
		}
	}
	return o.checkStrayLanes(ctx, user, byHook, found)
}

// checkStrayLanes names the lanes of endpoints that were deleted 10 minutes ago. Those in which something waits are
// passed over: the worker removes them after that.
func (o *Outbox) checkStrayLanes(
	ctx context.Context, user string, waiting map[string][]pending, found func(Fault) error,
) error {
	q := table.Query{Partition: entity.UserPK(user), Range: table.Range{Prefix: outbox.Lanes()}}
	for row, err := range table.Rows(ctx, o.Store, q, 0) {
		if err != nil {
			return fmt.Errorf("read the lanes: %w", err)
		}
		of := call{user, strings.TrimPrefix(row.Key().SK, outbox.Lanes())}
		if waiting[of.Hook] != nil {
			continue
		}
		if hook, err := o.hook(ctx, of); hook != nil || err != nil {
			if err != nil {
				return err
			}
			continue
		}
		gone, err := table.Find(ctx, o.Store, entity.GoneKey(user, of.Hook))
		if err != nil {
			return err
		}
		if at, ok := gone.Time(product.AttrDeletedAt); ok && o.Now().Sub(at) <= overdue {
			continue // the consumer may be about to have it removed
		}
		err = found(Fault{row.Key(), "there", "no row: its endpoint was deleted", func(ctx context.Context) error {
			return o.removeLane(ctx, of)
		}})
		if err != nil {
			return err
		}
	}
	return nil
}

func sorted[V any](of map[outbox.ID]V) []outbox.ID {
	return slices.SortedFunc(maps.Keys(of), func(a, b outbox.ID) int {
		return strings.Compare(outbox.OutKey("u", a).SK, outbox.OutKey("u", b).SK)
	})
}

func unreadable(row item.Item, err error) Fault {
	return Fault{Key: row.Key(), Is: err.Error(), ShouldBe: "readable"}
}

func (o *Outbox) each(
	ctx context.Context, user, prefix string, found func(Fault) error, visit func(outbox.ID, item.Item) error,
) error {
	q := table.Query{Partition: entity.UserPK(user), Range: table.Range{Prefix: prefix}}
	for row, err := range table.Rows(ctx, o.Store, q, 0) {
		if err != nil {
			return fmt.Errorf("read the messages: %w", err)
		}
		id, err := outbox.Parse(row.Key().SK)
		if err != nil {
			err = found(unreadable(row, err))
		} else {
			err = visit(id, row)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkMessage reads both rows again, the message last: it may have been ended between the two reads.
func (o *Outbox) checkMessage(ctx context.Context, user string, id outbox.ID, found func(Fault) error) error {
	out, err := table.Find(ctx, o.Store, outbox.OutKey(user, id))
	if err != nil || out != nil {
		return err
	}
	key := outbox.MessageKey(user, id)
	content, err := table.Find(ctx, o.Store, key)
	if err != nil || content.Str(attrState) != StatePending {
		return err
	}
	return found(Fault{key, "pending without a row OUT#", "done, or in the outbox", func(ctx context.Context) error {
		err := o.Store.Transact(ctx,
			table.Check{Key: key, If: table.Exists(table.Equal(attrState, item.String(StatePending)))},
			table.Put{Item: outRow(user, id, o.Now()), If: table.NotExists()},
		)
		if failed := (*table.ConditionError)(nil); err != nil && !errors.As(err, &failed) {
			return fmt.Errorf("put the message into the outbox: %w", err)
		}
		return o.wake(ctx, call{user, id.Hook}, time.Time{})
	}})
}

// checkOut reads both rows again, the row OUT# last: it may have been put or removed between the two reads.
func (o *Outbox) checkOut(
	ctx context.Context, user string, id outbox.ID, found func(Fault) error,
) (isStray bool, err error) {
	content, err := table.Find(ctx, o.Store, outbox.MessageKey(user, id))
	if err != nil || content.Str(attrState) == StatePending {
		return false, err
	}
	out, err := table.Find(ctx, o.Store, outbox.OutKey(user, id))
	if err != nil || out == nil {
		return true, err
	}
	p, unread := readPending(out)
	if unread != nil {
		return false, nil //nolint:nilerr // it is named as such
	}
	return true, found(Fault{out.Key(), "there", "no row: its message is not pending", func(ctx context.Context) error {
		return o.clear(ctx, user, p, content)
	}})
}

// checkLane names a lane in which something was due 10 minutes ago that its order and its breaker let go, and which
// no worker has.
func (o *Outbox) checkLane(ctx context.Context, of call, waiting []pending, found func(Fault) error) error {
	hook, err := o.hook(ctx, of)
	if err != nil {
		return err
	}
	key := outbox.LaneKey(of.UserID, of.Hook)
	lane, err := table.Find(ctx, o.Store, key)
	if err != nil {
		return err
	}
	due := waiting[0].nextAt
	for _, p := range waiting {
		if !isFifo(hook) && p.nextAt.Before(due) {
			due = p.nextAt
		}
	}
	isOpen := lane.Str(attrOfActive) == hook.Str(outbox.AttrActiveSince) && whyNot(hook) == ""
	if until, ok := lane.Time(attrOpenUntil); ok && isOpen && until.After(due) {
		due = until
	}
	if called, ok := lane.Time(attrCalledAt); ok && called.After(due) {
		due = called
	}
	now := o.Now()
	if now.Sub(due) <= overdue || lane.Int(attrLeaseUntil) > now.UnixMilli() {
		return nil
	}
	return found(Fault{key, "due for 10 minutes", "done", func(ctx context.Context) error {
		if err := o.wake(ctx, of, time.Time{}); err != nil {
			return err
		}
		return o.called(ctx, key)
	}})
}

// called notes in a lane that its worker was called.
func (o *Outbox) called(ctx context.Context, key item.Key) error {
	set := item.Item{}
	set.SetTime(attrCalledAt, o.Now())
	_, err := o.Store.Update(ctx, table.Update{Key: key, Set: set, If: table.Exists()})
	if failed := (*table.ConditionError)(nil); errors.As(err, &failed) {
		row := key.Item()
		row[attrLeaseUntil], row[attrCalledAt] = item.Int(0), set[attrCalledAt]
		err = o.Store.Put(ctx, table.Put{Item: row, If: table.NotExists()})
	}
	if failed := (*table.ConditionError)(nil); err != nil && !errors.As(err, &failed) {
		return fmt.Errorf("note a call: %w", err)
	}
	return nil
}
