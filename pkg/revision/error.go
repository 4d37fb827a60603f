package revision

import (
	"errors"
	"fmt"
	"time"

	"nexus/pkg/entity/repository"
	"nexus/pkg/table"
)

var (
	// ErrBroken says that the rows of a revision are not those that were committed. Only a manual change of the table
	// does that.
	ErrBroken = errors.New("the snapshot is not whole")

	// ErrOutdated ends an attempt because what it had read has changed since: the write starts again.
	ErrOutdated = fmt.Errorf("what was read has changed since: %w", table.ErrConflict)

	// errSealed ends an attempt whose draft was treated as abandoned: the write starts again with a new snapshot.
	errSealed = fmt.Errorf("the draft was taken for abandoned: %w", table.ErrConflict)
)

// ConflictError says that the repository has moved on from the parent that a writer named; nothing was written (409).
type ConflictError struct {
	Repository repository.Address
	// Current is the head now; the zero Head if the repository has no revision.
	Current Head
}

func (e *ConflictError) Error() string {
	if e.Current.RevID == "" {
		return fmt.Sprintf("%s: the repository has no revision yet", e.Repository)
	}
	return fmt.Sprintf("%s: the head is %s", e.Repository, e.Current.RevID)
}

// NotFoundError says that there is no such revision in this repository (404): never committed, or another's.
type NotFoundError struct {
	Repository repository.Address
	// What names the missing thing: a revision's id, an instant, a node; empty for the head of a repository without a
	// revision.
	What string
}

func (e *NotFoundError) Error() string {
	if e.What == "" {
		return fmt.Sprintf("%s: the repository has no revision", e.Repository)
	}
	return fmt.Sprintf("%s: %s does not exist", e.Repository, e.What)
}

// PrunedError says that the revision, or the one of an instant, was pruned (410). An id that is older than the oldest
// revision and never existed cannot be distinguished from a pruned one.
type PrunedError struct {
	Repository repository.Address
	// What names the missing revision: its id, or an instant.
	What string
	// Until is the instant from which on the history is unbroken; the zero time if the repository was deleted.
	Until time.Time
}

func (e *PrunedError) Error() string { return fmt.Sprintf("%s: %s was pruned", e.Repository, e.What) }

// NamedError says that a repository cannot be deleted, because the head of another one names a revision of it (409).
type NamedError struct{ Repository, By repository.Address }

func (e *NamedError) Error() string {
	return fmt.Sprintf("%s: the head of %s names a revision of it", e.Repository, e.By)
}

// EarlyError says that a repository cannot be deleted yet (503). It is a [table.ErrConflict].
type EarlyError struct {
	Repository repository.Address
	// Wait is the time after which its head is past: a new history must be later. It is 0 if the head is, and a part of
	// the history is removed that leaves another one.
	Wait time.Duration
}

func (e *EarlyError) Error() string {
	if e.Wait == 0 {
		return fmt.Sprintf("%s: a part of the history is left", e.Repository)
	}
	return fmt.Sprintf("%s: the head is not past for %s", e.Repository, e.Wait)
}

func (e *EarlyError) Unwrap() error { return table.ErrConflict }
