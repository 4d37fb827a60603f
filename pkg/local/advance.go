package local

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
)

// maxAdvance bounds one move of the clock.
const maxAdvance = 10 * 366 * 24 * time.Hour

// Errors of a move of the clock, matched with errors.Is.
var (
	// errRealTime says that the clock cannot be moved, because the service at the endpoint has its own clock.
	errRealTime = errors.New("time is real with --endpoint: the clock cannot be moved")
	// errTooFar says that one move is bounded.
	errTooFar = fmt.Errorf("one move of the clock is at most %d days", int(maxAdvance.Hours()/24))
	// errNoLater says that no item can have a later time: every write would be refused, and time does not go back.
	errNoLater = fmt.Errorf("the clock ends at %s", item.FormatInstant(entity.LastInstant()))
	// errEnded says that the platform is being stopped, or a part of it has ended.
	errEnded = errors.New("the platform has ended")
)

// moved is the result of a move of the clock.
type moved struct {
	carriedOut
	steps int
}

// moveTo moves the clock to the instant. Time stops on its way at everything that is due: the next schedule, timer or
// expiry. There the platform carries it out and finishes the step, so that effects happen in their order. A new
// due instant on the way, such as a timer of a task that was archived, is handled in the same move. The target is asked
// for once the moves before are done, so that two advances at once add up.
func (p *Platform) moveTo(ctx context.Context, target func() time.Time) (moved, error) {
	if p.backend.sweep == nil {
		return moved{}, errRealTime
	}
	p.moving.Lock()
	defer p.moving.Unlock()
	before := p.carriedOut()
	steps, err := p.stepTo(ctx, target())
	return moved{p.carriedOut().since(before), steps}, err
}

// stepTo returns how often time stopped.
func (p *Platform) stepTo(ctx context.Context, target time.Time) (steps int, err error) {
	switch now := p.clock.Now(); {
	case target.Before(now):
		return 0, fmt.Errorf("%w: it is %s already", errBackwards, now.Format(time.RFC3339))
	case target.After(entity.LastInstant()):
		return 0, errNoLater
	case target.Sub(now) > maxAdvance:
		return 0, errTooFar
	}
	if err := p.finishStep(ctx); err != nil {
		return 0, err
	}
	for {
		at := p.nextStop(target)
		now := p.clock.Now()
		if at.After(now) {
			if err := p.clock.MoveTo(at); err != nil && !errors.Is(err, errBackwards) {
				return steps, err
			}
			steps++
			p.hub.broadcast("clock", func() []byte { return line(p.clockShown()) })
		}
		if err := p.finishStep(ctx); err != nil {
			return steps, err
		}
		if !at.Before(target) {
			return steps, nil
		}
	}
}

// nextStop returns where time stops next: at the first due instant, or at the target.
func (p *Platform) nextStop(target time.Time) time.Time {
	stop := target
	if at, any := p.scheduler.Next(); any && at.Before(stop) {
		stop = at
	}
	if at, any := p.rows.next(true); any && at.Before(stop) {
		stop = at
	}
	return stop
}

// finishStep waits until the platform is idle. While clients write it may never be: then the step ends when what had
// been written before is processed, and what was due is done.
func (p *Platform) finishStep(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, p.options.Settling)
	defer cancel()
	return p.waitUntilQuiet(ctx, busyRounds)
}
