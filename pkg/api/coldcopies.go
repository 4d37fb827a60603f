package api

import (
	"context"
	"net/http"
	"strconv"

	"nexus/pkg/archive"
	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/query"
	"nexus/pkg/table"
)

// archiveOperations returns the operations on cold copies.
func archiveOperations() []*operation {
	return []*operation{
		{
			id: "listArchive", method: http.MethodGet, path: "/v1/archive", tag: "archive",
			summary: "List cold copies",
			detail: "What is done, cancelled or archived long enough leaves, and stays readable as a cold copy. In the order " +
				"of ids.",
			query: []entity.Field{limitParam(), cursorParam()},
			answers: []documented{
				{status: http.StatusOK, doc: "A page of cold copies.", schema: pageSchema(schemaRef(coldCopySchema))},
			},
			run: listArchive,
		},
		{
			id: "restoreArchived", method: http.MethodPost, path: "/v1/archive/{id}/restore", tag: "archive", writes: true,
			summary: "Bring an item back from its cold copy",
			detail:  "It comes back two versions on, with restoredAt, and stays until its status changes again.",
			answers: []documented{
				{status: http.StatusOK, doc: "The item as it is now.", schema: schemaRef(anyEntity), entity: true}, goneAnswer,
			},
			finds: true, leaves: true, conflicts: "The item has not left yet.", fills: fillsRestored,
			run: func(ctx context.Context, s *Config, c call) (answer, error) {
				id := c.path["id"]
				t := s.Registry.ByID(id)
				if t == nil {
					return answer{}, archive.ErrNoCopy
				}
				return s.do(ctx, c, command.DelegatedCommand{
					Name: "restore", Type: t, ID: id,
					Write: func(ctx context.Context, more ...func(item.Item) table.Action) (item.Item, error) {
						return s.Archive.Restore(ctx, t, c.user, id, more...)
					},
				})
			},
		},
	}
}

func listArchive(ctx context.Context, s *Config, c call) (answer, error) {
	limit, text, p := pageOf(c.query)
	if p != nil {
		return answer{}, p
	}
	if limit == 0 {
		limit = query.DefaultLimit
	}
	var start table.Position
	if text != "" {
		id, ok := readColdCursor(s.Registry, c.user, text)
		if !ok {
			return answer{}, query.ErrCursor
		}
		start = table.Position(entity.ColdKey(c.user, id).Item())
	}
	copies, next, err := s.Archive.List(ctx, c.user, limit, start)
	if err != nil {
		return answer{}, err
	}
	cursor := ""
	if len(next) > 0 {
		key, err := entity.ParseSortKey(item.Item(next).Str(item.AttrSK))
		if err != nil {
			return answer{}, err
		}
		cursor = markedCursor(coldList(c.user), key.Components[0])
	}
	out := []byte(`{"items":[`)
	for i, copied := range copies {
		out = appendColdCopy(appendComma(out, i), copied)
	}
	return answer{status: http.StatusOK, body: append(appendNext(append(out, ']'), cursor), '}')}, nil
}

func appendColdCopy(out []byte, c archive.Copy) []byte {
	out = appendText(append(out, `{"entityType":`...), c.Ref.Type)
	out = appendText(append(out, `,"itemId":`...), c.Ref.ID)
	out = strconv.AppendInt(append(out, `,"version":`...), c.Version, 10)
	if c.Title != "" {
		out = appendText(append(out, `,"title":`...), c.Title)
	}
	return append(appendText(append(out, `,"expiresAt":`...), item.FormatInstant(c.ExpiresAt)), '}')
}

// coldList names a user's list of cold copies; its places are the items' ids.
func coldList(user string) string { return "archive " + user }

func readColdCursor(r *entity.Registry, user, text string) (id string, ok bool) {
	if id, ok = readMarkedCursor(coldList(user), text); !ok {
		return "", false
	}
	t := r.ByID(id)
	return id, t != nil && entity.CheckID(t.IDPrefix, id) == nil
}
