package api

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"nexus/pkg/archive"
	"nexus/pkg/blob"
	"nexus/pkg/calendar"
	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/query"
	"nexus/pkg/table"
)

// problemOf turns an error of the write or the read side into the answer about it. What is not known here is internal:
// the log gets it, the client does not.
func problemOf(err error) *Problem {
	var (
		problem  *Problem
		missing  *command.NotFoundError
		stale    *command.StaleError
		state    *command.StateError
		broken   *entity.ValidationError
		panicked *panicError
	)
	switch {
	case errors.As(err, &panicked):
		return refuse(internal, "The request could not be carried out.").because(err)
	case errors.As(err, &problem):
		return problem
	case errors.As(err, &missing):
		return problemOfMissing(missing)
	case errors.As(err, &stale):
		p := refuse(preconditionFailed, "The %s has version %d now.", noun(stale.Ref.Type), stale.Current)
		p.CurrentVersion = &stale.Current
		return p
	case errors.As(err, &state):
		return refuse(stateConflict, "The %s %s.", noun(state.Ref.Type), state.Reason)
	case errors.As(err, &broken):
		return refuseFields(broken.Fields...)
	}
	return problemOfSentinel(err)
}

func problemOfMissing(e *command.NotFoundError) *Problem {
	if e.Pointer == "" {
		return refuse(notFound, "There is no such %s.", noun(e.Ref.Type))
	}
	p := refuse(notFound, "What the request refers to does not exist.")
	if e.Pointer != pointerToEvent {
		p = refuse(notFound, "The target of the link does not exist.")
	}
	p.Errors = []entity.FieldError{{Pointer: e.Pointer, Detail: "does not exist"}}
	return p
}

func problemOfSentinel(err error) *Problem {
	for _, known := range []struct {
		err    error
		kind   problemKind
		detail string
	}{
		{query.ErrNotFound, notFound, "There is no such entity."},
		{archive.ErrNoCopy, notFound, "The archive has no such item."},
		{archive.ErrGone, notFound, "The item was deleted."},
		{archive.ErrAlive, stateConflict, "The item has not left yet; there is nothing to restore."},
		{query.ErrCursor, malformed, "The cursor does not belong to this query."},
		{command.ErrKey, malformed, "An idempotency key has 1 to 255 printable characters."},
		{command.ErrNoVersion, preconditionNeeded, "If-Match with the entity's version is required; in a batch, expectedVersion."},
		{command.ErrKeyReused, keyReused, "The idempotency key was used for another request."},
		{command.ErrInProgress, stateConflict, "The request is still being carried out."},
		{entity.ErrID, malformed, "Malformed identifier."},
		{calendar.ErrNoFeed, notFound, "There is no such resource."},
	} {
		if errors.Is(err, known.err) {
			return refuse(known.kind, "%s", known.detail)
		}
	}
	for _, passing := range []error{
		table.ErrThrottled, table.ErrUnavailable, table.ErrConflict, blob.ErrThrottled, blob.ErrUnavailable,
		context.Canceled, context.DeadlineExceeded,
	} {
		if errors.Is(err, passing) {
			return refuse(unavailable, "The request could not be carried out now.").because(err)
		}
	}
	return refuse(internal, "The request could not be carried out.").because(err)
}

// noun is the word for a type of entity in a sentence.
func noun(typeName string) string {
	switch typeName {
	case "":
		return "entity"
	case entity.TypeMaster:
		return "series"
	case entity.TypeInstance:
		return "occurrence"
	}
	return strings.ToLower(strings.ReplaceAll(typeName, "_", " "))
}

// panicError is a panic that was caught, with where it happened.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v\n%s", e.value, e.stack) }
