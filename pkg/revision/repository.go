package revision

import (
	"context"
	"fmt"
	"time"

	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// Config holds the dependencies of repositories. Store, Now and NewID are required.
type Config struct {
	Store table.Store
	// Now is the clock that dates commits.
	Now func() time.Time
	// NewID returns a new UUIDv4 in lower case.
	NewID func() string
	// Inline is the number of actions up to which a commit goes in one transaction; 0 means as many as the store takes.
	Inline int
	// LoadInTransactions writes the rows that precede a commit in transactions instead of batches. On DynamoDB that costs
	// twice the write units and gains nothing. The local engine syncs each row of a batch separately and a transaction
	// once: a tree of two thousand nodes then takes a second instead of ten.
	LoadInTransactions bool
}

// Shape defines how one kind of repository stores its states, and the sources of its revisions.
type Shape[S any] struct {
	// SourceAttr names the attribute of a log entry with the source of the revision.
	SourceAttr string
	// Sources are the values that a client may give it.
	Sources []string
	// MessageRequired refuses a commit without a message.
	MessageRequired bool
	// Rows lays a state out in the rows of a revision's snapshot: equal states give equal rows, in any order.
	Rows func(at repository.Address, revID string, state S) []item.Item
	// Read is the inverse of Rows, for rows in the order of their sort keys.
	Read func(rows []item.Item) (S, error)
}

// Repository reads and writes all repositories of one kind, of any user. It is safe for concurrent use.
type Repository[S any] struct {
	*Publisher
	shape Shape[S]
}

// New returns the repositories of a shape. It panics if a part is missing, which is a mistake in the program.
func New[S any](p *Publisher, shape Shape[S]) *Repository[S] {
	if p == nil || shape.SourceAttr == "" || shape.Rows == nil || shape.Read == nil {
		panic("revision: a part of the Shape is missing")
	}
	return &Repository[S]{Publisher: p, shape: shape}
}

// Head returns the pointer to the present revision; the zero Head if there is none. One Get.
func (r *Repository[S]) Head(ctx context.Context, at repository.Address) (Head, error) {
	if err := at.Check(); err != nil {
		return Head{}, fmt.Errorf("address: %w", err)
	}
	row, err := table.Find(ctx, r.store, at.HeadKey())
	if err != nil {
		return Head{}, err
	}
	return readHead(row)
}

// Base is the parent of a new revision: the head as it was read, and its state; both zero in a repository without a
// revision.
type Base[S any] struct {
	Repository repository.Address
	Head       Head
	State      S
}

// Open reads the present state. One Get and one Query.
func (r *Repository[S]) Open(ctx context.Context, at repository.Address) (Base[S], error) {
	head, err := r.Head(ctx, at)
	if err != nil {
		return Base[S]{}, err
	}
	return r.openAt(ctx, at, head)
}

func (r *Repository[S]) openAt(ctx context.Context, at repository.Address, head Head) (Base[S], error) {
	base := Base[S]{Repository: at, Head: head}
	if head.RevID == "" {
		return base, nil
	}
	var err error
	base.State, _, err = r.snapshot(ctx, at, head.RevID)
	return base, err
}

// Current returns the present revision's id, time and state, or a [*NotFoundError]. One Get and one Query.
// [Repository.Revision] also returns the part that only the log has (message, source, parent).
func (r *Repository[S]) Current(ctx context.Context, at repository.Address) (Base[S], error) {
	base, err := r.Open(ctx, at)
	if err == nil && base.Head.RevID == "" {
		err = &NotFoundError{Repository: at}
	}
	return base, err
}

// Entry returns a revision's entry in the log, or a [*NotFoundError] if it was never committed, or a [*PrunedError] if
// it may have been pruned. One Get; one more, of the head, if there is no entry.
func (r *Repository[S]) Entry(ctx context.Context, at repository.Address, revID string) (Commit, error) {
	if err := at.Check(); err != nil {
		return Commit{}, fmt.Errorf("address: %w", err)
	}
	if repository.CheckRevisionID(revID) != nil {
		return Commit{}, &NotFoundError{Repository: at, What: "a revision of this id"}
	}
	row, err := table.Find(ctx, r.store, at.LogKey(revID))
	if err != nil {
		return Commit{}, err
	}
	if row == nil {
		return Commit{}, r.missing(ctx, at, revID)
	}
	return readCommit(row, r.shape.SourceAttr)
}

// missing returns the error for a revision that the log does not have.
func (r *Repository[S]) missing(ctx context.Context, at repository.Address, revID string) error {
	head, err := r.Head(ctx, at)
	switch {
	case err != nil:
		return err
	case head.lacks(revID):
		return &PrunedError{at, revID, head.PrunedUntil}
	}
	return &NotFoundError{Repository: at, What: revID}
}

// Revision returns any revision of the history, or a [*NotFoundError]. One Get and one Query. It reads the log first,
// so that rows of an uncommitted revision are never visible.
func (r *Repository[S]) Revision(ctx context.Context, at repository.Address, revID string) (Revision[S], error) {
	commit, err := r.Entry(ctx, at, revID)
	if err != nil {
		return Revision[S]{}, err
	}
	return r.load(ctx, at, commit)
}

// load reads the state of a commit that a read of the log returned.
func (r *Repository[S]) load(ctx context.Context, at repository.Address, commit Commit) (Revision[S], error) {
	state, rows, err := r.snapshot(ctx, at, commit.RevID)
	if err != nil {
		return Revision[S]{}, err
	}
	if rows != commit.Rows {
		// A reader that slept longer than any function runs finds rows removed, and the revision no longer in the log.
		if entry, err := table.Find(ctx, r.store, at.LogKey(commit.RevID)); err != nil {
			return Revision[S]{}, err
		} else if entry == nil {
			return Revision[S]{}, &PrunedError{Repository: at, What: commit.RevID}
		}
		return Revision[S]{}, fmt.Errorf("%s of %s: %w: %d rows, want %d", commit.RevID, at, ErrBroken, rows, commit.Rows)
	}
	return Revision[S]{commit, state}, nil
}

// snapshot reads all rows of a revision: one Query, in as many pages as the store returns.
func (r *Repository[S]) snapshot(ctx context.Context, at repository.Address, revID string) (S, int, error) {
	var none S
	rows, err := r.rows(ctx, table.Query{Partition: at.SnapshotPK(revID)})
	if err != nil {
		return none, 0, fmt.Errorf("read revision %s of %s: %w", revID, at, err)
	}
	state, err := r.shape.Read(rows)
	if err != nil {
		return none, 0, fmt.Errorf("revision %s of %s: %w: %w", revID, at, ErrBroken, err)
	}
	return state, len(rows), nil
}

// Part returns the rows of a committed revision whose sort keys begin with the prefix, in their order. One Query. The
// commit is one that a read of the head or of the log returned, and so exists.
func (r *Repository[S]) Part(ctx context.Context, at repository.Address, revID, prefix string) ([]item.Item, error) {
	rows, err := r.rows(ctx, table.Query{Partition: at.SnapshotPK(revID), Range: table.Range{Prefix: prefix}})
	if err != nil {
		return nil, fmt.Errorf("read a part of revision %s of %s: %w", revID, at, err)
	}
	return rows, nil
}

// Rows returns those rows of a committed revision that exist, by their keys. One BatchGet for up to a hundred.
func (r *Repository[S]) Rows(ctx context.Context, keys []item.Key) ([]item.Item, error) {
	return r.store.BatchGet(ctx, keys)
}
