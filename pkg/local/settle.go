package local

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"strings"
	"time"
)

const (
	// settleBound is the default bound of Settle.
	settleBound = 30 * time.Second
	// settlePause is the wait before a repetition after a failure, and between two reads if no channel signals changes.
	settlePause = 20 * time.Millisecond
	// quietRounds is how many consecutive rounds without work make the platform count as idle.
	quietRounds = 2
	// busyRounds is after how many rounds a stop of the clock ends although clients write in each of them. An effect
	// of a write may cause another one, which the next round waits for; no chain of them is as long.
	busyRounds = 8
)

// UnsettledError lists the remaining work.
type UnsettledError struct {
	Behind []string
	cause  error
}

func (e *UnsettledError) Error() string { return "not settled: " + strings.Join(e.Behind, "; ") }

// Unwrap returns why the wait ended.
func (e *UnsettledError) Unwrap() error { return e.cause }

// WaitUntilIdle waits until the platform is idle, and carries out due work at once. It is idle when, twice in a row:
//   - every mapping has reached the head of the stream, and nothing is in flight;
//   - every due schedule and expiry is done, and so is every erasure, every export and every pruning;
//   - no object is left whose time has come;
//   - no walk is left in the queue, but dead letters, and no event of which devices were not told;
//   - no call of a webhook waits or runs;
//   - the head has not moved since the round began.
//
// It returns an *UnsettledError when the context ends before that, and the reason when the platform does.
//
// A service at an endpoint does not report the end of its stream. There a mapping counts as caught up when it has read
// every shard again since the call and found nothing. Settle requires that twice, so every shard was empty two times.
func (p *Platform) WaitUntilIdle(ctx context.Context) error {
	return p.waitUntilQuiet(ctx, math.MaxInt)
}

// waitUntilQuiet waits until the platform is idle, or until clients have written in that many rounds that succeeded.
func (p *Platform) waitUntilQuiet(ctx context.Context, mostBusy int) error {
	var before map[string]string
	for quiet, busy := 0, 0; quiet < quietRounds && busy < mostBusy; {
		written := p.others.written.Load()
		head, did, err := p.round(ctx)
		select {
		case <-p.ended:
			return errors.Join(errEnded, p.failure)
		default:
		}
		if ctx.Err() != nil {
			return &UnsettledError{p.behind(), errors.Join(err, ctx.Err())}
		}
		switch {
		case err != nil || did:
			quiet = 0
		case quiet > 0 && !maps.Equal(head, before):
			quiet = 1 // this round was as quiet as a first one
		default:
			quiet++
		}
		if err != nil {
			waitFor(ctx, settlePause, nil, nil, nil)
		} else if p.others.written.Load() != written {
			busy++
		}
		before = head
	}
	return nil
}

// round waits for the mappings and then carries out due work; did says whether there was any.
func (p *Platform) round(ctx context.Context) (head map[string]string, did bool, err error) {
	select {
	case <-p.walked:
	case <-p.ended:
		return nil, false, errEnded // the heads may never be known
	case <-ctx.Done():
		return nil, false, ctx.Err()
	}
	before := p.carriedOut()
	if head, err = p.catchUp(ctx); err != nil {
		return nil, false, err
	}
	if err := p.walks.drain(ctx); err != nil {
		return nil, false, err
	}
	if err := p.pushes.drain(ctx); err != nil {
		return nil, false, err
	}
	if err := p.hooks.drain(ctx); err != nil {
		return nil, false, err
	}
	_, errFire := p.schedules.fire(ctx)
	_, errSweep := p.sweeps.sweep(ctx)
	errErase, errExport, errPrune := p.erase(ctx), p.export(ctx), p.prune(ctx)
	errEnd := p.endObjects(ctx)
	// The drivers may have worked as well.
	return head, p.carriedOut() != before, errors.Join(errFire, errSweep, errErase, errExport, errPrune, errEnd)
}

// catchUp waits until all mappings have reached the end of the stream, and returns that position.
func (p *Platform) catchUp(ctx context.Context) (map[string]string, error) {
	p.wake()
	if p.backend.heads == nil {
		for _, r := range p.readers {
			if err := p.readToTheEnd(ctx, r); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
	head, err := p.backend.heads(ctx)
	if err != nil {
		return nil, fmt.Errorf("find the stream's head: %w", err)
	}
	for _, r := range p.readers {
		if err := r.mapping.CaughtUp(ctx, head); err != nil {
			return nil, err
		}
	}
	return head, nil
}

// readToTheEnd waits until the reader has read every shard to its end in a read that began after the call.
func (p *Platform) readToTheEnd(ctx context.Context, r *reader) error {
	mark := r.source.mark()
	tick := time.NewTicker(settlePause)
	defer tick.Stop()
	for {
		p.stream.Wake()
		r.mapping.Wake()
		shards := r.mapping.Status()
		caughtUp := len(shards) > 0
		for _, s := range shards {
			caughtUp = caughtUp && s.InFlight == 0 && (s.Done || s.Started && r.source.emptySince(mark, s.Shard))
		}
		if caughtUp {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("catch up %q: %w", r.mapping.Config().Name, ctx.Err())
		}
	}
}

// behind describes the remaining work, for the error of a wait that ended too early.
func (p *Platform) behind() []string {
	var out []string
	// A separate context: the caller's has ended.
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	var heads map[string]string
	if p.backend.heads != nil {
		var err error
		if heads, err = p.backend.heads(ctx); err != nil {
			out = append(out, "the stream's head is not known: "+err.Error())
		}
	}
	for _, r := range p.readers {
		for _, s := range r.mapping.Status() {
			head, known := heads[s.Shard]
			if s.InFlight == 0 && (!known || s.Position == head) {
				continue
			}
			out = append(out, fmt.Sprintf("reader %s, shard %s: at %q of %q, %d records in flight, %d failures in a row",
				r.mapping.Config().Name, s.Shard, s.Position, head, s.InFlight, s.Failures))
		}
	}
	for _, e := range p.walks.queue.All() {
		if !e.Dead {
			out = append(out, "walk: "+e.String())
		}
	}
	for _, e := range p.scheduler.All() {
		if e.LastError != "" && !e.At.After(p.clock.Now()) {
			out = append(out, fmt.Sprintf("schedule %s, due %s: %d calls failed, the last with: %s",
				e.Name, e.At.Format(time.RFC3339), e.Attempts, e.LastError))
		}
	}
	if at, any := p.rows.next(false); any && !at.After(p.clock.Now()) {
		out = append(out, "rows that expired at "+at.Format(time.RFC3339)+" and later are not removed")
	}
	if len(out) == 0 {
		out = append(out, "something is always being written")
	}
	return out
}

// carriedOut counts the due work done since the start, by any part.
type carriedOut struct{ fired, swept, walked, told, called int64 }

func (p *Platform) carriedOut() carriedOut {
	return carriedOut{
		p.schedules.calls.Load(), p.sweeps.removed.Load(), p.walks.ended.Load(), p.pushes.handled.Load(),
		p.hooks.ended.Load(),
	}
}

func (c carriedOut) since(before carriedOut) carriedOut {
	return carriedOut{
		c.fired - before.fired, c.swept - before.swept, c.walked - before.walked, c.told - before.told,
		c.called - before.called,
	}
}
