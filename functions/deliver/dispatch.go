package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"nexus/functions/internal/boot"
	"nexus/pkg/deliver"
	"nexus/pkg/webhook"
)

// message has the members by which payloads of different origin are told apart. An event of the bus has its type
// (Amazon EventBridge User Guide, "Events"). A call of the scheduler names a device or a webhook. command names a
// device for a test. effects and command name a webhook to which something is to be sent.
type message struct {
	Type     string          `json:"detail-type"`
	Detail   json.RawMessage `json:"detail"`
	DeviceID string          `json:"deviceId"`
	Hook     string          `json:"webhookId"`
	Tested   string          `json:"testDeviceId"`
}

// dispatch gives a payload to what handles its kind.
func dispatch(ctx context.Context, d *deliver.Deliverer, w *webhook.Worker, payload []byte) error {
	var m message
	if err := json.Unmarshal(payload, &m); err != nil {
		return &boot.Refusal{Message: "payload: " + err.Error()}
	}
	switch {
	case m.Type == deliver.EventType:
		// One keeps nothing from the other: each does nothing that it has done before.
		if err := errors.Join(d.Handle(ctx, m.Detail), w.HandleReminder(ctx, m.Detail)); err != nil {
			return fmt.Errorf("event of the bus: %w", err)
		}
	case m.Type == "" && m.Hook != "":
		if err := w.Work(ctx, payload); err != nil {
			return fmt.Errorf("call for a webhook: %w", err)
		}
	case m.Type == "" && m.DeviceID != "":
		if err := d.Wake(ctx, payload); err != nil {
			return fmt.Errorf("call of the scheduler: %w", err)
		}
	case m.Type == "" && m.Tested != "":
		if err := d.Test(ctx, payload); err != nil {
			return fmt.Errorf("test of a device: %w", err)
		}
	default:
		return &boot.Refusal{Message: "the payload is no event that is told, no call of the scheduler and no test"}
	}
	return nil
}
