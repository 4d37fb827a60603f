// Package port holds what all ports have in common: the kinds of errors on which callers decide, and waiting.
//
// It promises that an error made by [Error] matches its kind with errors.Is. It must never know a particular port, and
// it imports the standard library alone.
package port

import (
	"context"
	"errors"
	"time"
)

// Kinds of errors. Each error of a port on which a caller decides has one of them; they are matched with errors.Is.
var (
	// ErrNotFound says that the requested object does not exist.
	ErrNotFound = errors.New("not found")
	// ErrThrottled says that the service refused for load, and nothing happened; try again later.
	ErrThrottled = errors.New("throttled")
	// ErrUnavailable says that the service failed or did not answer. The request may have been carried out or not.
	ErrUnavailable = errors.New("unavailable")
	// ErrInvalid says that the service refuses the request itself; repeating it cannot help.
	ErrInvalid = errors.New("refused")
)

// Error returns an error of a port with the text and the kind.
func Error(text string, kind error) error { return &kindError{text, kind} }

type kindError struct {
	text string
	kind error
}

func (e *kindError) Error() string { return e.text }
func (e *kindError) Unwrap() error { return e.kind }

// IsOutage reports whether the services or the end of the call's context caused the error, so that the same call may
// succeed later.
func IsOutage(err error) bool {
	return errors.Is(err, ErrThrottled) || errors.Is(err, ErrUnavailable) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// Sleep waits for d in real time, or until the context ends; then it returns the context's error.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
