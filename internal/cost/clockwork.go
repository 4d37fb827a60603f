package cost

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/schedule"
)

// sweepEvery is the interval at which the TTL service is simulated. DynamoDB may take days; the time does not change
// the cost.
const sweepEvery = time.Hour

// advance moves the clock and makes the due calls on the way in their order: the scheduler's, and removals by TTL.
func (w *world) advance(ctx context.Context, to time.Time) error {
	for {
		sweep := w.swept.Add(sweepEvery)
		by := to
		if sweep.Before(by) {
			by = sweep
		}
		if one, due := w.scheduler.Take(by); due {
			if err := w.fire(ctx, one); err != nil {
				return err
			}
			continue
		}
		if sweep.After(to) {
			break
		}
		if err := w.sweep(ctx, sweep); err != nil {
			return err
		}
	}
	w.now = to
	return nil
}

// fire makes a call of the scheduler.
func (w *world) fire(ctx context.Context, one schedule.Schedule) error {
	if one.At.After(w.now) {
		w.now = one.At
	}
	var about struct {
		ItemType string `json:"itemType"`
	}
	if err := json.Unmarshal(one.Payload, &about); err != nil {
		return fmt.Errorf("payload %s: %w", one.Payload, err)
	}
	w.tally.begin(Activity{"remind of " + nameOf(about.ItemType), LifeCycle})
	w.tally.current.ScheduleCalls++
	err := w.tally.invoke(notifyFunction, func() error {
		return w.notifier.Handle(ctx, one.Payload)
	})
	if err != nil {
		return fmt.Errorf("notify of %s: %w", one.Payload, err)
	}
	return w.deliver(ctx)
}

// sweep simulates the TTL service: it removes expired rows, at no charge.
func (w *world) sweep(ctx context.Context, at time.Time) error {
	w.now, w.swept = at, at
	for {
		removed := w.store.Sweep(at, 1) // one at a time, so that its effects belong to it
		if len(removed) == 0 {
			w.store.Feed().Trim(at)
			return nil
		}
		if expiring, isTold := w.expiryOf(removed[0]); isTold {
			w.tally.begin(expiring)
		}
		if err := w.deliver(ctx); err != nil {
			return err
		}
	}
}

// expiryOf returns the activity that begins with the removal of the row; false for a row that no consumer receives.
func (w *world) expiryOf(removed item.Key) (Activity, bool) {
	if _, err := entity.ParseTimer(removed.SK); err == nil {
		return Activity{"archive a task", LifeCycle}, true
	}
	key, err := entity.ParseSortKey(removed.SK)
	if err != nil {
		return Activity{}, false
	}
	t := w.registry.ByName(key.Prefix)
	if t == nil {
		return Activity{}, false
	}
	return Activity{"let " + nameOf(t.Name) + " expire", LifeCycle}, true
}

// nameOf is an entity type as people say it.
func nameOf(entityType string) string {
	return map[string]string{
		product.TypeEvent: "an event", entity.TypeMaster: "a series", entity.TypeInstance: "an occurrence",
		product.TypeTask: "a task", product.TypeReminder: "a reminder", product.TypeNote: "a note",
	}[entityType]
}
