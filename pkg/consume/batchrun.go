package consume

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
)

// maxDoublings bounds the wait between two attempts to a multiple of the first.
const maxDoublings = 6

// batchRun applies one batch to one consumer until each record is done, parked or given up.
type batchRun struct {
	cfg      *Config
	consumer change.Consumer
	folds    bool
	batch    []change.Decoded
	records  []progress // one for each of batch
	retried  int
}

// progress is the state of one record.
type progress struct {
	finished bool // done or parked
	parked   bool
	already  bool // done, in an earlier delivery
	tries    int  // failed attempts of its present step: to be applied, or to be parked
	// alone says that the record panicked, so no other record is applied in one call with it.
	alone bool
	// poison is why the record can never succeed; then it only needs to be parked.
	poison error
	// last is the error of the last failed attempt.
	last error
	// calls counts the calls of the consumer with the record; began and took measure them, if anyone wants to know.
	calls int
	began time.Time
	took  time.Duration
}

// newBatchRun begins a run. A record that is gone is finished.
func newBatchRun(cfg *Config, consumer change.Consumer, batch []change.Decoded, gone []bool) *batchRun {
	d := &batchRun{cfg: cfg, consumer: consumer, batch: batch, records: make([]progress, len(batch))}
	_, d.folds = consumer.(change.BatchConsumer)
	for i, rec := range batch {
		d.records[i].poison, d.records[i].finished = rec.Err, gone != nil && gone[i]
	}
	return d
}

// run tries until every record is finished or given up, or working ends. Objects are parked under ctx, which lasts
// longer.
func (d *batchRun) run(ctx, working context.Context) {
	for wave := d.wave(); len(wave) > 0 && working.Err() == nil; wave = d.wave() {
		if pause := d.pause(wave); pause > 0 && d.cfg.Wait(working, pause) != nil {
			break
		}
		d.attempt(ctx, working, wave)
	}
	if first := d.firstUnfinished(); first < len(d.batch) {
		d.cfg.Log.LogAttrs(ctx, slog.LevelError, "batch not finished",
			slog.String("consumer", d.consumer.Name()), slog.Int("unfinished", d.counts().Unfinished),
			slog.String("sequence", d.batch[first].Sequence), slog.String("key", d.batch[first].Key.String()),
			slog.String("traceId", d.batch[first].Change.TraceID()),
			slog.Any("error", errors.Join(d.records[first].last, working.Err())))
	}
}

// wave returns the records to try next, in order: those not finished and not given up, unless an earlier one of the
// same item has to be finished first.
func (d *batchRun) wave() []int {
	var out []int
	blocked := map[item.Key]bool{} // an earlier record of the item must be finished first
	taken := map[item.Key]bool{}   // an earlier record of the item is in this wave
	for i, rec := range d.batch {
		p := &d.records[i]
		if p.finished || blocked[rec.Key] {
			continue
		}
		single := !d.folds || p.alone || p.poison != nil
		if p.tries >= d.cfg.Attempts || single && taken[rec.Key] {
			d.block(blocked, rec.Key)
			continue
		}
		out = append(out, i)
		taken[rec.Key] = rec.Key != item.Key{}
		if single {
			d.block(blocked, rec.Key)
		}
	}
	return out
}

// block delays the item's later records. A record whose key could not be read belongs to no item.
func (d *batchRun) block(blocked map[item.Key]bool, key item.Key) {
	blocked[key] = key != item.Key{}
}

// pause returns the wait before the wave: none unless a record in it has failed before.
func (d *batchRun) pause(wave []int) time.Duration {
	tries := 0
	for _, i := range wave {
		tries = max(tries, d.records[i].tries)
	}
	if tries == 0 {
		return 0
	}
	return d.cfg.Backoff << min(tries-1, maxDoublings)
}

// attempt tries each record of the wave once.
func (d *batchRun) attempt(ctx, working context.Context, wave []int) {
	var together, alone []int
	for _, i := range wave {
		switch p := &d.records[i]; {
		case p.poison != nil:
			if working.Err() == nil {
				d.park(ctx, i)
			}
		case p.alone && d.folds:
			alone = append(alone, i)
		default:
			together = append(together, i)
		}
	}
	if !d.folds {
		d.each(ctx, working, together)
		return
	}
	if len(together) > 0 && working.Err() == nil {
		outcomes, err := d.apply(working, together)
		if panicked := (*panicError)(nil); errors.As(err, &panicked) && len(together) > 1 {
			// Each is tried alone, because none may suffer from the one that panicked.
			alone = append(together, alone...)
		} else {
			d.applyOutcomes(ctx, together, outcomes, err)
		}
	}
	unfinished := map[item.Key]bool{}
	for _, i := range alone {
		if working.Err() != nil {
			return
		}
		if unfinished[d.batch[i].Key] {
			continue
		}
		outcomes, err := d.apply(working, []int{i})
		d.applyOutcomes(ctx, []int{i}, outcomes, err)
		if !d.records[i].finished {
			d.block(unfinished, d.batch[i].Key)
		}
	}
}

// each applies the records in calls of their own, side by side. One that working leaves no time to begin has not been
// tried.
func (d *batchRun) each(ctx, working context.Context, wave []int) {
	settle, tasks := make([]func(), len(wave)), make([]func(), len(wave))
	for k := range wave {
		one := wave[k : k+1]
		tasks[k] = func() {
			if working.Err() == nil {
				outcomes, err := d.apply(working, one)
				settle[k] = func() { d.applyOutcomes(ctx, one, outcomes, err) }
			}
		}
	}
	d.cfg.Spread(d.cfg.Width, tasks)
	for _, known := range settle {
		if known != nil {
			known()
		}
	}
}

// applyOutcomes acts on the outcomes of one call; err replaces all of them.
func (d *batchRun) applyOutcomes(ctx context.Context, wave []int, outcomes []change.Outcome, err error) {
	unfinished := map[item.Key]bool{}
	for k, i := range wave {
		key := d.batch[i].Key
		if unfinished[key] {
			continue // applied before an earlier one of its item: it counts when that one is finished
		}
		outcome := change.Outcome{Verdict: change.Retry, Err: err}
		if err == nil {
			outcome = outcomes[k]
		}
		d.applyOutcome(ctx, i, outcome)
		if !d.records[i].finished {
			d.block(unfinished, key)
		}
	}
}

func (d *batchRun) applyOutcome(ctx context.Context, i int, outcome change.Outcome) {
	p := &d.records[i]
	switch outcome.Verdict {
	case change.Done:
		p.finished, p.already = true, outcome.Already
		return
	case change.Poison:
		d.condemn(ctx, i, outcome.Err)
		return
	}
	d.failed(i, outcome.Err)
	if panicked := (*panicError)(nil); errors.As(outcome.Err, &panicked) {
		p.alone = true
		if p.tries >= d.cfg.Attempts {
			// It panics on every attempt: that is a property of the record, not of the moment.
			d.condemn(ctx, i, outcome.Err)
		}
	}
}

// condemn gives the record up for good: from now on it only needs to be parked. Parking has its own number of
// attempts.
func (d *batchRun) condemn(ctx context.Context, i int, reason error) {
	if reason == nil {
		reason = errors.New("the consumer gave no reason")
	}
	d.records[i].poison, d.records[i].tries = reason, 0
	d.park(ctx, i)
}

func (d *batchRun) failed(i int, err error) {
	if err == nil {
		err = errors.New("the consumer gave no reason")
	}
	p := &d.records[i]
	p.tries++
	p.last = err
	d.retried++
}

// firstUnfinished returns the position of the first record that is neither done nor parked, or the batch's length.
func (d *batchRun) firstUnfinished() int {
	for i := range d.records {
		if !d.records[i].finished {
			return i
		}
	}
	return len(d.records)
}

func (d *batchRun) counts() Counts {
	c := Counts{Records: len(d.records), Retried: d.retried}
	for i, p := range d.records {
		if at := d.batch[i].Change.Created; !at.IsZero() && (c.Oldest.IsZero() || at.Before(c.Oldest)) {
			c.Oldest = at
		}
		switch {
		case p.parked:
			c.Parked++
		case p.finished:
			c.Done++
			if p.already {
				c.Already++
			}
		default:
			c.Unfinished++
			if errors.Is(p.last, entity.ErrNewerForm) {
				c.Newer++
			}
		}
	}
	return c
}
