package deliver

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/entity/device"
	"nexus/pkg/item"
	"nexus/pkg/schedule"
	"nexus/pkg/table"
)

// Attributes of the rows.
const (
	attrState      = "state"
	attrUntil      = "until"
	attrFiredAt    = "firedAt"
	attrAttempts   = "attempts"
	attrLastStatus = "lastStatus"
	attrReason     = "reason"
	attrNextAt     = "nextAt"
	attrAct        = "act"
	attrEvent      = "event"

	attrAction   = "action"
	attrMinutes  = "minutes"
	attrDeviceID = "deviceId"
	attrAt       = "at"
)

// Attributes returns those of the rows that a [Deliverer] writes, and of a device those on which its removal depends.
func Attributes() []string {
	return []string{
		attrState, attrUntil, attrFiredAt, attrAttempts, attrLastStatus, attrReason, attrNextAt, attrAct, attrEvent,
		entity.AttrTTL, attrEndpoint,
	}
}

// States of a delivery on a device.
const (
	statePending = "pending" // perhaps told
	stateSent    = "sent"    // the push service has it
	stateDead    = "dead"    // it is told no more; the row says why
)

// Retention is how long the rows of a delivery are kept: longer than anything about it can come again.
const Retention = 30 * 24 * time.Hour

// delivery is one delivery on one device: a row PUSH#.
type delivery struct {
	event    event
	deviceID string
	state    string
	until    time.Time
	nextAt   time.Time // of the next attempt
	attempts int64
	act      string
}

func (d delivery) key() item.Key {
	return device.PushKey(d.event.UserID, d.event.DeliveryID, d.deviceID)
}

// newDelivery returns a delivery that is due at once.
func newDelivery(e event, deviceID, act string, now time.Time) delivery {
	return delivery{event: e, deviceID: deviceID, state: statePending, until: e.until(), nextAt: now, act: act}
}

func (d delivery) row() (item.Item, error) {
	content, err := json.Marshal(d.event)
	if err != nil {
		return nil, fmt.Errorf("encode event of %s: %w", d.key(), err)
	}
	row := d.key().Item()
	row[attrState] = item.String(d.state)
	row.SetTime(attrUntil, d.until)
	row.SetTime(attrFiredAt, d.event.firedAt)
	row.SetTime(attrNextAt, d.nextAt)
	row[attrAttempts] = item.Int(d.attempts)
	row[attrAct] = item.String(d.act)
	row[attrEvent] = item.String(content)
	row[entity.AttrTTL] = item.Int(d.event.firedAt.Add(Retention).Unix())
	return row, nil
}

// readDelivery is the inverse of delivery.row.
func readDelivery(row item.Item) (delivery, error) {
	e, err := parseEvent([]byte(row.Str(attrEvent)))
	if err != nil {
		return delivery{}, fmt.Errorf("%s: %w", row.Key(), err)
	}
	d := delivery{event: e, state: row.Str(attrState), attempts: row.Int(attrAttempts), act: row.Str(attrAct)}
	var knowsUntil, knowsNext bool
	d.until, knowsUntil = row.Time(attrUntil)
	d.nextAt, knowsNext = row.Time(attrNextAt)
	if at := strings.LastIndexByte(row.Key().SK, '#'); at >= 0 {
		d.deviceID = row.Key().SK[at+1:]
	}
	if !knowsUntil || !knowsNext || d.key() != row.Key() {
		return delivery{}, fmt.Errorf("%s: %w", row.Key(), &EventError{"in the row is another's, or lacks an instant"})
	}
	return d, nil
}

// asRead is the condition that the row is as it was read: it exists, and no attempt was counted since.
func (d delivery) asRead() table.Condition {
	return table.Exists(
		table.Equal(attrState, item.String(statePending)), table.Equal(attrAttempts, item.Int(d.attempts)),
	)
}

// SchedulePrefix begins the names of all schedules of deliveries on devices.
const SchedulePrefix = "push-"

// ScheduleName returns the name under which the next attempt of a delivery on a device is scheduled.
func ScheduleName(user, deliveryID, deviceID string) string {
	return schedule.OwnedName(SchedulePrefix, user, deliveryID, deviceID)
}
