package eventsource

import (
	"context"
	"fmt"

	"nexus/pkg/change"
)

// redeliveryTries bounds the redeliveries of one batch without progress before Redeliver gives up.
const redeliveryTries = 5

// Redeliver delivers records that the mapping has finished to the handler again, the given number of times in a row.
// It runs beside the mapping's own deliveries and changes no checkpoint. It begins at the sequence number from, or at
// the oldest available record if from is empty, and ends at the mapping's checkpoint. It takes one shard after the
// other, parents first. A nil handler is the mapping's own. It returns how many records it delivered, repetitions
// counted. It returns an error if the handler repeatedly fails on one: it gives nothing up.
func (m *Mapping) Redeliver(ctx context.Context, handler Handler, from string, times int) (int, error) {
	if handler == nil {
		handler = m.wiring.Handler
	}
	shards, err := m.wiring.Source.Shards(ctx)
	if err != nil {
		return 0, fmt.Errorf("redeliver to %q: list shards: %w", m.config.Name, err)
	}
	checkpoints, err := m.wiring.Checkpoints.Load(ctx, m.config.Name)
	if err != nil {
		return 0, fmt.Errorf("redeliver to %q: load checkpoints: %w", m.config.Name, err)
	}
	delivered := 0
	for range times {
		for _, shard := range parentsFirst(shards) {
			n, err := m.redeliverShard(ctx, handler, shard.ID, from, checkpoints[shard.ID].Sequence)
			if delivered += n; err != nil {
				return delivered, fmt.Errorf("redeliver to %q: shard %s: %w", m.config.Name, shard.ID, err)
			}
		}
	}
	return delivered, nil
}

func (m *Mapping) redeliverShard(
	ctx context.Context, handler Handler, shard, from, until string,
) (delivered int, err error) {
	for after := ""; change.CompareSequence(after, until) < 0; {
		slice, err := m.wiring.Source.Read(ctx, shard, after, min(m.config.BatchSize, maxRead))
		if err != nil {
			return delivered, fmt.Errorf("read behind %q: %w", after, err)
		}
		if len(slice.Records) == 0 {
			return delivered, nil // the rest of it has been trimmed
		}
		after = slice.Records[len(slice.Records)-1].Sequence
		var records []change.Record
		for _, r := range slice.Records {
			if change.CompareSequence(r.Sequence, from) >= 0 && change.CompareSequence(r.Sequence, until) <= 0 &&
				m.config.Filter.Match(r) {
				records = append(records, r)
			}
		}
		n, err := m.redeliverBatch(ctx, handler, shard, records)
		if delivered += n; err != nil {
			return delivered, err
		}
	}
	return delivered, nil
}

func (m *Mapping) redeliverBatch(
	ctx context.Context, handler Handler, shard string, records []change.Record,
) (delivered int, err error) {
	for failures := 0; len(records) > 0; {
		size := len(records)
		event := change.AppendEvent(nil, records)
		for len(event) > maxEventBytes && size > 1 {
			size /= 2
			event = change.AppendEvent(nil, records[:size])
		}
		d := m.invoke(ctx, handler, Delivery{Shard: shard, Records: records[:size], Again: true}, event)
		delivered += d.Finished
		records = records[d.Finished:]
		if d.Finished == size {
			failures = 0
			continue
		}
		if failures++; d.Finished > 0 {
			failures = 1
		}
		if failures == redeliveryTries {
			if d.Err == nil {
				d.Err = fmt.Errorf("the handler reports it as failed")
			}
			return delivered, fmt.Errorf("record %s, tried %d times: %w", records[0].Sequence, failures, d.Err)
		}
		if !m.pause(ctx, m.wiring.Backoff(failures)) {
			return delivered, ctx.Err()
		}
	}
	return delivered, nil
}
