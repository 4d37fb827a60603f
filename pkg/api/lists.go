package api

import (
	"context"
	"net/http"

	"nexus/pkg/entity"
	"nexus/pkg/query"
)

// columnOperation lists one column of the task board.
func columnOperation(t *entity.Type) *operation {
	return &operation{
		id: "listTasks", method: http.MethodGet, path: "/v1/" + t.Plural, tag: t.Plural,
		summary: "List one column of the board", detail: "Tasks of one status by priority, then age.",
		query: []entity.Field{
			{Name: "status", Kind: entity.Enum, Required: true, Enum: entity.TaskStatuses(), Doc: "The column."},
			{Name: "priority", Kind: entity.Integer, Min: 1, Max: 5, Doc: "Only this priority."},
			limitParam(), cursorParam(),
		},
		answers: []documented{{status: http.StatusOK, doc: "A page of tasks.", schema: pageSchema(schemaRef(entityNoun(t)))}},
		run: func(ctx context.Context, s services, c call) (answer, error) {
			limit, cursor, p := pageOf(c.query)
			if p != nil {
				return answer{}, p
			}
			page, err := s.queries.Column(ctx, c.user, query.ColumnQuery{
				Status: c.query.Str("status"), Priority: c.query.Int("priority"), Limit: limit, Cursor: cursor,
			})
			return pageAnswer(page), err
		},
	}
}

// boardOperation shows all columns at once.
func boardOperation(t *entity.Type) *operation {
	column := object{
		{"type", "object"},
		{"properties", object{
			{"status", object{{"type", "string"}, {"enum", entity.TaskStatuses()}}},
			{"items", listOf(schemaRef(entityNoun(t)))},
			{"nextCursor", object{{"type", "string"}, {"description", "Leads on in the listing of this status."}}},
		}},
		{"required", []string{"status", "items"}},
	}
	return &operation{
		id: "getBoard", method: http.MethodGet, path: "/v1/board", tag: t.Plural,
		summary: "Show the board", detail: "All columns in their order, each with its first tasks by priority, then age.",
		query: []entity.Field{limitParam()},
		answers: []documented{{status: http.StatusOK, doc: "The columns.", schema: object{
			{"type", "object"}, {"properties", object{{"columns", listOf(column)}}}, {"required", []string{"columns"}},
		}}},
		run: func(ctx context.Context, s services, c call) (answer, error) {
			columns, err := s.queries.Board(ctx, c.user, int(c.query.Int("limit")))
			if err != nil {
				return answer{}, err
			}
			out := []byte(`{"columns":[`)
			for i, column := range columns {
				out = appendComma(out, i)
				out = append(out, `{"status":`...)
				out = appendText(out, column.Status)
				out = append(out, ',')
				out = append(appendPage(out, column.Page), '}')
			}
			return answer{status: http.StatusOK, body: append(out, `]}`...)}, nil
		},
	}
}

// notesOperation lists one part of the notes grid.
func notesOperation(t *entity.Type) *operation {
	return &operation{
		id: "listNotes", method: http.MethodGet, path: "/v1/" + t.Plural, tag: t.Plural,
		summary: "List notes of one state", detail: "The latest changed first.",
		query: []entity.Field{
			{Name: "state", Kind: entity.Enum, Required: true, Enum: []string{"pinned", "recent", "archived"}, Doc: "The part of the grid."},
			limitParam(), cursorParam(),
		},
		answers: []documented{{status: http.StatusOK, doc: "A page of notes.", schema: pageSchema(schemaRef(entityNoun(t)))}},
		run: func(ctx context.Context, s services, c call) (answer, error) {
			limit, cursor, p := pageOf(c.query)
			if p != nil {
				return answer{}, p
			}
			state, err := query.ParseNoteState(c.query.Str("state"))
			if err != nil {
				return answer{}, err
			}
			page, err := s.queries.Notes(ctx, c.user, query.NotesQuery{State: state, Limit: limit, Cursor: cursor})
			return pageAnswer(page), err
		},
	}
}

func pageAnswer(p query.Page) answer {
	return answer{status: http.StatusOK, body: append(appendPage([]byte{'{'}, p), '}')}
}

// appendPage appends the members of a page.
func appendPage(out []byte, p query.Page) []byte {
	out = append(out, `"items":[`...)
	for i, found := range p.Items {
		out = found.Type.AppendJSON(appendComma(out, i), found.Item)
	}
	return appendNext(append(out, ']'), p.Next)
}

func appendNext(out []byte, next string) []byte {
	if next == "" {
		return out
	}
	return appendText(append(out, `,"nextCursor":`...), next)
}

func appendComma(out []byte, i int) []byte {
	if i == 0 {
		return out
	}
	return append(out, ',')
}
