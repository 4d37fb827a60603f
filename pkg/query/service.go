package query

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/recurrence"
	"nexus/pkg/series"
	"nexus/pkg/table"
)

// Config holds the dependencies of a [Service]. Every field but Form is required.
type Config struct {
	Store    table.Reader
	Registry *entity.Registry
	// Now is the clock for ttl, archive timers and the clock-driven counts.
	Now func() time.Time
	// Fold returns the form in which two titles are equal that a reader considers equal: package text has it.
	Fold func(string) string
	// Form is the deployment's form of sync tokens: an operator raises it when change logs may lack entries.
	Form uint16
	// Searching holds what searches need besides; nil for no searches.
	Searching *Searching
}

// Service answers queries. It is safe for concurrent use.
type Service struct {
	store         table.Reader
	registry      *entity.Registry
	now           func() time.Time
	masterRules   rules[series.Rule]
	reminderRules rules[*recurrence.Series]
	fold          func(string) string
	form          uint16
	// snapshots and checks bound what a user gets in a minute.
	snapshots, checks *brake
	search            *searches // nil without Searching
}

// New returns a service. It panics if a part is missing, which is a mistake in the program.
func New(c Config) *Service {
	if c.Store == nil || c.Registry == nil || c.Now == nil || c.Fold == nil {
		panic("query: a part of the Config is missing")
	}
	return &Service{
		store: c.Store, registry: c.Registry, now: c.Now, fold: c.Fold, form: c.Form,
		snapshots: &brake{most: maxSnapshotPages}, checks: &brake{most: maxChecks},
		search: newSearches(c.Searching, c.Form),
	}
}

// Errors on which callers decide. Others are *[entity.ValidationError] for a parameter out of bounds (422),
// [entity.ErrID] for a malformed user id (400), and the store's own errors (503).
var (
	// ErrNotFound says that there is no such entity for this user (404). A malformed id names none.
	ErrNotFound = errors.New("entity not found")
	// ErrCursor says that the cursor is malformed, or belongs to another question or user (400).
	ErrCursor = errors.New("not a cursor of this query")
)

// NotFoundError is [ErrNotFound] for an entity with a well-formed id; for an occurrence, that its series does not
// exist.
type NotFoundError struct{ Ref entity.Ref }

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("%s %q: %v", e.Ref.Type, e.Ref.ID, ErrNotFound)
}

// Is reports whether the target is [ErrNotFound].
func (e *NotFoundError) Is(target error) bool { return target == ErrNotFound }

// Found is an entity with its type.
type Found struct {
	Type *entity.Type
	Item item.Item
}

// Page is a part of a list. It ends at the requested limit or at about 1 MB, and may hold less than either, even
// nothing, while there is more.
type Page struct {
	Items []Found
	Next  string // the cursor of the next page; empty at the end
}

// Get returns one entity as its last write left it, in one read; an occurrence of a series in one round trip.
func (s *Service) Get(ctx context.Context, user string, t *entity.Type, id string) (item.Item, error) {
	if err := checkUser(user); err != nil {
		return nil, err
	}
	if t == nil || !t.HasCollection() || entity.CheckID(t.IDPrefix, id) != nil {
		return nil, ErrNotFound
	}
	if t.Name == entity.TypeInstance {
		return s.occurrence(ctx, user, id)
	}
	return s.get(ctx, user, t, id)
}

func (s *Service) get(ctx context.Context, user string, t *entity.Type, id string) (item.Item, error) {
	ref := entity.Ref{Type: t.Name, ID: id}
	it, err := table.Find(ctx, s.store, entity.ItemKey(user, ref))
	if err != nil {
		return nil, err
	}
	if it == nil {
		return nil, &NotFoundError{ref}
	}
	seen, ok := t.VisibleAt(it, s.now())
	if !ok {
		return nil, &NotFoundError{ref}
	}
	return seen, nil
}

// Me returns the user's USER_META in one read; its defaults, at version 0, until there is one.
func (s *Service) Me(ctx context.Context, user string) (item.Item, error) {
	if err := checkUser(user); err != nil {
		return nil, err
	}
	row, err := table.Find(ctx, s.store, entity.MetaKey(user))
	if err != nil {
		return nil, err
	}
	return product.UserMetaOf(user, row, s.now()), nil
}

func checkUser(user string) error {
	if err := entity.CheckUserID(user); err != nil {
		return fmt.Errorf("user: %w", err)
	}
	return nil
}
