package api

import (
	"context"
	"net/http"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/query"
)

// agendaOperation returns the operation for a user's items in a window of time.
func agendaOperation(r *entity.Registry) *operation {
	return &operation{
		id: "getAgenda", method: http.MethodGet, path: "/v1/agenda", tag: "agenda",
		summary: "Show what happens in a window of time", detail: "What begins between from and to, or still runs then, in " +
			"the order of its start, then id. Series are shown occurrence by occurrence, each as the INSTANCE that it is or " +
			"would be, and so are recurring reminders. A list value is separated by commas, so a tag that holds one cannot be " +
			"asked for.",
		query: []entity.Field{
			{Name: "from", Kind: entity.Instant, Required: true,
				Doc: "Beginning of the window, RFC 3339 with offset. A + is written %2B."},
			{Name: "to", Kind: entity.Instant, Required: true,
				Doc: "End of the window, not included; at most 366 days after from."},
			{Name: "tz", Kind: entity.Zone, Doc: "The zone in which floating times are read; the user's own unless given."},
			{Name: "types", Kind: entity.Tags, Max: 20, MemberMin: 1, MemberMax: 64, Enum: query.AgendaTypes(r),
				Doc: "Entity types; EVENT, TASK and REMINDER unless given. EVENT includes the occurrences of series."},
			{Name: "tags", Kind: entity.Tags, Max: 50, MemberMin: 1, MemberMax: 64,
				Doc: "Only what has at least one of these tags."},
			wordsParam("status", "Only what has one of these statuses.", query.SearchStatuses(r)),
			limitParam(), cursorParam(),
		},
		answers: []documented{
			{status: http.StatusOK, doc: "A page of the agenda.", schema: pageSchema(schemaRef(agendaItem))},
		},
		run: func(ctx context.Context, s *Config, c call) (answer, error) {
			limit, cursor, p := pageOf(c.query)
			if p != nil {
				return answer{}, p
			}
			q := query.AgendaQuery{
				Zone: c.query.Str("tz"), Types: c.query.Strings("types"), Tags: c.query.Strings("tags"), Limit: limit,
				Cursor: cursor, Statuses: c.query.Strings("status"),
			}
			q.From, _ = c.query.Time("from")
			q.To, _ = c.query.Time("to")
			agenda, err := s.Queries.Agenda(ctx, c.user, q)
			if err != nil {
				return answer{}, err
			}
			return agendaAnswer(agenda), nil
		},
	}
}

// agendaSchemas returns the schemas of an agenda's items: for each type that an agenda may show, its members in an
// answer and the time of its occurrence.
func agendaSchemas(r *entity.Registry) object {
	types := []*entity.Type{}
	for _, name := range query.AgendaTypes(r) {
		types = append(types, r.ByName(name))
	}
	if instance := r.ByName(entity.TypeInstance); instance != nil {
		types = append(types, instance)
	}
	var out object
	for _, t := range types {
		s := shownSchema(r, t)
		s.change("properties", func(v any) any { return append(v.(object), occurrenceMembers()...) })
		s.change("required", func(v any) any { return append(v.([]string), memberOccurrenceStart, memberOccurrenceEnd) })
		out = append(out, member{agendaPrefix + entityNoun(t), s})
	}
	items := union("An entity in the agenda, or one of its occurrences; entityType says which.", entity.AttrType,
		entityVariants(agendaPrefix, types...)...)
	return append(out, member{agendaItem, items})
}

const (
	agendaPrefix = "Agenda"

	memberOccurrenceStart = "occurrenceStart"
	memberOccurrenceEnd   = "occurrenceEnd"
)

func occurrenceMembers() object {
	return object{
		{memberOccurrenceStart, instantSchema("When the occurrence begins, a real instant in UTC.")},
		{memberOccurrenceEnd, instantSchema("When it ends; the same as its start if it has no length.")},
		{"occurrenceDate", object{
			{"type", "string"}, {"pattern", compactDate},
			{"description", "The date YYYYMMDD that the rule gives an occurrence of a series or a recurring reminder: its " +
				"name, wherever it was moved."},
		}},
		{"virtual", flagSchema("True for an occurrence of which only the rule speaks: of a series one without an " +
			"exception, of a recurring reminder neither the next trigger nor the one snoozed.")},
	}
}

const (
	// usualEntryBytes is the approximate length of an agenda's entry.
	usualEntryBytes = 640
	// maxAgendaBytes ends a page of large entries.
	maxAgendaBytes = 1 << 20
)

func agendaAnswer(a query.Agenda) answer {
	out := append(make([]byte, 0, (len(a.Entries)+1)*usualEntryBytes), `{"items":[`...)
	for i, e := range a.Entries {
		before := len(out)
		out = appendComma(out, i)
		out = append(out, '{')
		out = e.AppendMembers(out)
		out = append(out, `,"occurrenceStart":"`...)
		out = append(item.AppendInstant(out, e.OccurrenceStart), `","occurrenceEnd":"`...)
		out = append(item.AppendInstant(out, e.OccurrenceEnd), '"')
		if e.Date != "" { // digits alone
			out = append(append(append(out, `,"occurrenceDate":"`...), e.Date...), '"')
		}
		if e.Virtual {
			out = append(out, `,"virtual":true`...)
		}
		if out = append(out, '}'); i > 0 && len(out) > maxAgendaBytes {
			out, a = out[:before], a.First(i)
			break
		}
	}
	out = append(out, ']')
	return answer{status: http.StatusOK, body: append(appendNext(out, a.Next), '}')}
}
