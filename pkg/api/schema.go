package api

import (
	"strings"

	"nexus/pkg/entity"
)

// view is from where a field is looked at.
type view int

const (
	shown   view = iota // in an answer
	created             // in the body of a create, or of an action
	patched             // in a merge patch: null removes
)

// Names of the schemas that are no entity's.
const (
	anyEntity      = "AnyEntity"
	linkSchema     = "Link"
	problemSchema  = "Problem"
	coldCopySchema = "ColdCopy"
)

// Patterns of times. A floating one is written without offset.
const (
	floatingOrInstant = `^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})?$`
	hexColor          = `^#[0-9a-f]{6}$`
	compactDate       = `^[0-9]{8}$`
	suffixPattern     = `_[A-Za-z0-9_-]{1,50}$`
)

func schemaRef(name string) object { return object{{"$ref", "#/components/schemas/" + name}} }

func listOf(schema any) object { return object{{"type", "array"}, {"items", schema}} }

// pageSchema is a page of items.
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

// formSchema is the schema of a form.
func formSchema(f *entity.Type) object {
	s := object{{"type", "object"}, {"properties", properties(f.Fields, created)}}
	if names := required(f.Fields, created); len(names) > 0 {
		s = append(s, member{"required", names})
	}
	return append(s, member{"additionalProperties", false})
}

// entitySchemas are the three schemas of a type: as it is shown, created and patched. The last two are left out for what
// clients cannot send.
func entitySchemas(t *entity.Type) object {
	name := entityNoun(t)
	schemas := object{{name, objectSchema(t.Fields, shown)}}
	if t.HasCollection() && t.Name != entity.TypeInstance { // which is made of its series, by its date
		id := object{{"type", "string"}, {"pattern", "^" + t.IDPrefix + "_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"}, {"description", "The client's own choice."}}
		create := objectSchema(t.Fields, created)
		for i, m := range create {
			if m.name == "properties" {
				create[i].value = append(object{{t.IDAttr, id}}, m.value.(object)...)
			}
		}
		schemas = append(schemas, member{name + "Create", create})
	}
	return append(schemas, member{name + "Patch", objectSchema(t.Fields, patched)})
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
		if f.Origin == entity.FromServer {
			s = append(s, member{"readOnly", true})
		}
		if f.Default != nil && v == created {
			s = append(s, member{"default", defaultOf(f)})
		}
		if v == patched {
			s = nullable(s)
		}
		out = append(out, member{f.Name, append(s, member{"description", f.Doc})})
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

// valueSchema says what a field's value looks like.
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
			return object{{"type", "string"}, {"pattern", floatingOrInstant}, {"examples", []string{"2026-03-02T09:30:00Z", "2026-03-02T09:30:00"}}}
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
	return object{{"maxItems", f.Max}}
}

// nullable lets a schema take null as well.
func nullable(s object) object {
	out := append(object{}, s...)
	for i, m := range out {
		switch values := m.value.(type) {
		case string:
			if m.name == "type" {
				out[i].value = []string{values, "null"}
			}
		case []string:
			if m.name == "enum" {
				out[i].value = withNull(values)
			}
		case []int64:
			if m.name == "enum" {
				out[i].value = withNull(values)
			}
		}
	}
	return out
}

func withNull[T any](values []T) []any {
	var out []any
	for _, v := range values {
		out = append(out, v)
	}
	return append(out, nil)
}

// defaultOf is a field's default as JSON has it.
func defaultOf(f entity.Field) any {
	alone := form(entity.Field{Name: f.Name, Kind: f.Kind, Fields: f.Fields})
	text := string(alone.AppendJSON(nil, entity.Item{f.Name: f.Default}))
	_, value, _ := strings.Cut(strings.TrimSuffix(text, "}"), ":")
	return rawJSON(value)
}

// rawJSON is JSON text that is there already.
type rawJSON string

// MarshalJSON implements json.Marshaler.
func (r rawJSON) MarshalJSON() ([]byte, error) { return []byte(r), nil }
