package deliver

import (
	"context"
	"encoding/json"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/entity/device"
	"nexus/pkg/item"
	"nexus/pkg/mask"
	"nexus/pkg/schedule"
	"nexus/pkg/table"
)

// TypeTest stands in a test for the type of an item. There is none: the message tells that the device is reached.
const TypeTest = "TEST"

// testEvery is the time in which all tests of a device are one.
const testEvery = time.Minute

// Test is a message to one device, for its user to see whether it arrives.
type Test struct {
	UserID   string `json:"userId"`
	DeviceID string `json:"testDeviceId"`
	// At is the minute of the test. Two of a device in a minute are one delivery, which is told once.
	At string `json:"at"`
}

// NewTest returns the test of a device at an instant.
func NewTest(user, deviceID string, now time.Time) Test {
	return Test{user, deviceID, item.FormatInstant(now.UTC().Truncate(testEvery))}
}

// NewTest returns the test of a device now.
func (s *Devices) NewTest(user, deviceID string) Test { return NewTest(user, deviceID, s.now()) }

// DeliveryID names the delivery.
func (t Test) DeliveryID() string { return "test-" + schedule.Digest(t.UserID, t.DeviceID, t.At) }

// Payload returns the test as [Deliverer.Test] takes it.
func (t Test) Payload() ([]byte, error) { return json.Marshal(t) }

// Test tells a device that it is reached, by the payload of a [Test], as if it were a reminder. One that is not
// registered is not told. Errors are those of [Deliverer.Handle].
func (d *Deliverer) Test(ctx context.Context, payload []byte) error {
	var t Test
	if err := json.Unmarshal(payload, &t); err != nil {
		return &EventError{"is no test: " + err.Error()}
	}
	e := event{
		DeliveryID: t.DeliveryID(), UserID: t.UserID, OccurredAt: t.At, ItemType: TypeTest, ItemID: t.DeviceID,
		OccurrenceUtc: t.At, DueUtc: t.At, Notify: notify{Browser: true, Sound: true},
	}
	if err := e.read(); err != nil {
		return err
	}
	if CheckDeviceID(t.DeviceID) != nil {
		return &EventError{"names no device"}
	}
	ctx = mask.With(ctx, t.UserID)
	if isGone, err := d.isGone(ctx, t.UserID); isGone || err != nil {
		return err
	}
	on, err := findDevice(ctx, d.Store, t.UserID, t.DeviceID, d.Now())
	if err != nil || on == nil {
		return err
	}
	s, err := d.settings(ctx, t.UserID)
	if err != nil {
		return err
	}
	e.Title = on.Name
	return d.begin(ctx, e, *on, s)
}

// findDevice returns a device as it is registered now; nil if it is not.
func findDevice(ctx context.Context, store table.Reader, user, id string, now time.Time) (*Device, error) {
	row, err := table.Find(ctx, store, device.DeviceKey(user, id))
	if err != nil || row == nil || entity.Expired(row, now) {
		return nil, err
	}
	on := readDevice(row)
	return &on, nil
}
