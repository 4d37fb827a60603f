package api

import (
	"context"
	"net/http"
	"strings"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/query"
)

// Parameters that select a part of a list.
const (
	paramTag     = "tag"
	paramText    = "q"
	paramTags    = "tags"
	paramOverdue = "overdue"
	paramDue     = "due"
)

func tagParam() entity.Field {
	return entity.Field{Name: paramTag, Kind: entity.Text, Min: 1, Max: 64, Doc: "Only what has this tag."}
}

func tagsParam() entity.Field {
	return entity.Field{
		Name: paramTags, Kind: entity.Tags, Max: 50, MemberMin: 1, MemberMax: 64,
		Doc: "Only what has at least one of these tags.",
	}
}

func textParam() entity.Field {
	return entity.Field{
		Name: paramText, Kind: entity.Text, Min: 1, Max: 200,
		Doc: "Only what has this text in its title, in upper or lower case.",
	}
}

func filterOf(q item.Item) query.Filter {
	return query.Filter{Tag: q.Str(paramTag), Tags: q.Strings(paramTags), Text: q.Str(paramText)}
}

// aboutFilters describes the filters of lists that have them.
const aboutFilters = " With tag, tags, q, due or overdue a page reads 500 items at most: it may be short, or empty, " +
	"and still have a nextCursor."

// allOperation lists all entities of a type.
func allOperation(t *entity.Type) *operation {
	detail := "In the order of their ids, whenever they are."
	if t.Name == entity.TypeMaster {
		detail += " Each is the series alone: its occurrences are in the agenda, and what differs is in its own answer."
	}
	params := []entity.Field{limitParam(), cursorParam()}
	if _, has := t.Field(entity.AttrTags); has {
		params = append([]entity.Field{tagsParam()}, params...)
	}
	return &operation{
		id: "list" + strings.ToUpper(t.Plural[:1]) + t.Plural[1:], method: http.MethodGet, path: "/v1/" + t.Plural,
		tag: t.Plural, summary: "List all " + t.Plural, detail: detail,
		query: params,
		answers: []documented{
			{status: http.StatusOK, doc: "A page of " + t.Plural + ".", schema: pageSchema(schemaRef(entityNoun(t)))},
		},
		run: func(ctx context.Context, s *Config, c call) (answer, error) {
			limit, cursor, p := pageOf(c.query)
			if p != nil {
				return answer{}, p
			}
			page, err := s.Queries.All(ctx, c.user, query.AllQuery{
				Type: t, Tags: c.query.Strings(paramTags), Limit: limit, Cursor: cursor,
			})
			return pageAnswer(page), err
		},
	}
}

// columnOperation lists tasks: one column of the board, or all.
func columnOperation(t *entity.Type) *operation {
	return &operation{
		id: "listTasks", method: http.MethodGet, path: "/v1/" + t.Plural, tag: t.Plural,
		summary: "List tasks",
		detail:  "Of one column of the board, or of all in their order; in each by priority, then age." + aboutFilters,
		query: []entity.Field{
			{Name: "status", Kind: entity.Enum, Enum: product.TaskStatuses(), Doc: "Only this column of the board."},
			{Name: "priority", Kind: entity.Integer, Min: 1, Max: 5, Doc: "Only this priority."},
			tagParam(), tagsParam(),
			{Name: paramDue, Kind: entity.Enum, Enum: query.Dues(),
				Doc: "overdue: open, and the due time has come. today, week: due then, in the user's zone. none: without one."},
			{Name: paramOverdue, Kind: entity.Flag,
				Doc: "true is due=overdue. Floating tasks are held against the clock of the user's zone."},
			textParam(), limitParam(), cursorParam(),
		},
		answers: []documented{{status: http.StatusOK, doc: "A page of tasks.", schema: pageSchema(schemaRef(entityNoun(t)))}},
		run: func(ctx context.Context, s *Config, c call) (answer, error) {
			limit, cursor, p := pageOf(c.query)
			if p != nil {
				return answer{}, p
			}
			due := c.query.Str(paramDue)
			if c.query.Bool(paramOverdue) {
				if due != "" && due != query.DueOverdue {
					return answer{}, refuseFields(entity.FieldError{
						Pointer: "/" + paramOverdue, Detail: "must not be true beside another " + paramDue,
					})
				}
				due = query.DueOverdue
			}
			page, err := s.Queries.Column(ctx, c.user, query.ColumnQuery{
				Status: c.query.Str("status"), Priority: c.query.Int("priority"), Due: due,
				Filter: filterOf(c.query), Limit: limit, Cursor: cursor,
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
			{"status", object{{"type", "string"}, {"enum", product.TaskStatuses()}}},
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
		run: func(ctx context.Context, s *Config, c call) (answer, error) {
			columns, err := s.Queries.Board(ctx, c.user, int(c.query.Int("limit")))
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
		summary: "List notes", detail: "Of one part of the grid, or the pinned ones, the recent ones, then the archived " +
			"ones; of each the latest changed first." + aboutFilters,
		query: []entity.Field{
			{Name: "state", Kind: entity.Enum, Enum: []string{"pinned", "recent", "archived"},
				Doc: "Only this part of the grid."},
			tagParam(), tagsParam(), textParam(), limitParam(), cursorParam(),
		},
		answers: []documented{{status: http.StatusOK, doc: "A page of notes.", schema: pageSchema(schemaRef(entityNoun(t)))}},
		run: func(ctx context.Context, s *Config, c call) (answer, error) {
			limit, cursor, p := pageOf(c.query)
			if p != nil {
				return answer{}, p
			}
			q := query.NotesQuery{Filter: filterOf(c.query), Limit: limit, Cursor: cursor}
			if c.query.Has("state") {
				var err error
				if q.State, err = query.ParseNoteState(c.query.Str("state")); err != nil {
					return answer{}, err
				}
			}
			page, err := s.Queries.Notes(ctx, c.user, q)
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
