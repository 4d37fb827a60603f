package command

import (
	"context"
	"time"
)

const (
	// maxAttempts bounds how often a command starts again because another write came between its read and its write. With
	// the pauses below, thirty concurrent changes of one row all succeed, and the last attempt ends some five seconds
	// after the first.
	maxAttempts = 12
	// firstPause bounds the pause after the first attempt; each further bound is twice the one before.
	firstPause = 20 * time.Millisecond
	// longestPause bounds them all.
	longestPause = time.Second
)

// pause separates an attempt, counted from 0, from the next one. An error says that there is no time for another.
func (s *Service) pause(ctx context.Context, attempt int) error {
	most := longestPause
	if attempt < 6 { // beyond, the shift would exceed the bound
		most = min(firstPause<<attempt, longestPause)
	}
	return s.wait(ctx, most)
}

// RandomPause returns the [Config.Pause] of programs. It waits in real time for a part of most that chance, a number
// from 0 to 1, decides. If the context's deadline is before the end of the pause by the clock now, it returns
// [context.DeadlineExceeded] at once, so that the caller can still answer.
func RandomPause(chance func() float64, now func() time.Time) func(ctx context.Context, most time.Duration) error {
	return func(ctx context.Context, most time.Duration) error {
		d := time.Duration(chance() * float64(most))
		if deadline, ok := ctx.Deadline(); ok && deadline.Sub(now()) <= d {
			return context.DeadlineExceeded
		}
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
