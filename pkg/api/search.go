package api

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/query"
	"nexus/pkg/search"
)

// searchOperations returns the search and the list of tags.
func searchOperations(r *entity.Registry) []*operation {
	return []*operation{searchOperation(r), tagsOperation()}
}

// wordsParam returns the field of a list of words, of which each is one of these.
func wordsParam(name, doc string, of []string) entity.Field {
	return entity.Field{Name: name, Kind: entity.Tags, Max: 20, MemberMin: 1, MemberMax: 64, Enum: of, Doc: doc}
}

func searchOperation(r *entity.Registry) *operation {
	tags := func(name, doc string) entity.Field {
		return entity.Field{Name: name, Kind: entity.Tags, Max: 50, MemberMin: 1, MemberMax: 64, Doc: doc}
	}
	instant := func(name, doc string) entity.Field { return entity.Field{Name: name, Kind: entity.Instant, Doc: doc} }
	return &operation{
		id: "search", method: http.MethodGet, path: "/v1/search", tag: "search",
		summary: "Find entities by their words and by what they are",
		detail: "Words are found without regard to case and marks, in titles, descriptions, bodies, notes and places; the " +
			"last one may be the beginning of a longer word, and one of five characters or more may be misspelt. All of " +
			"them must be there. \"Words in quotation marks\" stand side by side, and a match has no -word. A change shows " +
			"within a second. A series is one hit, with its time in the window that is asked for. An exception is a hit " +
			"of its own if it has its own title, description, location or tags.",
		query: []entity.Field{
			{Name: paramText, Kind: entity.Text, Min: 1, Max: 200,
				Doc: "The words; everything that fits the rest unless given."},
			wordsParam("types", "Entity types; all unless given. EVENT includes series.", query.SearchTypes(r)),
			tagParam(), tags(paramTags, "Only what has all of these tags."),
			tags("anyTag", "Only what has at least one of these tags."),
			wordsParam("status", "Only what has one of these statuses.", query.SearchStatuses(r)),
			wordsParam("is", "Only what is all of these. today: in the agenda of this day in the user's zone.",
				query.SearchMarks()),
			instant("from", "Only what an agenda shows at or after it, RFC 3339 with offset. A + is written %2B."),
			instant("to", "Only what an agenda shows before it."),
			instant("updatedFrom", "Only what was changed at or after it."),
			{Name: "sort", Kind: entity.Enum, Enum: query.SearchSorts(),
				Doc: "The order. Unless given: rank with words, else start with a window of time, else updated."},
			limitParam(), cursorParam(),
		},
		answers: []documented{{status: http.StatusOK, doc: "A page of hits.", schema: searchSchema(r)}},
		run: func(ctx context.Context, s *Config, c call) (answer, error) {
			limit, cursor, p := pageOf(c.query)
			if p != nil {
				return answer{}, p
			}
			q := query.SearchQuery{
				Text: c.query.Str(paramText), Types: c.query.Strings("types"), Tags: allTags(c.query),
				AnyTag: c.query.Strings("anyTag"), Statuses: c.query.Strings("status"), Is: c.query.Strings("is"),
				Sort: c.query.Str("sort"), Limit: limit, Cursor: cursor,
			}
			q.From, _ = c.query.Time("from")
			q.To, _ = c.query.Time("to")
			q.UpdatedFrom, _ = c.query.Time("updatedFrom")
			page, err := s.Queries.Search(ctx, c.user, q)
			if err != nil {
				return answer{}, err
			}
			return searchAnswer(page)
		},
	}
}

// shownHit is a hit as clients see it.
type shownHit struct {
	Type        string         `json:"entityType"`
	ID          string         `json:"id"`
	Version     int64          `json:"version"`
	Title       string         `json:"title"`
	Status      string         `json:"status,omitempty"`
	Tags        []string       `json:"tags,omitempty"`
	Start       string         `json:"occurrenceStart,omitempty"`
	End         string         `json:"occurrenceEnd,omitempty"`
	Date        string         `json:"occurrenceDate,omitempty"`
	SeriesID    string         `json:"masterId,omitempty"`
	AllDay      bool           `json:"isAllDay,omitempty"`
	IsPinned    bool           `json:"isPinned,omitempty"`
	IsRecurring bool           `json:"isRecurring,omitempty"`
	UpdatedAt   string         `json:"updatedAt"`
	Snippets    []shownSnippet `json:"snippets,omitempty"`
}

// shownSnippet is a part of a text with what was found.
type shownSnippet struct {
	Field  string   `json:"field"`
	Text   string   `json:"text"`
	Marks  [][2]int `json:"marks"`
	Before bool     `json:"before,omitempty"`
	After  bool     `json:"after,omitempty"`
}

func searchAnswer(page query.SearchPage) (answer, error) {
	out := struct {
		Items []shownHit `json:"items"`
		Total int        `json:"total"`
		Next  string     `json:"nextCursor,omitempty"`
	}{[]shownHit{}, page.Total, page.Next}
	for _, h := range page.Hits {
		shown := shownHit{
			Type: h.Type, ID: h.ID, Version: h.Version, Title: h.Title, Status: h.Status, Tags: h.Document.Tags, Date: h.Date,
			SeriesID: h.SeriesID, AllDay: h.AllDay, IsPinned: h.IsPinned, IsRecurring: h.IsRecurring,
			UpdatedAt: item.FormatInstant(h.Updated), Snippets: shownSnippets(h.Snippets),
		}
		if h.Span != nil {
			shown.Start, shown.End = item.FormatInstant(h.Span.Start.UTC()), item.FormatInstant(h.Span.End.UTC())
		}
		out.Items = append(out.Items, shown)
	}
	body, err := encode(out)
	return answer{status: http.StatusOK, body: body}, err
}

func shownSnippets(of []search.Snippet) (out []shownSnippet) {
	for _, s := range of {
		shown := shownSnippet{Field: s.Field, Text: s.Text, Marks: [][2]int{}, Before: s.Before, After: s.After}
		for _, m := range s.Marks {
			shown.Marks = append(shown.Marks, [2]int{m.From, m.To})
		}
		out = append(out, shown)
	}
	return out
}

func searchSchema(r *entity.Registry) object {
	count := object{{"type", "integer"}, {"minimum", 0}}
	snippet := record([]string{"field", "text", "marks"}, object{
		{"field", textSchema("The field that has the text.")},
		{"text", textSchema("A part of it, of a title the whole.")},
		{"marks", object{
			{"type", "array"}, {"description", "What was found: from one character up to another, in Unicode code points."},
			{"items", object{{"type", "array"}, {"items", count}, {"minItems", 2}, {"maxItems", 2}}},
		}},
		{"before", flagSchema("True if the text goes on in front.")},
		{"after", flagSchema("True if the text goes on behind.")},
	})
	found := slices.DeleteFunc(typeNames(r), func(name string) bool {
		_, has := r.ByName(name).Field(entity.AttrTitle)
		return !has
	})
	hit := record([]string{entity.AttrType, "id", entity.AttrVersion, entity.AttrTitle, entity.AttrUpdatedAt}, object{
		{entity.AttrType, object{{"type", "string"}, {"enum", found}}},
		{"id", textSchema("The entity's id.")},
		{entity.AttrVersion, object{{"type", "integer"}, {"minimum", 1}, {"description", "The entity's version."}}},
		{entity.AttrTitle, textSchema("Its title.")},
		{entity.AttrStatus, textSchema("Its status, if its type has one.")},
		{entity.AttrTags, listOf(object{{"type", "string"}})},
		{memberOccurrenceStart, instantSchema("When it takes place, a real instant in UTC: its first time in the window. " +
			"Without a window it is the next time of what recurs. Absent if it has no time.")},
		{memberOccurrenceEnd, instantSchema("When that ends.")},
		{"occurrenceDate", object{
			{"type", "string"}, {"pattern", compactDate}, {"description", "The date that the rule gives the occurrence."},
		}},
		{product.AttrMasterID, idOfSeries(r)},
		{"isAllDay", flagSchema("True if it has dates instead of times.")},
		{"isPinned", flagSchema("True for a pinned note.")},
		{"isRecurring", flagSchema("True for a series, an exception and a recurring reminder.")},
		{entity.AttrUpdatedAt, instantSchema("When it was last changed.")},
		{"snippets", atMost(3, listOf(snippet))},
	})
	s := pageSchema(hit)
	s.change("properties", func(v any) any {
		return append(v.(object), member{"total", append(count, member{"description", "The number of all hits."})})
	})
	s.change("required", func(v any) any { return append(v.([]string), "total") })
	return s
}

func idOfSeries(r *entity.Registry) object {
	s := textSchema("The series of an exception.")
	if t := r.ByName(entity.TypeMaster); t != nil {
		s = append(s, member{"pattern", patternOfPrefixes(t.IDPrefix)})
	}
	return s
}

// allTags returns all tags that a hit must have. That of the parameter tag may have a comma.
func allTags(q item.Item) []string {
	tags := q.Strings(paramTags)
	if tag := q.Str(paramTag); tag != "" {
		tags = append(tags, tag)
	}
	return tags
}

func tagsOperation() *operation {
	one := record([]string{"tag", "count"}, object{
		{"tag", textSchema("The tag.")},
		{"count", object{{"type", "integer"}, {"minimum", 1}, {"description", "How many entities have it."}}},
	})
	return &operation{
		id: "listTags", method: http.MethodGet, path: "/v1/tags", tag: "search", summary: "List all tags",
		detail: "In the order of their bytes, each with the number of entities that have it. A change shows within a second.",
		answers: []documented{{status: http.StatusOK, doc: "The tags.",
			schema: record([]string{"items"}, object{{"items", listOf(one)}})}},
		run: func(ctx context.Context, s *Config, c call) (answer, error) {
			tags, err := s.Queries.Tags(ctx, c.user)
			if err != nil {
				return answer{}, err
			}
			out := []byte(`{"items":[`)
			for i, tag := range tags {
				out = appendText(append(appendComma(out, i), `{"tag":`...), tag.Name)
				out = append(strconv.AppendInt(append(out, `,"count":`...), int64(tag.Count), 10), '}')
			}
			return answer{status: http.StatusOK, body: append(out, `]}`...)}, nil
		},
	}
}
