package main

import "fmt"

// usageError says that the command line requests something that the command cannot do: wrong usage.
type usageError struct{ cause error }

func (e *usageError) Error() string { return e.cause.Error() }

func (e *usageError) Unwrap() error { return e.cause }

// wrongUsage returns a usageError with that message.
func wrongUsage(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}
