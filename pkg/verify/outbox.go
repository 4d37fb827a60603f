package verify

import (
	"context"

	"nexus/pkg/entity/device"
	"nexus/pkg/item"
	"nexus/pkg/webhook"
)

// outbox finds deliveries on devices that are due, and that nothing calls for any more. The bound is far above the time
// that a call takes, so one read is enough.
func (r *run) outbox(ctx context.Context, user string) error {
	if r.Devices == nil {
		return nil
	}
	return r.each(ctx, user, family{prefix: device.PushPrefix()}, func(row item.Item, _ string) error {
		d := Difference{Kind: Outbox, User: user, Key: row.Key().String(), Is: "due for 10 minutes", ShouldBe: "done"}
		isOverdue, err := r.Devices.IsOverdue(row)
		if err != nil {
			d.Is, d.ShouldBe = err.Error(), "readable"
		} else if !isOverdue {
			return nil
		}
		if err := r.found(d); err != nil || !isOverdue || !r.repairing {
			return err
		}
		return r.forgive(ctx, user, d.Key, r.Devices.Resume(ctx, row))
	})
}

// webhooks finds messages to webhooks that are due and that nothing calls for any more, and rows of the outbox that do
// not belong to a pending message, or lack one.
func (r *run) webhooks(ctx context.Context, user string) error {
	if r.Webhooks == nil {
		return nil
	}
	return r.Webhooks.Check(ctx, user, func(f webhook.Fault) error {
		d := Difference{Kind: Outbox, User: user, Key: f.Key.String(), Is: f.Is, ShouldBe: f.ShouldBe}
		if err := r.found(d); err != nil || f.Repair == nil || !r.repairing {
			return err
		}
		return r.forgive(ctx, user, d.Key, f.Repair(ctx))
	})
}
