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

// sweepDriver removes rows when they expire by the platform's clock. Nothing is looked for in the table: the expiries
// say when there is something to do.
type sweepDriver struct {
	sweepRows func(ctx context.Context, at time.Time) (int, error) // nil where the service sweeps
	rows      *expiries
	clock     *clock
	log       *slog.Logger

	sweeping sync.Mutex
	removed  atomic.Int64 // rows since the start
}

// run drives until the context ends. It begins with a sweep whatever is known to have expired: what a crash left open
// in an earlier one is what readers of the stream may be waiting for.
func (d *sweepDriver) run(ctx context.Context) {
	for ctx.Err() == nil {
		if _, err := d.sweep(ctx); err == nil {
			break
		} else if ctx.Err() == nil {
			d.log.Warn("first sweep of expired rows failed; it is repeated", "error", err)
		}
		waitFor(ctx, driverPause, nil, nil)
	}
	for ctx.Err() == nil {
		moved, news := d.clock.Moved(), d.rows.news()
		wait := time.Duration(-1) // for news alone
		if next, any := d.rows.next(false); any {
			if wait = next.Sub(d.clock.Now()); wait <= 0 {
				if _, err := d.sweep(ctx); err != nil && ctx.Err() == nil {
					d.log.Warn("sweep of expired rows failed; it is repeated", "error", err)
				}
				waitFor(ctx, sweepPause, nil, nil)
				continue
			}
		}
		waitFor(ctx, wait, moved, news)
	}
}

// sweep removes what has expired by now and returns how many rows.
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
