package webhook

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nexus/pkg/entity/outbox"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// Attributes of a row LANE#.
const (
	attrLeaseOwner   = "leaseOwner"
	attrLeaseUntil   = "leaseUntil" // milliseconds since 1970; 0 for no lease
	attrFailures     = "failures"   // in a row
	attrOpened       = "opened"     // how often in a row the breaker opened
	attrOpenUntil    = "openUntil"
	attrFailingSince = "failingSince"
	attrCountedAt    = "countedAt"
	attrOfActive     = "activeSince" // the endpoint's, to which the attributes about failures belong
)

const (
	// leaseTime is how long a lease lasts.
	leaseTime = time.Minute
	// renewBelow is the rest of a lease below which it is renewed: more than a round takes.
	renewBelow = 40 * time.Second
	// breakAfter is the number of failures in a row that open the breaker.
	breakAfter = 5
	// mostOpen is how long the breaker stays open at most.
	mostOpen = time.Hour
	// failingFor is how long an endpoint may fail before it is disabled.
	failingFor = 5 * 24 * time.Hour
)

// lane is the state of an endpoint's lane, as the holder of its lease knows it.
type lane struct {
	call
	owner string
	until time.Time // of the lease

	failures, opened        int64
	openUntil, failingSince time.Time
	countedAt               time.Time
	activeSince             string
	isChanged               bool
}

func (l *lane) key() item.Key { return outbox.LaneKey(l.UserID, l.Hook) }

func (l *lane) read(row item.Item) {
	l.failures, l.opened = row.Int(attrFailures), row.Int(attrOpened)
	l.openUntil, _ = row.Time(attrOpenUntil)
	l.failingSince, _ = row.Time(attrFailingSince)
	l.countedAt, _ = row.Time(attrCountedAt)
	l.activeSince = row.Str(attrOfActive)
}

// begin forgets the failures of another address, or of a time before the endpoint was disabled. Two addresses within a
// second count as one.
func (l *lane) begin(hook item.Item) {
	if since := hook.Str(outbox.AttrActiveSince); since != l.activeSince {
		l.failures, l.opened, l.openUntil, l.failingSince = 0, 0, time.Time{}, time.Time{}
		l.activeSince, l.isChanged = since, true
	}
}

// isOpen reports whether the breaker lets nothing through.
func (l *lane) isOpen(now time.Time) bool { return now.Before(l.openUntil) }

// isHalf reports whether the breaker lets one attempt through, and its outcome decides.
func (l *lane) isHalf(now time.Time) bool { return l.opened > 0 && !l.isOpen(now) }

func (l *lane) succeeded() {
	if l.failures > 0 || l.opened > 0 || !l.failingSince.IsZero() || !l.openUntil.IsZero() {
		l.isChanged = true
	}
	l.failures, l.opened, l.openUntil, l.failingSince = 0, 0, time.Time{}, time.Time{}
}

// failed counts a failure. Of an open breaker it was the probe, or an attempt that was under way.
func (l *lane) failed(now time.Time, wasHalf bool, retryAfter time.Duration) {
	l.isChanged = true
	if l.failures++; l.failingSince.IsZero() {
		l.failingSince = now.UTC().Truncate(time.Second)
	}
	if wasHalf || l.failures >= breakAfter && l.opened == 0 {
		pause := min(mostOpen, time.Minute<<min(l.opened, 6))
		l.opened++
		l.open(now.Add(pause))
	}
	if retryAfter > 0 {
		l.open(now.Add(retryAfter))
	}
}

func (l *lane) open(until time.Time) {
	if until = until.UTC().Truncate(time.Second).Add(time.Second); until.After(l.openUntil) {
		l.openUntil = until
	}
}

// hasFailed reports whether the endpoint has failed for so long that it is disabled.
func (l *lane) hasFailed(now time.Time) bool {
	return !l.failingSince.IsZero() && now.Sub(l.failingSince) >= failingFor
}

// errLeaseLost says that another worker has the lease.
var errLeaseLost = errors.New("another worker has the lane")

// take takes the lease; nil if another worker has it.
func (w *Worker) take(ctx context.Context, of call) (*lane, error) {
	now := w.Now()
	l := &lane{call: of, owner: w.NewID(), until: now.Add(leaseTime)}
	row, err := w.Store.Update(ctx, table.Update{
		Key: l.key(), If: table.OrNoRow(table.Less(attrLeaseUntil, item.Int(now.UnixMilli()))),
		Set: item.Item{attrLeaseOwner: item.String(l.owner), attrLeaseUntil: item.Int(l.until.UnixMilli())},
	})
	var failed *table.ConditionError
	if errors.As(err, &failed) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("take the lane: %w", err)
	}
	l.read(row)
	return l, nil
}

// keep writes what has changed of the lane, and renews the lease if little of it is left. Its error is errLeaseLost if
// another worker may have it.
func (w *Worker) keep(ctx context.Context, l *lane) error {
	now := w.Now()
	if !l.isChanged && l.until.Sub(now) >= renewBelow {
		return nil
	}
	return w.write(ctx, l, now.Add(leaseTime))
}

// release gives the lease back.
func (w *Worker) release(ctx context.Context, l *lane) error {
	return w.write(ctx, l, time.UnixMilli(0))
}

func (w *Worker) write(ctx context.Context, l *lane, until time.Time) error {
	update := table.Update{
		Key: l.key(), If: table.Exists(table.Equal(attrLeaseOwner, item.String(l.owner))),
		Set: item.Item{attrLeaseUntil: item.Int(until.UnixMilli())},
	}
	if l.isChanged {
		update.Set[attrFailures], update.Set[attrOpened] = item.Int(l.failures), item.Int(l.opened)
		update.Set[attrOfActive] = item.String(l.activeSince)
		for name, at := range map[string]time.Time{
			attrOpenUntil: l.openUntil, attrFailingSince: l.failingSince, attrCountedAt: l.countedAt,
		} {
			if at.IsZero() {
				update.Remove = append(update.Remove, name)
			} else {
				update.Set.SetTime(name, at)
			}
		}
	}
	_, err := w.Store.Update(ctx, update)
	var failed *table.ConditionError
	if errors.As(err, &failed) {
		return errLeaseLost
	}
	if err != nil {
		return fmt.Errorf("write the lane: %w", err)
	}
	l.until, l.isChanged = until, false
	return nil
}
