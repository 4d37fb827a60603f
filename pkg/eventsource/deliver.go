package eventsource

import (
	"context"
	"errors"
	"fmt"

	"nexus/pkg/change"
)

// deliver sends the records to the handler, in order, until each is finished or given up. It saves a checkpoint after
// each part but the last, which the caller's checkpoint covers. It returns false if ctx ends first.
func (r *reader) deliver(ctx context.Context, records []change.Record) bool {
	parts := []part{}
	if len(records) > 0 {
		parts = append(parts, part{records: records})
	}
	failures := 0 // in a row
	for len(parts) > 0 {
		p := parts[0]
		parts = parts[1:]
		event := change.AppendEvent(make([]byte, 0, r.eventBytes), p.records)
		if len(event) > maxEventBytes && len(p.records) > 1 {
			parts = append(p.halves(), parts...)
			continue
		}
		r.eventBytes = len(event)
		d := r.m.invoke(ctx, r.m.wiring.Handler, Delivery{Shard: r.shard, Records: p.records}, event)
		if ctx.Err() != nil && d.Finished < len(p.records) {
			// The mapping was stopped: the unfinished rest is no sign of a failure.
			if d.Finished > 0 {
				r.finish(ctx, Checkpoint{Sequence: p.records[d.Finished-1].Sequence}, d.Finished)
			}
			return false
		}
		p.invoked++
		next := r.m.config.decide(p, d.Finished, r.m.wiring.Clock())
		if len(next.giveUp) > 0 && !r.sendToDestination(ctx, next, d, p.invoked) {
			return false
		}
		parts = append(next.again, parts...)
		behind := d.Finished + len(next.giveUp)
		if behind > 0 {
			failures = 0
			if len(parts) > 0 && !r.finish(ctx, Checkpoint{Sequence: p.records[behind-1].Sequence}, behind) {
				return false
			}
		}
		if len(next.again) > 0 {
			failures++
			r.m.update(func() { r.state.failures = failures })
			if !r.m.pause(ctx, r.m.wiring.Backoff(failures)) {
				return false
			}
		}
	}
	r.m.update(func() { r.state.failures = 0 })
	return true
}

// sendToDestination sends records to the on-failure destination until it has them. It returns false if ctx ends first.
func (r *reader) sendToDestination(ctx context.Context, a action, d Delivery, invoked int) bool {
	failure := Failure{
		Mapping: r.m.config.Name, FunctionARN: r.m.config.FunctionARN, RequestID: d.RequestID,
		Condition: a.condition, Invocations: invoked,
		Cause: d.Err, FunctionError: d.Err != nil && !errors.Is(d.Err, ErrAnswer),
		At: r.m.wiring.Clock(), Shard: r.shard, Records: a.giveUp,
	}
	for failures := 1; ; failures++ {
		err := r.m.wiring.Destination(ctx, failure)
		if err == nil {
			return true
		}
		r.m.trouble(ctx, r.shard, fmt.Errorf("give up %d records from %s: %w", len(a.giveUp), a.giveUp[0].Sequence, err))
		if !r.m.pause(ctx, r.m.wiring.Backoff(failures)) {
			return false
		}
	}
}
