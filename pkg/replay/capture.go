package replay

import (
	"context"
	"fmt"
	"slices"
	"time"

	"nexus/pkg/change"
	"nexus/pkg/deploy/readers"
	"nexus/pkg/entity"
	"nexus/pkg/eventsource"
)

const (
	// readRecords is how many records are requested at a time.
	readRecords = 1000
	// emptyReads is how many consecutive reads must find nothing before an open shard counts as read: the service answers
	// with nothing while it searches for more.
	emptyReads = 10
)

// Capture reads a stream from its beginning.
type Capture struct {
	Registry *entity.Registry
	Source   eventsource.Source
	// All includes the rows that no consumer receives.
	All bool
	// Heads, if known, are the last records of the shards: no later record is read. A shard without one is not read.
	Heads map[string]string
	// Follow continues to read new records until the context ends, which is then no error.
	Follow bool
	// Pause is the wait after a read that found nothing.
	Pause time.Duration
	Wait  func(ctx context.Context, d time.Duration) error
}

// progress is how far a shard has been read.
type progress struct {
	change.Shard
	after string
	empty int
	done  bool
}

// Run emits each record, a shard's after its parent's, until all records have been read.
func (c Capture) Run(ctx context.Context, emit func(change.Record) error) error {
	if emitAny, reaches := emit, reaching(c.Registry); !c.All {
		emit = func(r change.Record) error {
			if !reaches(r) {
				return nil
			}
			return emitAny(r)
		}
	}
	known := map[string]*progress{}
	var all []*progress // also those that are no longer listed: the source says when they end
	for {
		shards, err := c.Source.Shards(ctx)
		if err != nil {
			return c.ended(ctx, fmt.Errorf("list shards: %w", err))
		}
		for _, shard := range shards { // all of them first: a parent may be listed after its child
			if known[shard.ID] == nil {
				known[shard.ID] = &progress{Shard: shard}
				all = append(all, known[shard.ID])
			}
		}
		found, open := false, false
		for _, p := range all {
			if parent := known[p.Parent]; p.done || parent != nil && !parent.done {
				open = open || !p.done
				continue
			}
			some, err := c.read(ctx, p, emit)
			if err != nil {
				return c.ended(ctx, fmt.Errorf("shard %s: %w", p.ID, err))
			}
			found, open = found || some, open || !p.done
		}
		if !open && !c.Follow {
			return nil
		}
		if !found {
			if err := c.Wait(ctx, c.Pause); err != nil {
				return c.ended(ctx, err)
			}
		}
	}
}

// ended returns the error, or nil if the caller followed the stream and ended it.
func (c Capture) ended(ctx context.Context, err error) error {
	select {
	case <-ctx.Done():
		if c.Follow {
			return nil
		}
	default:
	}
	return err
}

// read reads a shard once and says whether it found anything.
func (c Capture) read(ctx context.Context, p *progress, emit func(change.Record) error) (bool, error) {
	if c.Heads != nil && change.CompareSequence(p.after, c.Heads[p.ID]) >= 0 {
		p.done = true
		return false, nil
	}
	slice, err := c.Source.Read(ctx, p.ID, p.after, readRecords)
	if err != nil {
		return false, err
	}
	for _, r := range slice.Records {
		if c.Heads != nil && change.CompareSequence(r.Sequence, c.Heads[p.ID]) > 0 {
			break
		}
		p.after = r.Sequence
		if err := emit(r); err != nil {
			return true, err
		}
	}
	if p.empty++; len(slice.Records) > 0 {
		p.empty = 0
	}
	p.done = slice.End || !c.Follow && p.empty >= emptyReads
	return len(slice.Records) > 0, nil
}

// reaching returns a function that reports whether any mapping of the product passes the record.
func reaching(registry *entity.Registry) func(change.Record) bool {
	lines := readers.Table(registry)
	return func(r change.Record) bool {
		return slices.ContainsFunc(lines, func(line readers.Reader) bool { return line.Filter.Match(r) })
	}
}
