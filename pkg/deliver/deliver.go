package deliver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"nexus/pkg/entity"
	"nexus/pkg/entity/device"
	"nexus/pkg/item"
	"nexus/pkg/mask"
	"nexus/pkg/schedule"
	"nexus/pkg/table"
)

// Outbox holds what putting off an attempt takes. A [Deliverer] and a verification share it.
type Outbox struct {
	Store     table.Store
	Scheduler schedule.Scheduler
	Now       func() time.Time
	// Lead is the least time between now and the instant of a schedule.
	Lead time.Duration
}

// Config holds the dependencies of a [Deliverer]. All are required but those with a remark.
type Config struct {
	Outbox
	Sender Sender
	// Random is fit for cryptography: the right to act on a delivery comes from it.
	Random io.Reader
	// NameOf returns the pseudonym of a user, which devices compare.
	NameOf func(user string) string
	Log    *slog.Logger
	// AtOnce is the number of devices that an event tells at a time; 0 means 1, in the goroutine of the caller.
	AtOnce int
	// Wait waits for less than Lead within a call; nil for a scheduler that calls in time.
	Wait func(ctx context.Context, d time.Duration) error
	// IsGone reports whether a user's account is being erased or was; optional.
	IsGone func(ctx context.Context, user string) (bool, error)
	// Observe receives every outcome, for metrics; optional. It must be safe for concurrent use and return at once.
	Observe func(Outcome)
}

// Outcome is a counted result of one attempt, or of a delivery on a device that is told no more.
type Outcome string

// The outcomes.
const (
	Told    Outcome = "told"    // the push service has it
	Again   Outcome = "again"   // another attempt follows
	Late    Outcome = "late"    // its end has come
	Removed Outcome = "removed" // the device is not registered any more
	Refused Outcome = "refused" // the push service refuses this deployment: its keys
	Failed  Outcome = "failed"  // the push service refuses the request, or the address is none to call
)

// Deliverer tells devices of reminders. It is safe for concurrent use.
type Deliverer struct{ Config }

// New returns a deliverer. It panics on an incomplete configuration, a mistake in the program.
func New(c Config) *Deliverer {
	if c.Store == nil || c.Scheduler == nil || c.Sender == nil || c.Now == nil || c.Random == nil || c.NameOf == nil ||
		c.Log == nil {
		panic("deliver: incomplete configuration")
	}
	if c.Observe == nil {
		c.Observe = func(Outcome) {}
	}
	return &Deliverer{c}
}

// Handle tells all devices of the event's user, by the event's detail. An error is either an [*EventError], which no
// repetition can resolve, or a reason to repeat the event.
func (d *Deliverer) Handle(ctx context.Context, detail []byte) error {
	e, err := parseEvent(detail)
	if err != nil {
		return err
	}
	ctx = mask.With(ctx, e.UserID)
	if isGone, err := d.isGone(ctx, e.UserID); isGone || err != nil || !e.Notify.Browser {
		return err
	}
	devices, err := devicesOf(ctx, d.Store, e.UserID, d.Now())
	if err != nil || len(devices) == 0 {
		return err
	}
	s, err := d.settings(ctx, e.UserID)
	if err != nil {
		return err
	}
	errs := make([]error, len(devices)) // one device keeps none from another
	if d.AtOnce <= 1 {
		for i, one := range devices {
			errs[i] = d.begin(ctx, e, one, s)
		}
		return errors.Join(errs...)
	}
	var all errgroup.Group
	all.SetLimit(d.AtOnce)
	for i, one := range devices {
		all.Go(func() error {
			errs[i] = d.begin(ctx, e, one, s)
			return nil
		})
	}
	_ = all.Wait() // it has no error
	return errors.Join(errs...)
}

// begin puts the row of a delivery on a device, or finds it, and tells the device.
func (d *Deliverer) begin(ctx context.Context, e event, on Device, s settings) error {
	act, err := newAct(d.Random)
	if err != nil {
		return err
	}
	of := newDelivery(e, on.ID, act, d.Now().UTC().Truncate(time.Second))
	row, err := of.row()
	if err != nil {
		return err
	}
	err = d.Store.Put(ctx, table.Put{Item: row, If: table.NotExists()})
	var failed *table.ConditionError
	if errors.As(err, &failed) {
		if of, err = readDelivery(failed.Failures[0].Old); err != nil {
			return err
		}
	} else if err != nil {
		return fmt.Errorf("put %s: %w", of.key(), err)
	}
	_, err = d.attempt(ctx, of, &on, s)
	return err
}

// Wake makes the attempt for which a schedule calls, by the schedule's payload. The row decides, not the call: it may
// come twice, late, or for an attempt that was made since. The schedule of a delivery that is done is deleted: nothing
// else would remove it. Errors are those of [Deliverer.Handle].
func (d *Deliverer) Wake(ctx context.Context, payload []byte) error {
	c, err := parseCall(payload)
	if err != nil {
		return err
	}
	ctx = mask.With(ctx, c.UserID)
	if isGone, err := d.isGone(ctx, c.UserID); isGone || err != nil {
		return err
	}
	isDone, err := d.goOn(ctx, c)
	if err != nil || !isDone {
		return err
	}
	name := ScheduleName(c.UserID, c.DeliveryID, c.DeviceID)
	if err := d.Scheduler.Delete(ctx, name); err != nil {
		return fmt.Errorf("delete schedule %s: %w", name, err)
	}
	return nil
}

// goOn makes the attempt of a call, if the row still waits for one. It reports whether the delivery is done.
func (d *Deliverer) goOn(ctx context.Context, c call) (isDone bool, err error) {
	row, err := table.Find(ctx, d.Store, device.PushKey(c.UserID, c.DeliveryID, c.DeviceID))
	if err != nil || row == nil {
		return true, err
	}
	of, err := readDelivery(row)
	if err != nil || of.state != statePending {
		return true, err
	}
	on, err := findDevice(ctx, d.Store, c.UserID, c.DeviceID, d.Now())
	if err != nil {
		return false, err
	}
	s, err := d.settings(ctx, c.UserID)
	if err != nil {
		return false, err
	}
	if now := d.Now(); of.nextAt.Sub(now) <= slack {
		of.nextAt = now
	}
	return d.attempt(ctx, of, on, s)
}

func (d *Deliverer) isGone(ctx context.Context, user string) (bool, error) {
	if d.IsGone == nil {
		return false, nil
	}
	isGone, err := d.IsGone(ctx, user)
	if err != nil {
		return false, fmt.Errorf("ask for the state of an account: %w", err)
	}
	return isGone, nil
}

func (d *Deliverer) settings(ctx context.Context, user string) (settings, error) {
	rows, err := d.Store.Peek(ctx, []item.Key{entity.MetaKey(user)})
	if err != nil {
		return settings{}, fmt.Errorf("read the settings: %w", err)
	}
	var meta item.Item
	if len(rows) > 0 {
		meta = rows[0]
	}
	return settingsOf(user, meta), nil
}
