package api

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"nexus/pkg/archive"
	"nexus/pkg/calendar"
	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/idempotency"
	"nexus/pkg/port"
	"nexus/pkg/query"
	"nexus/pkg/revision"
	"nexus/pkg/table"
	"nexus/pkg/transfer"
)

// problemOf turns an error of the write or the read side into its answer. Any other error is internal: only the log
// gets it.
func problemOf(err error) *Problem {
	var (
		problem  *Problem
		missing  *command.NotFoundError
		stale    *command.StaleError
		state    *command.StateError
		broken   *entity.ValidationError
		panicked *panicError
		moved    *revision.ConflictError
		unknown  *revision.NotFoundError
		rules    *revision.RuleError
	)
	for _, of := range []func(error) *Problem{problemOfAccount, problemOfFeed, problemOfPruning} {
		if p := of(err); p != nil {
			return p
		}
	}
	if p := problemOfLimit(err); p != nil {
		return p
	}
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
		if stale.Item != nil {
			p.Current = answer{typ: stale.Type, item: stale.Item}.json()
		}
		return p
	case errors.As(err, &state):
		return refuse(stateConflict, "The %s %s.", noun(state.Ref.Type), state.Reason)
	case errors.As(err, &broken):
		return refuseFields(broken.Fields...)
	case errors.As(err, &moved):
		return problemOfMovedHead(moved)
	case errors.As(err, &unknown):
		if unknown.What == "" {
			return refuse(notFound, "There is no revision yet.")
		}
		return refuse(notFound, "Looked for %s and found none.", unknown.What)
	case errors.As(err, &rules):
		return problemOfRules(rules)
	}
	return problemOfSentinel(err)
}

func problemOfMovedHead(e *revision.ConflictError) *Problem {
	p := refuse(headMoved, "The present revision is %s.", e.Current.RevID)
	if e.Current.RevID == "" {
		p.Detail = "There is no revision yet."
	}
	p.CurrentRevID = e.Current.RevID
	return p
}

func problemOfRules(e *revision.RuleError) *Problem {
	faults := make([]Fault, len(e.Violations))
	for i, v := range e.Violations {
		faults[i] = Fault{entity.FieldError{Pointer: v.Pointer, Detail: v.Detail}, string(v.Rule), v.Subject}
	}
	return refuseFaults(faults)
}

func problemOfMissing(e *command.NotFoundError) *Problem {
	if e.Pointer == "" {
		return refuse(notFound, "There is no such %s.", noun(e.Ref.Type))
	}
	p := refuse(notFound, "What the request refers to does not exist.")
	if e.Pointer != pointerToEvent {
		p = refuse(notFound, "The target of the link does not exist.")
	}
	p.Errors = []Fault{{FieldError: entity.FieldError{Pointer: e.Pointer, Detail: "does not exist"}}}
	return p
}

func problemOfSentinel(err error) *Problem {
	if errors.Is(err, archive.ErrGone) {
		return refuseGone("", archive.Deleted)
	}
	if errors.Is(err, entity.ErrID) {
		_, form, _ := strings.Cut(err.Error(), entity.ErrID.Error()) // the form of an identifier, without what was sent
		return refuse(malformed, "Malformed identifier%s.", form)
	}
	for _, known := range []struct {
		err    error
		kind   problemKind
		detail string
	}{
		{query.ErrNotFound, notFound, "There is no such entity."},
		{archive.ErrNoCopy, notFound, "The archive has no such item."},
		{archive.ErrAlive, stateConflict, "The item has not left yet; there is nothing to restore."},
		{query.ErrTooManyItems, tooManyItems, "There are more items, or longer texts, than a search can hold."},
		{query.ErrCursor, malformed, "The cursor does not belong to this query."},
		{idempotency.ErrKey, malformed, "An idempotency key has 1 to 255 printable characters."},
		{command.ErrNoVersion, preconditionNeeded,
			"If-Match with the entity's version is required; in a batch, expectedVersion."},
		{idempotency.ErrKeyReused, keyReused, "The idempotency key was used for another request."},
		{command.ErrInProgress, stateConflict, "The request is still being carried out."},
		{calendar.ErrNoFeed, notFound, "There is no such resource."},
		{transfer.ErrNoJob, notFound, "There is no such export."},
	} {
		if errors.Is(err, known.err) {
			return refuse(known.kind, "%s", known.detail)
		}
	}
	for _, passing := range []error{
		port.ErrThrottled, port.ErrUnavailable, table.ErrConflict,
		entity.ErrNewerForm, // until that release runs again
		context.Canceled, context.DeadlineExceeded,
	} {
		if errors.Is(err, passing) {
			return refuse(unavailable, "The request could not be carried out now.").because(err)
		}
	}
	return refuse(internal, "The request could not be carried out.").because(err)
}

// noun returns the word for a type of entity in a sentence.
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

// panicError is a recovered panic, with its place.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v\n%s", e.value, e.stack) }
