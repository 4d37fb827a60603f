package main

import (
	"context"
	"encoding/json"
	"fmt"

	"nexus/functions/internal/boot"
	"nexus/pkg/deliver"
)

// message has the members by which payloads of different origin are told apart. An event of the bus has its type
// (Amazon EventBridge User Guide, "Events"), a call of the scheduler names a device, and so does command for a test.
type message struct {
	Type     string          `json:"detail-type"`
	Detail   json.RawMessage `json:"detail"`
	DeviceID string          `json:"deviceId"`
	Tested   string          `json:"testDeviceId"`
}

// dispatch gives a payload to what handles its kind.
func dispatch(ctx context.Context, d *deliver.Deliverer, payload []byte) error {
	var m message
	if err := json.Unmarshal(payload, &m); err != nil {
		return &boot.Refusal{Message: "payload: " + err.Error()}
	}
	switch {
	case m.Type == deliver.EventType:
		if err := d.Handle(ctx, m.Detail); err != nil {
			return fmt.Errorf("event of the bus: %w", err)
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
