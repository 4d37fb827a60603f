package local

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// sweepPause is the least time between two sweeps of the driver: rows that expire one by one are removed together.
const sweepPause = time.Second

// sweepDriver removes rows when they expire by the platform's clock. It does not search the table: the expiries tell
// it when there is work.
type sweepDriver struct {
	sweepRows func(ctx context.Context, at time.Time) (int, error) // nil where the service sweeps
	rows      *expiries
	clock     *clock
	log       *slog.Logger

	sweeping sync.Mutex
	removed  atomic.Int64 // rows since the start
}

// run drives until the context ends. It begins with a sweep even if no expired row is known: readers of the stream may
// wait for an intent that a crash left open.
func (d *sweepDriver) run(ctx context.Context) {
	for ctx.Err() == nil {
		if _, err := d.sweep(ctx); err == nil {
			break
		} else if ctx.Err() == nil {
			d.log.Warn("first sweep of expired rows failed; it is repeated", "error", err)
		}
		waitFor(ctx, driverPause, nil, nil, nil)
	}
	for ctx.Err() == nil {
		moved, news := d.clock.Moved(), d.rows.news()
		wait := time.Duration(-1) // wait only for a signal
		if next, any := d.rows.next(false); any {
			if wait = next.Sub(d.clock.Now()); wait <= 0 {
				if _, err := d.sweep(ctx); err != nil && ctx.Err() == nil {
					d.log.Warn("sweep of expired rows failed; it is repeated", "error", err)
				}
				waitFor(ctx, sweepPause, nil, nil, nil)
				continue
			}
		}
		waitFor(ctx, wait, moved, news, nil)
	}
}

// sweep removes the rows that have expired by now and returns their number.
func (d *sweepDriver) sweep(ctx context.Context) (int, error) {
	if d.sweepRows == nil {
		return 0, nil
	}
	d.sweeping.Lock()
	defer d.sweeping.Unlock()
	count, err := d.sweepRows(ctx, d.clock.Now())
	d.removed.Add(int64(count))
	return count, err
}
