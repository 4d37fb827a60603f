package local

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// maxCalls bounds one Fire; a target that continues to put schedules into the past must not block its driver for
	// ever.
	maxCalls = 10_000
	// maxErrors bounds the errors that one Fire reports in full.
	maxErrors = 10
)

// Fire makes the calls that began earlier and did not succeed, and those of the schedules whose instant is not after
// now. It begins them in the order of instants and then names, [Config.AtOnce] at a time but never two of one name. It
// returns how many succeeded and were marked so. A schedule that a call itself puts at or before now is called too, in
// its order. A failed call does not delay the rest: the next Fire tries it again. The errors are returned joined. One
// Fire makes at most 10,000 calls; Next shows whether some are left.
func (s *Scheduler) Fire(ctx context.Context, now time.Time) (fired int, err error) {
	s.firing.Lock()
	defer s.firing.Unlock()
	s.fires++
	var errs []error
	failed, under := 0, 0
	ended := make(chan callResult)
	wait := func() {
		under--
		result := <-ended
		if result.err != nil {
			if failed++; failed <= maxErrors {
				errs = append(errs, result.err)
			}
		}
		if result.succeeded {
			fired++
		}
	}
	for range maxCalls {
		if ctx.Err() != nil {
			errs = append(errs, fmt.Errorf("fire schedules: %w", ctx.Err()))
			break
		}
		for under == s.atOnce {
			wait()
		}
		e := s.take(now)
		for e == nil && under > 0 { // what ends may put one, and frees its name
			wait()
			e = s.take(now)
		}
		if e == nil {
			break
		}
		under++
		go func() {
			succeeded, err := s.call(ctx, e)
			ended <- callResult{succeeded, err}
		}()
	}
	for under > 0 {
		wait()
	}
	if failed > maxErrors {
		errs = append(errs, fmt.Errorf("%d more schedules failed", failed-maxErrors))
	}
	return fired, errors.Join(errs...)
}

// callResult is how a call ended.
type callResult struct {
	succeeded bool
	err       error
}

// take returns the first call that this Fire has not tried yet, and whose name has none under way; nil if there is
// none.
func (s *Scheduler) take(now time.Time) *entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	for e := range inOrder(s.begun, s.waiting.until(now)) {
		if e.tried != s.fires && s.running[e.Name] == nil {
			e.tried = s.fires
			s.running[e.Name] = e
			return e
		}
	}
	return nil
}

// call makes one call, between the marks that it has begun and that it succeeded. It does nothing if the schedule was
// replaced or deleted before its call could begin.
func (s *Scheduler) call(ctx context.Context, e *entry) (succeeded bool, err error) {
	defer s.stopped(e, &err)
	if begun, err := s.begin(ctx, e); err != nil || !begun {
		return false, err
	}
	if err := s.target(ctx, e.schedule()); err != nil {
		return false, &callError{e, err}
	}
	// The call was made: if the caller gives up now, it must still be marked.
	if err := s.complete(context.WithoutCancel(ctx), e); err != nil {
		return false, err
	}
	return true, nil
}

// begin marks that the call is about to be made, unless it began in an earlier Fire.
func (s *Scheduler) begin(ctx context.Context, e *entry) (begun bool, err error) {
	s.mu.Lock()
	again := e.State == Called
	s.mu.Unlock()
	if again {
		return true, nil
	}
	err = s.effect(ctx, "begin", e.Name, func() error {
		if now, _ := s.entry(e.Name); now != e {
			return nil
		}
		if err := s.disk.begin(e); err != nil {
			return err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.waiting.remove(e)
		s.number++
		e.State, e.number = Called, s.number
		s.begun.insert(e)
		begun = true
		return nil
	})
	return begun, err
}

// complete marks that the call succeeded. A former one is gone with that.
func (s *Scheduler) complete(ctx context.Context, e *entry) error {
	return s.effect(ctx, "complete", e.Name, func() error {
		if err := s.disk.complete(e); err != nil {
			return err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.begun.remove(e)
		e.State, e.Attempts, e.LastError = Completed, 0, ""
		return nil
	})
}

// stopped records how a call ended.
func (s *Scheduler) stopped(e *entry, failure *error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, e.Name)
	if *failure == nil || e.State == Completed {
		return
	}
	e.Attempts++
	e.LastError = (*failure).Error()
	if target := (*callError)(nil); errors.As(*failure, &target) {
		e.LastError = target.cause.Error()
	}
}

// callError names the call that the target failed.
type callError struct {
	called *entry
	cause  error
}

func (e *callError) Error() string {
	return fmt.Sprintf("call schedule %q due %s: %s", e.called.Name, e.called.At.Format(time.RFC3339), e.cause)
}

// Unwrap returns the target's error.
func (e *callError) Unwrap() error { return e.cause }
