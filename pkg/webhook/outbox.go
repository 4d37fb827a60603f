package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/schedule"
	"nexus/pkg/table"
)

// Outbox holds what putting messages takes. The consumer, the worker and the API share it.
type Outbox struct {
	Store table.Store
	// Scheduler is nil for the API of a deployment: there Invoke alone calls the worker.
	Scheduler schedule.Scheduler
	Now       func() time.Time
	// Happened returns the time of a record by Now, each time the same; nil if they are of one clock.
	Happened func(change.Change) time.Time
	// Lead is the least time between now and the instant of a schedule.
	Lead time.Duration
	// Invoke calls the worker with the payload, without waiting for it; nil for none. With a Scheduler, a schedule makes
	// up for a call that gets lost.
	Invoke func(ctx context.Context, payload []byte) error
}

// call is the payload of a call of the worker: the lane in which something is due.
type call struct {
	UserID string `json:"userId"`
	Hook   string `json:"webhookId"`
}

// CallError says that a payload is none of this package's. Repeating it cannot help.
type CallError struct{ Reason string }

func (e *CallError) Error() string { return "call " + e.Reason }

// early is the payload of a call that comes before its messages are put: the worker sets a schedule, and no more.
type early struct {
	call
	IsEarly bool `json:"early"`
}

func parseCall(payload []byte) (early, error) {
	var c early
	if err := json.Unmarshal(payload, &c); err != nil {
		return early{}, &CallError{"is no JSON: " + err.Error()}
	}
	if err := entity.CheckUserID(c.UserID); err != nil {
		return early{}, &CallError{"names no user: " + err.Error()}
	}
	if err := entity.CheckID(webhookType.IDPrefix, c.Hook); err != nil {
		return early{}, &CallError{"names no endpoint: " + err.Error()}
	}
	return c, nil
}

func (c call) payload() []byte { return payloadOf(c) }

func payloadOf(c any) []byte {
	text, err := json.Marshal(c)
	if err != nil {
		panic(fmt.Sprintf("webhook: %v", err)) // two texts always have a JSON form
	}
	return text
}

// SchedulePrefix begins the names of all schedules of webhooks.
const SchedulePrefix = "hook-"

// own ends the name of the worker's own schedule.
const own = "r"

// mark is the distance of the instants for which producers of messages set schedules.
const mark = 2 * time.Minute

const (
	// leastAhead is how far such an instant is ahead at least.
	leastAhead = time.Minute
	// leastLeft is how far it is ahead at least when a message is put: longer than a put takes.
	leastLeft = leastAhead / 2
)

// ScheduleName returns the name of a schedule of an endpoint; which is one of "0", "1" and "r".
func ScheduleName(user, hook, which string) string {
	return schedule.OwnedName(SchedulePrefix, user, hook) + "-" + which
}

// put puts a message, unless its row is there, and reports whether it was put.
func (o *Outbox) put(ctx context.Context, m message) (isNew bool, err error) {
	content, out := m.rows(o.Now())
	if out == nil {
		err = o.Store.Put(ctx, table.Put{Item: content, If: table.NotExists()})
	} else {
		err = o.Store.Transact(ctx, table.Put{Item: content, If: table.NotExists()}, table.Put{Item: out})
	}
	var failed *table.ConditionError
	if errors.As(err, &failed) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("put the message %s: %w", m.id.Message, err)
	}
	return true, nil
}

// submit puts one message, unless its row is there, and calls the worker.
func (o *Outbox) submit(ctx context.Context, m message) error {
	lane := call{m.user, m.id.Hook}
	soon, err := o.announce(ctx, lane)
	if err != nil {
		return err
	}
	if _, err := o.put(ctx, m); err != nil {
		return err
	}
	return o.wake(ctx, lane, soon)
}

// announce has the worker called soon, and returns when. It comes before the rows are put. A command that dies after
// them is not repeated. A record is, but its endpoint may ask for other events by then. Without a scheduler here, the
// worker sets the schedule.
func (o *Outbox) announce(ctx context.Context, lane call) (soon time.Time, err error) {
	if o.Scheduler == nil {
		return time.Time{}, o.invoke(ctx, payloadOf(early{lane, true}))
	}
	soon = o.soon()
	return soon, o.callAt(ctx, lane, soon)
}

// wake calls the worker now, after the rows are put: it reads them. A schedule makes up for a call that gets lost: the
// one announced, or another if the time of that one is near.
func (o *Outbox) wake(ctx context.Context, lane call, announced time.Time) error {
	if announced.Sub(o.Now()) < leastLeft {
		if err := o.callSoon(ctx, lane); err != nil {
			return err
		}
	}
	return o.invoke(ctx, lane.payload())
}

// invoke calls the worker now. Its failure counts only where no schedule was set.
func (o *Outbox) invoke(ctx context.Context, payload []byte) error {
	if o.Invoke == nil {
		return nil
	}
	if err := o.Invoke(ctx, payload); err != nil && o.Scheduler == nil {
		return fmt.Errorf("call the worker of webhooks: %w", err)
	}
	return nil
}

// callSoon sets a schedule that calls the worker soon.
func (o *Outbox) callSoon(ctx context.Context, lane call) error {
	if o.Scheduler == nil {
		return nil
	}
	return o.callAt(ctx, lane, o.soon())
}

// soon returns the mark for which producers of messages set schedules now.
func (o *Outbox) soon() time.Time {
	return o.Now().Add(leastAhead + mark - time.Nanosecond).UTC().Truncate(mark)
}

// callAt sets the schedule of a mark. Those of two marks that follow have different names, so that a later one never
// takes the place of one that was not called.
func (o *Outbox) callAt(ctx context.Context, lane call, at time.Time) error {
	which := "0"
	if at.Unix()/int64(mark/time.Second)%2 == 1 {
		which = "1"
	}
	return o.schedule(ctx, lane, which, at)
}

func (o *Outbox) schedule(ctx context.Context, lane call, which string, at time.Time) error {
	if least := o.Now().Add(o.Lead).UTC().Truncate(time.Second).Add(time.Second); at.Before(least) {
		at = least
	}
	name := ScheduleName(lane.UserID, lane.Hook, which)
	if err := o.Scheduler.Put(ctx, schedule.Schedule{Name: name, At: at, Payload: lane.payload()}); err != nil {
		return fmt.Errorf("schedule a call for the endpoint %s: %w", lane.Hook, err)
	}
	return nil
}

// hooksOf returns the endpoints of a user, by their ids.
func (o *Outbox) hooksOf(ctx context.Context, user string) ([]item.Item, error) {
	rows, err := table.All(ctx, o.Store, table.Query{
		Partition: entity.UserPK(user), Range: table.Range{Prefix: entity.ItemPrefix(webhookType.Name)},
	}, 0)
	if err != nil {
		return nil, fmt.Errorf("read the endpoints: %w", err)
	}
	return rows, nil
}
