package deliver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"nexus/pkg/entity/device"
	"nexus/pkg/item"
	"nexus/pkg/schedule"
	"nexus/pkg/table"
)

// ErrAddress says that an endpoint is none that may be called.
var ErrAddress = errors.New("the endpoint is none that may be called")

// steps are the waits after the first attempts that failed; afterwards it is an hour each time.
var steps = []time.Duration{15 * time.Second, time.Minute, 4 * time.Minute, 15 * time.Minute, time.Hour}

// slack is how early the call of a schedule may be: clocks differ.
const slack = 5 * time.Second

// topicLength is the most characters that a topic may have (RFC 8030 §5.4).
const topicLength = 32

// Reasons why a delivery on a device is told no more, in its row.
const (
	reasonLate    = "late"    // its end came first
	reasonRemoved = "removed" // the device was not registered any more
	reasonGone    = "gone"    // the push service said so of the device
	reasonKeys    = "keys"    // the push service refuses the deployment's key
	reasonRefused = "refused" // the push service refuses the request
	reasonAddress = "address" // the endpoint is none that may be called
)

// attempt tells a device, unless that is done, until it is told, told no more, or has a schedule for the next attempt
// that this very call has put. on is the device as it was read; nil if there is none any more. It reports whether the
// delivery is done.
func (d *Deliverer) attempt(ctx context.Context, of delivery, on *Device, s settings) (isDone bool, err error) {
	isDone, err = d.repeat(ctx, of, on, s)
	switch {
	case errors.Is(err, errDone):
		return true, nil
	case errors.Is(err, errElsewhere): // that worker may die, and its repetition may not see the device any more
		return false, d.schedule(ctx, of, d.Now())
	}
	return isDone, err
}

func (d *Deliverer) repeat(ctx context.Context, of delivery, on *Device, s settings) (isDone bool, err error) {
	for of.state == statePending {
		now := d.Now()
		switch wait := of.nextAt.Sub(now); {
		case of.until.Sub(now) < time.Second: // a push service counts in seconds
			return true, d.end(ctx, of, reasonLate, 0)
		case on == nil:
			return true, d.end(ctx, of, reasonRemoved, 0)
		case wait > 0:
			isLater, err := d.wait(ctx, of, wait)
			if isLater || err != nil {
				return false, err
			}
		}
		if of, on, err = d.try(ctx, of, on, s); err != nil {
			return false, err
		}
	}
	return true, nil
}

// try makes one request and writes its outcome. It returns the delivery and the device as they are afterwards.
func (d *Deliverer) try(ctx context.Context, of delivery, on *Device, s settings) (delivery, *Device, error) {
	now := d.Now()
	content, err := d.payload(of, s, now)
	if err != nil {
		return of, on, err
	}
	answer, err := d.Sender.Send(ctx, Push{
		Endpoint: on.Endpoint, Keys: on.Keys, Payload: content, TTL: of.until.Sub(now).Truncate(time.Second),
		Topic: of.event.DeliveryID[:min(topicLength, len(of.event.DeliveryID))],
	})
	status := answer.Status
	switch {
	case errors.Is(err, ErrAddress):
		return of.dead(), on, d.end(ctx, of, reasonAddress, 0)
	case ctx.Err() != nil:
		return of, on, ctx.Err() // the call's time has ended, and the next one goes on
	case err != nil, status == http.StatusTooManyRequests, status >= http.StatusInternalServerError:
		return d.postpone(ctx, of, on, answer)
	case isAccepted(status):
		return of.sent(), on, d.write(ctx, of, Told, item.Item{
			attrState: item.String(stateSent), attrLastStatus: item.Int(int64(status)),
		})
	case status == http.StatusNotFound, status == http.StatusGone:
		return d.remove(ctx, of, on, status)
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return of.dead(), on, d.end(ctx, of, reasonKeys, status)
	}
	return of.dead(), on, d.end(ctx, of, reasonRefused, status)
}

func (d delivery) sent() delivery { d.state = stateSent; return d }
func (d delivery) dead() delivery { d.state = stateDead; return d }

func isAccepted(status int) bool {
	switch status {
	case http.StatusOK, http.StatusCreated, http.StatusAccepted, http.StatusNoContent:
		return true
	}
	return false
}

// postpone writes when the next attempt is due. A delivery whose end comes first has none.
func (d *Deliverer) postpone(ctx context.Context, of delivery, on *Device, answer Answer) (delivery, *Device, error) {
	wait := answer.RetryAfter
	if wait <= 0 {
		wait = steps[min(of.attempts, int64(len(steps)-1))]
	}
	next := d.Now().Add(wait).UTC().Truncate(time.Second).Add(time.Second)
	if !next.Before(of.until) {
		return of.dead(), on, d.end(ctx, of, reasonLate, answer.Status)
	}
	set := item.Item{attrLastStatus: item.Int(int64(answer.Status))}
	set.SetTime(attrNextAt, next)
	if err := d.write(ctx, of, Again, set); err != nil {
		return of, on, err
	}
	of.attempts, of.nextAt = of.attempts+1, next
	return of, on, nil
}

// wait waits until the next attempt is due, or puts the schedule that calls for it.
func (d *Deliverer) wait(ctx context.Context, of delivery, wait time.Duration) (isLater bool, err error) {
	if d.Wait != nil && wait < d.Lead {
		if end, ok := ctx.Deadline(); !ok || end.Sub(d.Now()) > wait+requestTime {
			return false, d.Wait(ctx, wait)
		}
	}
	return true, d.schedule(ctx, of, of.nextAt)
}

// schedule puts the schedule that calls for a delivery on a device at the instant, or as soon as one can.
func (o *Outbox) schedule(ctx context.Context, of delivery, at time.Time) error {
	if least := o.Now().Add(o.Lead).UTC().Truncate(time.Second).Add(time.Second); at.Before(least) {
		at = least
	}
	e := of.event
	content, err := json.Marshal(call{e.UserID, e.DeliveryID, of.deviceID})
	if err != nil {
		return err
	}
	name := ScheduleName(e.UserID, e.DeliveryID, of.deviceID)
	if err := o.Scheduler.Put(ctx, schedule.Schedule{Name: name, At: at, Payload: content}); err != nil {
		return fmt.Errorf("schedule the next attempt of %s: %w", of.key(), err)
	}
	return nil
}

// requestTime is more than a request takes.
const requestTime = 15 * time.Second

// remove removes a device whose push service says that it is gone, in one transaction with the row's end. It does so
// only if the endpoint is the one that was asked: a device that was renewed since is told under its new endpoint.
func (d *Deliverer) remove(ctx context.Context, of delivery, on *Device, status int) (delivery, *Device, error) {
	key := device.DeviceKey(of.event.UserID, of.deviceID)
	err := d.Store.Transact(ctx,
		table.Delete{Key: key, If: table.Exists(table.Equal(attrEndpoint, item.String(on.Endpoint)))},
		d.outcome(of, deadSet(reasonGone, status)),
	)
	var failed *table.ConditionError
	if !errors.As(err, &failed) {
		if err == nil {
			d.observe(ctx, of, Removed, reasonGone, status)
		}
		return of.dead(), nil, err
	}
	if failure, changed := failed.At(1); changed {
		return of, on, moved(failure.Old)
	}
	renewed, err := findDevice(ctx, d.Store, of.event.UserID, of.deviceID, d.Now())
	return of, renewed, err
}

// end writes that a delivery on a device is told no more, and why.
func (d *Deliverer) end(ctx context.Context, of delivery, reason string, status int) error {
	outcome := Failed
	switch reason {
	case reasonLate:
		outcome = Late
	case reasonRemoved:
		outcome = Removed
	case reasonKeys:
		outcome = Refused
	}
	return d.write(ctx, of, outcome, deadSet(reason, status))
}

func deadSet(reason string, status int) item.Item {
	set := item.Item{attrState: item.String(stateDead), attrReason: item.String(reason)}
	if status != 0 {
		set[attrLastStatus] = item.Int(int64(status))
	}
	return set
}

// outcome returns the write of an outcome, under the row as it was read.
func (d *Deliverer) outcome(of delivery, set item.Item) table.Update {
	set[attrAttempts] = item.Int(of.attempts + 1)
	return table.Update{Key: of.key(), Set: set, If: of.asRead()}
}

// write writes an outcome. If another worker has written one since, that one stands.
func (d *Deliverer) write(ctx context.Context, of delivery, outcome Outcome, set item.Item) error {
	_, err := d.Store.Update(ctx, d.outcome(of, set))
	var failed *table.ConditionError
	if errors.As(err, &failed) {
		return moved(failed.Failures[0].Old)
	}
	if err != nil {
		return fmt.Errorf("write the outcome of %s: %w", of.key(), err)
	}
	d.observe(ctx, of, outcome, set.Str(attrReason), int(set.Int(attrLastStatus)))
	return nil
}

// Errors that end an attempt whose row another worker has moved on: to its end, or not.
var (
	errDone      = errors.New("the delivery is done")
	errElsewhere = errors.New("another worker has counted an attempt of the delivery")
)

// moved returns the one of the two that is true of the row; a row that is not there any more is done.
func moved(row item.Item) error {
	if row.Str(attrState) == statePending {
		return errElsewhere
	}
	return errDone
}

func (d *Deliverer) observe(ctx context.Context, of delivery, outcome Outcome, reason string, status int) {
	level := slog.LevelInfo
	if outcome == Refused || outcome == Failed {
		level = slog.LevelWarn
	}
	d.Log.LogAttrs(ctx, level, "push "+string(outcome), slog.String("deliveryId", of.event.DeliveryID),
		slog.String("deviceId", of.deviceID), slog.Int("status", status), slog.String("reason", reason))
	d.Observe(outcome)
}
