package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"nexus/pkg/blob"
	"nexus/pkg/reminders"
	"nexus/pkg/schedule"
	schedulelocal "nexus/pkg/schedule/local"
)

// driverPause is how long a driver waits before it tries again after a failure.
const driverPause = time.Second

// callsAtOnce is the number of schedules that are called at a time: each takes a few requests.
const callsAtOnce = 16

// schedulerDriver calls schedules when they are due by the platform's clock.
type schedulerDriver struct {
	scheduler *schedulelocal.Scheduler
	clock     *clock
	poked     chan struct{}
	calls     atomic.Int64 // made and answered since the start
	log       *slog.Logger
}

// wake makes the driver read the schedules again.
func (d *schedulerDriver) wake() {
	select {
	case d.poked <- struct{}{}:
	default: // a read is already pending
	}
}

// run drives until the context ends.
func (d *schedulerDriver) run(ctx context.Context) {
	for ctx.Err() == nil {
		moved := d.clock.Moved()
		now := d.clock.Now()
		wait := time.Duration(-1) // for news alone
		if next, any := d.scheduler.Next(); any {
			if wait = next.Sub(now); wait <= 0 {
				wait = 0
				if _, err := d.fire(ctx); err != nil {
					wait = driverPause
				}
			}
		}
		waitFor(ctx, wait, moved, d.poked, nil)
	}
}

// fire makes all due calls and waits for those that another goroutine is making.
func (d *schedulerDriver) fire(ctx context.Context) (int, error) {
	fired, err := d.scheduler.Fire(ctx, d.clock.Now())
	if err != nil && ctx.Err() == nil {
		d.log.Warn("schedules failed; they are called again", "error", err)
	}
	return fired, err
}

// waitFor returns when the time is up (never, if it is negative), when one of the channels is ready (a nil
// channel never is), or when the context ends.
func waitFor(ctx context.Context, d time.Duration, a, b, c <-chan struct{}) {
	var up <-chan time.Time
	if d >= 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		up = timer.C
	}
	select {
	case <-up:
	case <-a:
	case <-b:
	case <-c:
	case <-ctx.Done():
	}
}

// notifyTarget makes the notifier the target of schedules. A payload that the notifier did not write can never
// succeed: it is stored with the other failures, as the deployed function's failure destination does.
func notifyTarget(
	notify func(context.Context, []byte) error, blobs blob.Store, now func() time.Time, log *slog.Logger,
) schedulelocal.Target {
	return func(ctx context.Context, s schedule.Schedule) error {
		err := notify(ctx, s.Payload)
		var malformed *reminders.PayloadError
		if !errors.As(err, &malformed) {
			return err
		}
		name := failurePrefix + "notify/" + s.Name
		body, errBody := json.Marshal(struct {
			Schedule  string `json:"schedule"`
			Error     string `json:"error"`
			Timestamp string `json:"timestamp"`
			Payload   string `json:"payload"`
		}{s.Name, malformed.Error(), now().UTC().Format(time.RFC3339), string(s.Payload)})
		if errBody != nil {
			return fmt.Errorf("keep failed call of schedule %s: %w", s.Name, errBody)
		}
		if err := blobs.Put(ctx, name, body); err != nil {
			return fmt.Errorf("keep failed call of schedule %s: %w", s.Name, err)
		}
		log.Error("call of a schedule given up", "schedule", s.Name, "object", name, "error", malformed)
		return nil
	}
}
