package eventsource

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"nexus/pkg/change"
)

// maxRead is the number of records that GetRecords returns at most.
const maxRead = 1000

// reader reads one shard from its checkpoint to its end.
type reader struct {
	m     *Mapping
	shard string
	state *shardState
	after string          // the last record read
	ahead []change.Record // read and not yet taken into a batch
	end   bool            // the source said that nothing comes after these

	eventBytes int // of the last event: a guess at the next one's size
}

// batch is the work of one round: the records that passed the filter, and the position up to which they were read.
type batch struct {
	records []change.Record
	through string // the last record taken, passed or not; empty if none was
	end     bool
}

func (r *reader) run(ctx context.Context) {
	for {
		b, ok := r.gather(ctx)
		if !ok || !r.deliver(ctx, b.records) {
			return
		}
		if b.through != "" || b.end {
			if !r.finish(ctx, Checkpoint{Sequence: cmp.Or(b.through, r.after), Done: b.end}, len(b.records)) {
				return
			}
		}
		if b.end {
			r.m.discover() // its children can start
			return
		}
	}
}

// gather reads until there is something to finish: a full batch, the records of a batching window, records that the
// filter drops, or the shard's end. It returns false if ctx ends first.
func (r *reader) gather(ctx context.Context) (batch, bool) {
	var b batch
	var closes time.Time // of the window, once there is a record to wait with
	for failures := 0; ctx.Err() == nil; {
		woken, changed := r.m.news() // before reading, so that no record is missed
		read, err := r.readAhead(ctx)
		if err != nil {
			if failures++; len(b.records) > 0 {
				return b, true // the gathered records need not wait for the source to recover
			}
			r.m.trouble(ctx, r.shard, fmt.Errorf("read behind %q: %w", r.after, err))
			r.m.pause(ctx, r.m.wiring.Backoff(failures))
			continue
		}
		failures = 0
		r.take(&b)
		if b.end || len(b.records) >= r.m.config.BatchSize || len(b.records) == 0 && b.through != "" {
			return b, true
		}
		if len(b.records) == 0 {
			r.idle(ctx, woken, changed, r.m.wiring.Poll)
			continue
		}
		now := r.m.wiring.Clock()
		if closes.IsZero() {
			closes = now.Add(r.m.config.Window)
		}
		if !now.Before(closes) {
			return b, true
		}
		if read == 0 {
			r.idle(ctx, woken, changed, min(r.m.wiring.Poll, closes.Sub(now)))
		}
	}
	return batch{}, false
}

// readAhead reads unless there are records to take, and returns how many there are. It reads as many as the service
// gives at a time: of ten records the filter may drop nine, and a batch of what is left would be small.
func (r *reader) readAhead(ctx context.Context) (int, error) {
	if len(r.ahead) > 0 || r.end {
		return len(r.ahead), nil
	}
	slice, err := r.m.wiring.Source.Read(ctx, r.shard, r.after, maxRead)
	if err != nil {
		return 0, err
	}
	r.ahead, r.end = slice.Records, slice.End
	if len(r.ahead) > 0 {
		r.after = r.ahead[len(r.ahead)-1].Sequence
	}
	return len(r.ahead), nil
}

// take moves records into the batch until it is full.
func (r *reader) take(b *batch) {
	for len(r.ahead) > 0 && len(b.records) < r.m.config.BatchSize {
		record := r.ahead[0]
		r.ahead = r.ahead[1:]
		b.through = record.Sequence
		if r.m.config.Filter.Match(record) {
			b.records = append(b.records, record)
		}
	}
	b.end = r.end && len(r.ahead) == 0
	r.m.update(func() { r.state.pending = b.records })
}

// idle waits for news, at most for d.
func (r *reader) idle(ctx context.Context, woken, changed <-chan struct{}, d time.Duration) {
	select {
	case <-woken:
	case <-changed:
	case <-r.m.wiring.After(d):
	case <-ctx.Done():
	}
}

// finish saves a checkpoint, repeating until it is stored, and removes n records from those pending. The handler's
// work is done, so a mapping that is being stopped still tries once. It returns false if the checkpoint is not stored.
func (r *reader) finish(ctx context.Context, c Checkpoint, n int) bool {
	for failures := 1; ; failures++ {
		err := r.m.wiring.Checkpoints.Save(context.WithoutCancel(ctx), r.m.config.Name, r.shard, c)
		if err == nil {
			break
		}
		r.m.trouble(ctx, r.shard, fmt.Errorf("save checkpoint %q: %w", c.Sequence, err))
		if !r.m.pause(ctx, r.m.wiring.Backoff(failures)) {
			return false
		}
	}
	r.m.update(func() {
		r.state.position, r.state.done = c.Sequence, c.Done
		r.state.pending = r.state.pending[min(n, len(r.state.pending)):]
	})
	return true
}
