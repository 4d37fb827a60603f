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

// agendaOperation shows what a user has in a window of time.
func agendaOperation(r *entity.Registry) *operation {
	instant := func(doc string) object {
		return object{{"type", "string"}, {"format", "date-time"}, {"description", doc}}
	}
	entry := object{
		{"allOf", []any{schemaRef(anyEntity), object{
			{"type", "object"},
			{"properties", object{
				{"occurrenceStart", instant("When the occurrence begins, a real instant in UTC.")},
				{"occurrenceEnd", instant("When it ends; the same as its start if it has no length.")},
				{"occurrenceDate", object{{"type", "string"}, {"pattern", "^[0-9]{8}$"}, {"description", "The date YYYYMMDD that the rule gives an occurrence of a series or a recurring reminder: its name, wherever it was moved."}}},
				{"virtual", object{{"type", "boolean"}, {"description", "True for an occurrence of which only the rule speaks: of a series one without an exception, of a recurring reminder neither the next trigger nor the one snoozed."}}},
			}},
			{"required", []string{"occurrenceStart", "occurrenceEnd"}},
		}}},
	}
	return &operation{
		id: "getAgenda", method: http.MethodGet, path: "/v1/agenda", tag: "agenda",
		summary: "Show what happens in a window of time", detail: "What begins between from and to, or still runs then, in the order of its start, then id. Series are shown occurrence by occurrence, each as the INSTANCE that it is or would be, and so are recurring reminders. A list value is separated by commas, so a tag that holds one cannot be asked for.",
		query: []entity.Field{
			{Name: "from", Kind: entity.Instant, Required: true, Doc: "Beginning of the window, RFC 3339 with offset. A + is written %2B."},
			{Name: "to", Kind: entity.Instant, Required: true, Doc: "End of the window, not included; at most 366 days after from."},
			{Name: "tz", Kind: entity.Zone, Doc: "The zone in which floating times are read; the user's own unless given."},
			{Name: "types", Kind: entity.Tags, Max: 20, MemberMin: 1, MemberMax: 64, Enum: query.AgendaTypes(r), Doc: "Entity types; EVENT, TASK and REMINDER unless given. EVENT includes the occurrences of series."},
			{Name: "tags", Kind: entity.Tags, Max: 50, MemberMin: 1, MemberMax: 64, Doc: "Only what has at least one of these tags."},
			limitParam(), cursorParam(),
		},
		answers: []documented{{status: http.StatusOK, doc: "A page of the agenda.", schema: pageSchema(entry)}},
		run: func(ctx context.Context, s services, c call) (answer, error) {
			limit, cursor, p := pageOf(c.query)
			if p != nil {
				return answer{}, p
			}
			q := query.AgendaQuery{Zone: c.query.Str("tz"), Types: c.query.Strings("types"), Tags: c.query.Strings("tags"), Limit: limit, Cursor: cursor}
			q.From, _ = c.query.Time("from")
			q.To, _ = c.query.Time("to")
			agenda, err := s.queries.Agenda(ctx, c.user, q)
			if err != nil {
				return answer{}, err
			}
			return agendaAnswer(agenda), nil
		},
	}
}

// usualEntryBytes is about how long an entry of the agenda is.
const usualEntryBytes = 640

func agendaAnswer(a query.Agenda) answer {
	out := append(make([]byte, 0, (len(a.Entries)+1)*usualEntryBytes), `{"items":[`...)
	for i, e := range a.Entries {
		out = appendComma(out, i)
		out = append(out, '{')
		out = e.AppendMembers(out)
		out = append(out, `,"occurrenceStart":"`...)
		out = append(entity.AppendInstant(out, e.OccurrenceStart), `","occurrenceEnd":"`...)
		out = append(entity.AppendInstant(out, e.OccurrenceEnd), '"')
		if e.Date != "" { // digits alone
			out = append(append(append(out, `,"occurrenceDate":"`...), e.Date...), '"')
		}
		if e.Virtual {
			out = append(out, `,"virtual":true`...)
		}
		out = append(out, '}')
	}
	out = append(out, ']')
	return answer{status: http.StatusOK, body: append(appendNext(out, a.Next), '}')}
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
