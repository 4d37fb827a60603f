package api

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/query"
	"nexus/pkg/text"
)

// maxQuery bounds the query string, in bytes; a cursor has a few hundred.
const maxQuery = 4 << 10

// readQuery reads the query string by the operation's parameters. It refuses unknown and repeated ones.
func (o *operation) readQuery(raw string) (item.Item, *Problem) {
	if len(raw) > maxQuery {
		return nil, refuse(malformed, "The query string is longer than %d bytes.", maxQuery)
	}
	values, err := url.ParseQuery(raw)
	if err != nil {
		return nil, refuse(malformed, "The query string is not well formed.")
	}
	doc := map[string]any{}
	for name, given := range values {
		f := o.queryField(name)
		switch {
		case f == nil:
			return nil, refuse(malformed, "There is no query parameter %q%s", shorten(name), o.nearParameter(name))
		case len(given) > 1:
			return nil, refuse(malformed, "The query parameter %s is given more than once.", name)
		case !utf8.ValidString(given[0]):
			return nil, refuse(malformed, "The query parameter %s is not UTF-8.", name)
		}
		doc[name] = queryValue(f, given[0])
	}
	it, broken := readForm(form(o.query...), doc)
	if len(broken) > 0 {
		return nil, refuseFields(broken...)
	}
	return it, nil
}

// nearParameter ends a sentence about an unknown parameter.
func (o *operation) nearParameter(name string) string {
	var known []string
	for _, f := range o.query {
		known = append(known, f.Name)
	}
	if near := text.DidYouMean(text.Near(name, known)); near != "" {
		return near
	}
	return "."
}

func (o *operation) queryField(name string) *entity.Field {
	i := slices.IndexFunc(o.query, func(f entity.Field) bool { return f.Name == name })
	if i < 0 {
		return nil
	}
	return &o.query[i]
}

// queryValue returns the parameter's text as the JSON value of its field.
func queryValue(f *entity.Field, text string) any {
	switch f.Kind {
	case entity.Integer:
		return json.Number(text)
	case entity.Flag:
		if text == "true" || text == "false" {
			return text == "true"
		}
	case entity.Tags:
		list := []any{}
		for member := range strings.SplitSeq(text, ",") {
			list = append(list, member)
		}
		return list
	}
	return text
}

// Query parameters that several operations have.

func limitParam() entity.Field {
	return entity.Field{
		Name: "limit", Kind: entity.Integer, Min: 1, Max: maxLimit,
		Doc: "How many items at most; 50 unless given. A page may hold fewer while there are more.",
	}
}

func cursorParam() entity.Field {
	return entity.Field{
		Name: "cursor", Kind: entity.Text, Doc: "nextCursor of the page before, with the other parameters unchanged.",
	}
}

// maxLimit is the largest page.
const maxLimit = query.MaxLimit

// pageOf returns the limit, 0 for the default, and the cursor, "" for the beginning.
func pageOf(q item.Item) (limit int, cursor string, p *Problem) {
	cursor = q.Str("cursor")
	if q.Has("cursor") && cursor == "" {
		return 0, "", problemOf(query.ErrCursor)
	}
	return int(q.Int("limit")), cursor, nil
}
