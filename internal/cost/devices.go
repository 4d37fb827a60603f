package cost

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"nexus/pkg/bus"
	"nexus/pkg/deliver"
	"nexus/pkg/system"
)

// deliverFunction brings reminders to devices.
const deliverFunction = "deliver"

// registered is the number of devices that a user has on each of ten days, which come round and round: on six of ten
// days one and a half. So all users are alike, and together they are 60 % who have 1.5 devices each.
var registered = []int{1, 0, 2, 1, 0, 2, 0, 1, 2, 0}

// devicesOn returns how many devices a user has on a day of the month.
func devicesOn(n int) int { return registered[n%len(registered)] }

// deviceID names a device of a user.
func deviceID(i int) string { return fmt.Sprintf("3f0c1c5e-6a52-4c39-9a0e-0d1b6c2f7a%02d", i) }

// subscription returns the body with which a browser registers, of usual lengths.
func subscription() map[string]any {
	return map[string]any{
		"name": "Firefox on the laptop",
		"endpoint": "https://updates.push.example.com/wpush/v2/gAAAAABm" +
			"u1qJ0c2rYw1bG5sVdq8ZfT3mXnA6kLpE9uQiRoWvBxCyDu1qJ0c2rYw1bG5sVdq8ZfT3mXnA6kLpE9uQiRoWvBxCyD-4tV8sYb2",
		"keys": map[string]any{
			"p256dh": "BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u-Ts1XbjhazAkj7I99e8QcYP7DkM",
			"auth":   "tBHItJI5svbpez7KI4CCXg",
		},
	}
}

// planDevices plans that the person has the day's devices, at no charge. What a registration costs, each renewal does.
func (p *person) planDevices(n int, morning time.Time) {
	p.plan.put(morning, func(ctx context.Context, w *world) error {
		devices := deliver.NewDevices(w.store, w.clock)
		for i := range 2 {
			if i >= devicesOn(n) {
				if err := devices.Delete(ctx, p.id, deviceID(i)); err != nil {
					return err
				}
				continue
			}
			s := subscription()
			keys := s["keys"].(map[string]any)
			_, err := devices.Put(ctx, p.id, deliver.Device{
				ID: deviceID(i), Endpoint: s["endpoint"].(string), Name: s["name"].(string),
				Keys: deliver.Keys{P256dh: keys["p256dh"].(string), Auth: keys["auth"].(string)},
			}, 0)
			if err != nil {
				return err
			}
		}
		return w.deliver(ctx) // no reader gets these rows
	})
}

// planRenewal plans that an app that opens renews its device.
func (p *person) planRenewal(at time.Time) {
	p.command(at, request{
		activity: Activity{"renew a device", Pushes}, method: http.MethodPut, path: "/v1/me/devices/" + deviceID(0),
		body: subscription(),
	}, "", &thing{})
}

// planCompletion plans that the person completes a reminder that has rung: on its notification, on a day with a device.
func (p *person) planCompletion(n int, at time.Time, reminder *thing) {
	p.plan.put(at, func(ctx context.Context, w *world) error {
		if act := w.acts[reminder.id]; act != "" && devicesOn(n) > 0 {
			delete(w.acts, reminder.id)
			return p.send(ctx, w, request{
				activity: Activity{"complete a reminder on its notification", LifeCycle}, method: http.MethodPost, path: act,
				body: map[string]any{"action": deliver.ActComplete},
			}, "", reminder)
		}
		return p.send(ctx, w, request{
			activity: Activity{"complete a reminder", LifeCycle}, method: http.MethodPost,
			path: "/v1/reminders/" + idHere + "/complete",
		}, "", reminder)
	})
}

// pushes returns the ports of reminders on devices: a push service that takes each message.
func (w *world) pushes() *system.Pushes {
	return &system.Pushes{Sender: pushService{w}, Key: "key", CheckEndpoint: func(string) error { return nil }}
}

type pushService struct{ *world }

// Send implements [deliver.Sender]. It keeps the path of the action, as the device does.
func (s pushService) Send(_ context.Context, p deliver.Push) (deliver.Answer, error) {
	var message struct {
		ItemID string `json:"itemId"`
		Act    string `json:"act"`
	}
	if err := json.Unmarshal(p.Payload, &message); err != nil {
		return deliver.Answer{}, err
	}
	if message.Act != "" {
		s.acts[message.ItemID] = message.Act
	}
	s.tally.current.Pushes++
	s.tally.waits(s.tally.model.PushMilliseconds)
	return deliver.Answer{Status: http.StatusCreated}, nil
}

// announced keeps the events that a rule of the bus gives to deliver.
func (w *world) announced(events []bus.Event) {
	for _, e := range events {
		if e.Type == deliver.EventType {
			w.due = append(w.due, e.Detail)
		}
	}
}

// bringAll brings the reminders that are due to devices.
func (w *world) bringAll(ctx context.Context) error {
	for len(w.due) > 0 {
		detail := w.due[0]
		w.due = w.due[1:]
		w.tally.begin(Activity{"remind on devices", Pushes})
		err := w.tally.invoke(deliverFunction, func() error { return w.deliverer.Handle(ctx, detail) })
		if err != nil {
			return fmt.Errorf("deliver %s: %w", detail, err)
		}
	}
	return nil
}
