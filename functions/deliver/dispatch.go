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

// parts makes what handles a payload, each with its own secret: a secret that cannot be read stops that part alone.
type parts struct {
	deliverer func(context.Context) (*deliver.Deliverer, error)
	worker    func(context.Context) (*webhook.Worker, error)
}

// dispatch gives a payload to what handles its kind.
func (p parts) dispatch(ctx context.Context, payload []byte) error {
	var m message
	if err := json.Unmarshal(payload, &m); err != nil {
		return &boot.Refusal{Message: "payload: " + err.Error()}
	}
	var of string
	var err error
	switch {
	case m.Type == deliver.EventType:
		// One keeps nothing from the other: each does nothing that it has done before.
		of = "event of the bus"
		err = errors.Join(
			with(ctx, p.deliverer, func(d *deliver.Deliverer) error { return d.Handle(ctx, m.Detail) }),
			with(ctx, p.worker, func(w *webhook.Worker) error { return w.HandleReminder(ctx, m.Detail) }),
		)
	case m.Type == "" && m.Hook != "":
		of = "call for a webhook"
		err = with(ctx, p.worker, func(w *webhook.Worker) error { return w.Work(ctx, payload) })
	case m.Type == "" && m.DeviceID != "":
		of = "call of the scheduler"
		err = with(ctx, p.deliverer, func(d *deliver.Deliverer) error { return d.Wake(ctx, payload) })
	case m.Type == "" && m.Tested != "":
		of = "test of a device"
		err = with(ctx, p.deliverer, func(d *deliver.Deliverer) error { return d.Test(ctx, payload) })
	default:
		return &boot.Refusal{Message: "the payload is no event that is told, no call of the scheduler and no test"}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", of, err)
	}
	return nil
}

// with makes a part and has it handle something.
func with[P any](ctx context.Context, part func(context.Context) (P, error), handle func(P) error) error {
	made, err := part(ctx)
	if err != nil {
		return err
	}
	return handle(made)
}
