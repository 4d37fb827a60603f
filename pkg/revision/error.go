package revision

import (
	"errors"
	"fmt"

	"nexus/pkg/entity/repository"
	"nexus/pkg/table"
)

var (
	// ErrBroken says that the rows of a revision are not those that were committed. Only a manual change of the table
	// does that.
	ErrBroken = errors.New("the snapshot is not whole")

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
