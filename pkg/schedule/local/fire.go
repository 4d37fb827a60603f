package local

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nexus/pkg/schedule"
)

const (
	// maxCalls bounds one Fire; a target that keeps putting schedules into the past must not hold its driver for ever.
	maxCalls = 10_000
	// maxErrors bounds the errors that one Fire reports in full.
	maxErrors = 10
)

// Fire calls the schedules whose instant is not after now, in the order of instants and then names, and returns how many
// calls were made and marked. What a call itself puts at or before now is called too, in its place. One that fails does
// not hold up the rest: it stays pending and is not tried again before the next Fire; the errors come back joined. At
// most 10,000 calls are made at once; Next tells whether some are left.
func (s *Scheduler) Fire(ctx context.Context, now time.Time) (fired int, err error) {
	s.firing.Lock()
	defer s.firing.Unlock()
	tried := map[string]uint64{}
	var errs []error
	failed := 0
	for range maxCalls {
		if ctx.Err() != nil {
			errs = append(errs, fmt.Errorf("fire schedules: %w", ctx.Err()))
			break
		}
		in, generation, due := s.nextDue(now, tried)
		if !due {
			break
		}
		tried[in.Name] = generation
		if err := s.call(ctx, in, generation); err != nil {
			if failed++; failed <= maxErrors {
				errs = append(errs, err)
			}
			continue
		}
		fired++
	}
	if failed > maxErrors {
		errs = append(errs, fmt.Errorf("%d more schedules failed", failed-maxErrors))
	}
	return fired, errors.Join(errs...)
}

// nextDue returns the first due schedule whose present generation was not tried.
func (s *Scheduler) nextDue(now time.Time, tried map[string]uint64) (schedule.Schedule, uint64, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.order {
		if p.at.After(now) {
			break
		}
		e := s.entries[p.name]
		if tried[p.name] != e.generation {
			return e.copied().Schedule, e.generation, true
		}
	}
	return schedule.Schedule{}, 0, false
}

// call makes one call and marks it, unless the schedule was put again or deleted meanwhile.
func (s *Scheduler) call(ctx context.Context, in schedule.Schedule, generation uint64) error {
	if err := s.target(ctx, in); err != nil {
		s.noteFailure(in.Name, generation, err)
		return fmt.Errorf("call schedule %q due %s: %w", in.Name, in.At.Format(time.RFC3339), err)
	}
	// The call was made: a caller that gives up now must not leave it unmarked.
	return s.effect(context.WithoutCancel(ctx), "complete", in.Name, func() error {
		e, exists := s.entries[in.Name]
		if !exists || e.generation != generation {
			return nil
		}
		done := Entry{Schedule: e.Schedule, State: Completed}
		if s.disk != nil {
			if err := s.disk.save(done); err != nil {
				s.doubt(in.Name)
				return err
			}
		}
		s.set(done)
		return nil
	})
}

func (s *Scheduler) noteFailure(name string, generation uint64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, exists := s.entries[name]; exists && e.generation == generation {
		e.Attempts++
		e.LastError = err.Error()
	}
}
