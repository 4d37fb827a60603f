package api

import (
	"slices"
	"strings"

	"nexus/pkg/entity"
	"nexus/pkg/item"
)

// view says for which use a field is described.
type view int

const (
	shown   view = iota // in an answer
	created             // in the body of a create, or of an action
	patched             // in a merge patch: null removes
)

// Names of the schemas that are no entity's.
const (
	anyEntity      = "AnyEntity"
	agendaItem     = "AgendaItem"
	linkSchema     = "Link"
	problemSchema  = "Problem"
	coldCopySchema = "ColdCopy"
)

// Patterns of times. A floating one has no offset.
const (
	floatingOrInstant = `^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2}` +
		`)?$`
	hexColor      = `^#[0-9a-f]{6}$`
	compactDate   = `^[0-9]{8}$`
	suffixPattern = `_[A-Za-z0-9_-]{1,50}$`
)

// schemaRoot is the path of the named schemas in the document.
const schemaRoot = "#/components/schemas/"

func schemaRef(name string) object { return object{{"$ref", schemaRoot + name}} }

func listOf(schema any) object { return object{{"type", "array"}, {"items", schema}} }

// pageSchema returns the schema of a page of items.
func pageSchema(item any) object {
	return object{
		{"type", "object"},
		{"properties", object{
			{"items", listOf(item)},
			{"nextCursor", object{{"type", "string"}, {"description", "Leads to the next page; absent at the end."}}},
		}},
		{"required", []string{"items"}},
	}
}

// variant is one schema of a union, with the value that identifies it.
type variant struct{ value, schema string }

// union returns the union of several schemas, each of which has a distinct value in the property.
func union(doc, property string, variants ...variant) object {
	options, mapping := []any{}, object{}
	for _, v := range variants {
		options = append(options, schemaRef(v.schema))
		mapping = append(mapping, member{v.value, schemaRoot + v.schema})
	}
	return object{
		{"description", doc}, {"oneOf", options},
		{"discriminator", object{{"propertyName", property}, {"mapping", mapping}}},
	}
}

// formSchema returns the schema of a form.
func formSchema(f *entity.Type) object {
	s := object{{"type", "object"}, {"properties", properties(f.Fields, created)}}
	if names := required(f.Fields, created); len(names) > 0 {
		s = append(s, member{"required", names})
	}
	return append(s, member{"additionalProperties", false})
}

func objectSchema(fields []entity.Field, v view) object {
	s := object{{"type", "object"}, {"properties", properties(fields, v)}}
	if names := required(fields, v); len(names) > 0 {
		s = append(s, member{"required", names})
	}
	if v != shown {
		s = append(s, member{"additionalProperties", false})
	}
	return s
}

func properties(fields []entity.Field, v view) object {
	out := object{}
	for _, f := range fields {
		if f.Origin == entity.Hidden || f.Origin == entity.FromServer && v != shown {
			continue
		}
		s := valueSchema(f, v)
		if v == patched {
			s = nullable(s)
		}
		doc := f.Doc
		if f.Default != nil && v == created {
			doc += " " + defaultOf(f) + " unless given."
		}
		out = append(out, member{f.Name, append(s, member{"description", doc})})
	}
	return out
}

func required(fields []entity.Field, v view) []string {
	var names []string
	for _, f := range fields {
		switch {
		case f.Origin == entity.Hidden || !f.Required || v == patched:
		case v == created && (f.Default != nil || f.Origin == entity.FromServer):
		default:
			names = append(names, f.Name)
		}
	}
	return names
}

// valueSchema returns the schema of a field's value.
func valueSchema(f entity.Field, v view) object {
	switch f.Kind {
	case entity.Enum:
		return object{{"type", "string"}, {"enum", f.Enum}}
	case entity.Flag:
		return object{{"type", "boolean"}}
	case entity.Integer:
		return integerSchema(f)
	case entity.Instant:
		if f.Zone != "" {
			return object{
				{"type", "string"}, {"pattern", floatingOrInstant},
				{"examples", []string{"2026-03-02T09:30:00Z", "2026-03-02T09:30:00"}},
			}
		}
		return object{{"type", "string"}, {"format", "date-time"}}
	case entity.Date:
		return object{{"type", "string"}, {"format", "date"}}
	case entity.Zone:
		return object{{"type", "string"}, {"minLength", 1}, {"examples", []string{"Europe/London"}}}
	case entity.Color:
		if v == shown {
			return object{{"type", "string"}, {"pattern", hexColor}}
		}
		return object{{"type", "string"}, {"examples", []string{"amber", "#f59e0b"}}}
	case entity.Tags:
		if len(f.Enum) > 0 {
			return append(listOf(object{{"type", "string"}, {"enum", f.Enum}}), listBounds(f)...)
		}
		return append(listOf(bounded("string", "minLength", f.MemberMin, "maxLength", f.MemberMax)), listBounds(f)...)
	case entity.Dates:
		return append(listOf(object{{"type", "string"}, {"pattern", compactDate}}), listBounds(f)...)
	case entity.Names:
		return append(listOf(object{{"type", "string"}}), listBounds(f)...)
	case entity.Minutes, entity.Integers:
		return append(listOf(bounded("integer", "minimum", f.MemberMin, "maximum", f.MemberMax)), listBounds(f)...)
	case entity.Links:
		return append(listOf(schemaRef(linkSchema)), listBounds(f)...)
	case entity.Object:
		return objectSchema(f.Fields, v)
	}
	// A Markdown's bound is in bytes, and no text has more characters than bytes.
	return bounded("string", "minLength", f.Min, "maxLength", f.Max)
}

func integerSchema(f entity.Field) object {
	if len(f.Allowed) > 0 {
		return object{{"type", "integer"}, {"enum", f.Allowed}}
	}
	s := object{{"type", "integer"}, {"minimum", f.Min}}
	if f.Max > 0 {
		s = append(s, member{"maximum", f.Max})
	}
	return s
}

func bounded(kind, lowest string, low int64, highest string, high int64) object {
	s := object{{"type", kind}}
	if low > 0 || kind == "integer" {
		s = append(s, member{lowest, low})
	}
	if high > 0 {
		s = append(s, member{highest, high})
	}
	return s
}

func listBounds(f entity.Field) object {
	if f.Max == 0 {
		return nil
	}
	if f.Required && f.Kind == entity.Tags { // an empty one counts as absent
		return object{{"minItems", 1}, {"maxItems", f.Max}}
	}
	return object{{"maxItems", f.Max}}
}

// nullable lets a schema accept null as well. The values of an enum stay of one type: generators make constants of
// them.
func nullable(s object) object {
	out := slices.Clone(s)
	for i, m := range out {
		if kind, ok := m.value.(string); ok && m.name == "type" {
			out[i].value = []string{kind, "null"}
		}
		if m.name == "enum" {
			return object{{"oneOf", []any{s, object{{"type", "null"}}}}}
		}
	}
	return out
}

// defaultOf returns a field's default as JSON. The document names it in the description only: generators turn a member
// with the keyword default into a required one, because it always has a value.
func defaultOf(f entity.Field) string {
	alone := form(entity.Field{Name: f.Name, Kind: f.Kind, Fields: f.Fields})
	text := string(alone.AppendJSON(nil, item.Item{f.Name: f.Default}))
	_, value, _ := strings.Cut(strings.TrimSuffix(text, "}"), ":")
	return value
}
