package cost

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/eventsource"
	"nexus/pkg/insights"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

// begin is the instant at which the replay's month begins: a Monday, with no change of the clocks in the weeks before
// it.
var begin = time.Date(2026, time.June, 1, 0, 0, 0, 0, time.UTC)

// tail is how long the replay follows the month's effects after its end: by then the last event has reminded, and the
// last task is completed, archived and removed.
const tail = horizon + 4*day

// Options select what is replayed.
type Options struct {
	Load  Load
	Model Model
	// Scale is the part of the users that is replayed, above 0 and at most 1: at least one user is.
	Scale float64
	Seed  uint64
	// Progress, if set, receives the number of finished days.
	Progress func(days, of int)
}

// ErrOptions says that the options are invalid.
var ErrOptions = errors.New("wrong options")

// Month holds the counts of the replayed users. Times scales them to all users.
type Month struct {
	Load  Load    `json:"load"` // of all users
	Model Model   `json:"model"`
	Users int     `json:"users"` // that were replayed
	Times float64 `json:"times"`
	// Taken is everything that follows from the month's items, including effects after its end.
	Taken []*Taken `json:"taken"`
	// Stored is the content of the table and its indexes at the month's end; then the part of it that is left one month
	// later, two months later, and so on, until TTL removes no more of it.
	Stored [][]memory.Stored `json:"stored"`
	// Insights is the part of it that a month's completions leave for good.
	Insights []memory.Stored `json:"insights"`
	// Removed is how many rows TTL removes of all that follows from the month's items, and how many entries of indexes.
	Removed map[table.Index]int `json:"removed"`
	// Readers are the functions that read the stream, with their input.
	Readers []Reader `json:"readers"`
}

// Reader is a function that reads the stream, with its input.
type Reader struct {
	Name          string  `json:"name"`
	WindowSeconds float64 `json:"windowSeconds"`
	BatchSize     int     `json:"batchSize"`
	Lanes         int     `json:"lanes"` // of each shard
}

func (m *Month) reader(function string) *Reader {
	for i := range m.Readers {
		if m.Readers[i].Name == function {
			return &m.Readers[i]
		}
	}
	return nil
}

// Replay replays the month. The same options give the same month.
func Replay(ctx context.Context, o Options) (*Month, error) {
	if o.Scale <= 0 || o.Scale > 1 {
		return nil, fmt.Errorf("%w: scale %g is not above 0 and at most 1", ErrOptions, o.Scale)
	}
	load, times := o.Load.at(o.Scale)
	w, err := newWorld(begin, o.Seed, o.Model)
	if err != nil {
		return nil, err
	}
	plan := &agenda{}
	people := make([]*person, load.Users)
	for i := range people {
		people[i] = newPerson(o.Seed, i, load, o.Load.readsPerUser(o.Load.Users), plan)
	}
	month := &Month{Load: o.Load, Model: o.Model, Users: load.Users, Times: times}
	days := load.Days + int(tail/day)
	for n := range days {
		morning := begin.Add(time.Duration(n) * day)
		if n < load.Days {
			for _, p := range people {
				p.planDay(n, morning)
			}
		}
		if n == load.Days {
			month.Stored = w.stored(morning, time.Duration(load.Days)*day)
			month.Insights = w.store.Stored(morning.AddDate(100, 0, 0), entity.LedgerPrefix(insights.Name))
		}
		if err := w.live(ctx, plan, morning.Add(day)); err != nil {
			return nil, fmt.Errorf("day %d: %w", n+1, err)
		}
		if o.Progress != nil {
			o.Progress(n+1, days)
		}
	}
	for _, r := range w.readers {
		month.Readers = append(month.Readers, Reader{
			r.Name, r.Window.Seconds(), cmp.Or(r.BatchSize, eventsource.DefaultBatchSize), max(r.Parallel, 1),
		})
	}
	month.Taken, month.Removed = w.tally.all(), w.removed
	left, forever := w.store.Stored(w.now, ""), w.store.Stored(w.now.AddDate(100, 0, 0), "")
	for i, of := range left {
		month.Removed[of.Index] += of.Rows - forever[i].Rows
	}
	return month, nil
}

// live carries out the plan, and everything due in between, up to the instant.
func (w *world) live(ctx context.Context, plan *agenda, until time.Time) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		next, ok := plan.next(until)
		if !ok {
			return w.advance(ctx, until)
		}
		if err := w.advance(ctx, next.at); err != nil {
			return err
		}
		if err := next.do(ctx, w); err != nil {
			return errors.Join(ctx.Err(), err)
		}
	}
}

// stored returns what is left of the table's present content, month by month.
func (w *world) stored(end time.Time, month time.Duration) [][]memory.Stored {
	var out [][]memory.Stored
	forever := w.store.Stored(end.AddDate(100, 0, 0), "")
	for at := end; ; at = at.Add(month) {
		left := w.store.Stored(at, "")
		if out = append(out, left); slices.Equal(left, forever) {
			return out
		}
	}
}
