package account

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"nexus/pkg/bus"
	"nexus/pkg/entity/departure"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// worker erases one account.
type worker struct {
	*Eraser
	row
	id string
	// isAgain says that the account is ERASED already, so that there is no place to keep.
	isAgain bool
	// strays are partitions of the user that a walk over the table has met, for what no log and no day leads to.
	strays []string
	// isSurvey says that it counts what it would remove.
	isSurvey bool
}

// begin moves the account on from REQUESTED.
func (w *worker) begin(ctx context.Context) error {
	condition, now := w.asRead(), w.Now().UTC().Truncate(time.Second)
	w.state, w.begunAt, w.pass, w.step = Erasing, now, 1, 1
	set := item.Item{attrState: item.String(string(Erasing)), attrBegunAt: item.String(item.FormatInstant(now))}
	return w.put(ctx, set, condition)
}

// move stores the worker's place. [ErrOvertaken] says that another one has moved it.
func (w *worker) move(ctx context.Context) error {
	return w.put(ctx, item.Item{}, table.Exists(
		table.Equal(attrState, item.String(string(Erasing))), table.Equal(attrRevision, item.Int(w.revision))))
}

func (w *worker) put(ctx context.Context, set item.Item, condition table.Condition) error {
	now := w.Now().UTC().Truncate(time.Second)
	set[attrRevision], set[attrWorker] = item.Int(w.revision+1), item.String(w.id)
	set[attrPass], set[attrStep] = item.Int(int64(w.pass)), item.Int(int64(w.step))
	set[attrFound], set[attrRemoved] = item.Int(w.found), item.Int(w.removed)
	counts, err := json.Marshal(w.counts)
	if err != nil {
		return err
	}
	set[attrCounts] = item.String(string(counts))
	set[attrMovedAt] = item.String(item.FormatInstant(now))
	_, err = w.Store.Update(ctx, table.Update{Key: departure.StateKey(w.name), Set: set, If: condition})
	var failed *table.ConditionError
	if errors.As(err, &failed) {
		old := failed.Failures[0].Old
		if old.Str(attrWorker) != w.id || old.Int(attrRevision) != w.revision+1 {
			return ErrOvertaken
		}
		err = nil // the store's client repeated a write whose answer was lost
	}
	if err != nil {
		return fmt.Errorf("move the erasure of an account: %w", err)
	}
	w.revision, w.movedAt = w.revision+1, now
	return nil
}

// count adds what a step has removed.
func (w *worker) count(removed Survey) {
	n := int64(removed.total())
	w.found, w.removed, w.counts = w.found+n, w.removed+n, w.counts.plus(removed)
}

// stay moves the worker's place once a minute, so that no other takes the erasure over.
func (w *worker) stay(ctx context.Context) error {
	if age := w.Now().Sub(w.movedAt); w.isAgain || age >= 0 && age < time.Minute {
		return nil
	}
	return w.move(ctx)
}

// run makes passes until one has found nothing, and ends the erasure.
func (w *worker) run(ctx context.Context) error {
	if err := w.waitUntil(ctx, w.begunAt.Add(w.Patience)); err != nil {
		return err
	}
	if w.WaitForOthers != nil {
		if err := w.WaitForOthers(ctx); err != nil {
			return err
		}
	}
	for {
		if w.step > lastStep {
			if w.found == 0 {
				break
			}
			w.pass, w.step, w.found = w.pass+1, 1, 0
		}
		found, err := w.do(ctx, w.step)
		w.count(found)
		if err != nil {
			return fmt.Errorf("step %d of the erasure: %w", w.step, err)
		}
		w.step++
		if err := w.move(ctx); err != nil {
			return err
		}
	}
	return w.finish(ctx)
}

// waitUntil waits, a minute at a time, and keeps the worker's place.
func (w *worker) waitUntil(ctx context.Context, end time.Time) error {
	for left := end.Sub(w.Now()); left > 0; left = end.Sub(w.Now()) {
		if w.InCalls {
			return ErrLater
		}
		if err := w.Wait(ctx, min(left, time.Minute)); err != nil {
			return err
		}
		if err := w.stay(ctx); err != nil {
			return err
		}
	}
	return nil
}

// UserErased is the type of the event by which those who keep what they were told of a user learn to forget it.
const UserErased = "UserErased"

// Detail is the detail of [UserErased]; events/ has its schema.
type Detail struct {
	DeliveryID string `json:"deliveryId"` // the same on a repetition
	UserID     string `json:"userId"`
	OccurredAt string `json:"occurredAt"`
}

// finish ends the erasure: the list that outlives a restore, the event and the line in the log come before ERASED,
// which takes the user out of the row.
func (w *worker) finish(ctx context.Context) error {
	now := w.Now().UTC().Truncate(time.Second)
	if err := w.service.note(ctx, ErasedPrefix+w.name, map[string]time.Time{attrErasedAt: now}); err != nil {
		return err
	}
	if _, err := w.Archive.Purge(ctx, LeavingPrefix+w.name); err != nil {
		return err
	}
	detail, err := json.Marshal(Detail{
		DeliveryID: w.Pepper.Delivery(w.name + item.FormatInstant(w.begunAt)),
		UserID:     w.user, OccurredAt: item.FormatInstant(w.begunAt),
	})
	if err != nil {
		return err
	}
	if err := w.Bus.Publish(ctx, bus.Event{Type: UserErased, Detail: detail, Time: w.begunAt}); err != nil {
		return fmt.Errorf("publish %s: %w", UserErased, err)
	}
	if err := w.waitUntil(ctx, w.begunAt.Add(w.EdgeTime)); err != nil {
		return err
	}
	w.outcome().log(ctx, w.Log)
	err = w.Store.Put(ctx, table.Put{Item: erased(w.name, now), If: table.Exists(
		table.Equal(attrState, item.String(string(Erasing))), table.Equal(attrRevision, item.Int(w.revision)))})
	var failed *table.ConditionError
	if errors.As(err, &failed) && State(failed.Failures[0].Old.Str(attrState)) != Erased {
		return ErrOvertaken
	}
	if err != nil && failed == nil {
		return fmt.Errorf("end the erasure of an account: %w", err)
	}
	return nil
}
