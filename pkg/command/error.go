package command

import (
	"errors"
	"fmt"

	"nexus/pkg/entity"
	"nexus/pkg/item"
)

var (
	// ErrNoVersion says that the command changes an entity and the request names no version of it (428).
	ErrNoVersion = errors.New("the expected version is required")
	// ErrOwnCommands says that separate commands create, change and delete entities of the type. Such a request is a
	// mistake in the program.
	ErrOwnCommands = errors.New("entities of this type have commands of their own")
	// ErrInProgress says that a write of several steps under the same idempotency key is still running (409), see
	// [Service.BeginSteps]. No command returns it: one that uses several transactions has one that commits.
	ErrInProgress = errors.New("the request is still being carried out")
)

// NotFoundError says that an entity does not exist for this user: never created, deleted, expired, or another user's.
type NotFoundError struct {
	Ref entity.Ref
	// Pointer is the place in the request that names the entity (RFC 6901), for a link target; empty for the command's
	// own entity.
	Pointer string
}

func (e *NotFoundError) Error() string {
	if e.Pointer == "" {
		return fmt.Sprintf("%s %q does not exist", e.Ref.Type, e.Ref.ID)
	}
	return fmt.Sprintf("%s: %s %q does not exist", e.Pointer, e.Ref.Type, e.Ref.ID)
}

// StaleError says that the entity has another version than the one expected.
type StaleError struct {
	Ref     entity.Ref
	Current int64 // the version now
	// Type and Item are the entity as a reader sees it now. They cost no read: the row came with the read that found the
	// version, or with the condition that failed.
	Type *entity.Type
	Item item.Item
}

func (e *StaleError) Error() string {
	return fmt.Sprintf("%s %q has version %d", e.Ref.Type, e.Ref.ID, e.Current)
}

// StateError says that the command has no meaning in the entity's present state.
type StateError struct {
	Ref    entity.Ref
	Reason string
}

func (e *StateError) Error() string { return fmt.Sprintf("%s %q %s", e.Ref.Type, e.Ref.ID, e.Reason) }

// isRefusal reports whether an error is an answer about the state that was read, which a concurrent twin of the same
// request may have caused.
func isRefusal(err error) bool {
	var (
		notFound *NotFoundError
		stale    *StaleError
		state    *StateError
		invalid  *entity.ValidationError
	)
	return errors.As(err, &notFound) || errors.As(err, &stale) || errors.As(err, &state) || errors.As(err, &invalid)
}
