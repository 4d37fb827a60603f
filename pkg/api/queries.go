package api

import (
	"context"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/query"
	"nexus/pkg/search"
)

// Queries is the read side, implemented by [query.Service], which documents its methods. It is an interface so that a
// program without queries does not contain them: the linker drops the methods of a type that is never made.
type Queries interface {
	Get(ctx context.Context, user string, t *entity.Type, id string) (item.Item, error)
	Me(ctx context.Context, user string) (item.Item, error)
	Stats(ctx context.Context, user string) (query.Stats, error)
	Insights(ctx context.Context, user, from, to string) (query.Insights, error)
	Event(ctx context.Context, user, id string) (query.Found, error)
	Series(ctx context.Context, user, masterID, cursor string) (query.Series, error)
	Agenda(ctx context.Context, user string, q query.AgendaQuery) (query.Agenda, error)
	All(ctx context.Context, user string, q query.AllQuery) (query.Page, error)
	Board(ctx context.Context, user string, limit int) ([]query.BoardColumn, error)
	Column(ctx context.Context, user string, q query.ColumnQuery) (query.Page, error)
	Notes(ctx context.Context, user string, q query.NotesQuery) (query.Page, error)
	Search(ctx context.Context, user string, q query.SearchQuery) (query.SearchPage, error)
	Tags(ctx context.Context, user string) ([]search.Tag, error)
	Snapshot(
		ctx context.Context, user string, q query.SnapshotQuery, add func(query.Change) bool,
	) (query.SnapshotPage, error)
	Since(ctx context.Context, user string, q query.SinceQuery, add func(query.Change) bool) (query.SincePage, error)
	Check(ctx context.Context, user string, types []string) (query.Check, error)
	Backlinks(ctx context.Context, user string, target entity.Ref, limit int, cursor string) (query.Page, error)
}

var _ Queries = (*query.Service)(nil)
