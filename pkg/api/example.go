package api

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/entity/outbox"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

// maxExampleRounds bounds how often an example is validated to find missing fields.
const maxExampleRounds = 4

// exampleOf returns the body of a create that the type accepts: its required fields, those that the type's own rules
// require, which validating finds, and those that place it in time. So a type of any product gets a true example.
func exampleOf(t *entity.Type) map[string]any {
	doc := map[string]any{}
	for _, f := range t.Fields {
		if f.Required && f.Default == nil && f.Origin == entity.FromClient {
			doc[f.Name] = exampleValue(f)
		}
	}
	for range maxExampleRounds {
		lacking := lackingIn(t, doc)
		if len(lacking) == 0 {
			break
		}
		for _, f := range lacking {
			doc[f.Name] = exampleValue(f)
		}
	}
	for _, f := range t.Fields {
		_, isIn := doc[f.Name]
		switch zone, isZoned := t.Field(f.Zone); {
		case f.Name == product.AttrRRule:
			doc[f.Name] = exampleValue(f)
		case isZoned && (isIn || f.Name == product.AttrEndUtc):
			doc[f.Name], doc[zone.Name] = exampleInstant(f)+"Z", exampleValue(zone)
		}
	}
	return doc
}

// lackingIn returns the fields that the document lacks for the type.
func lackingIn(t *entity.Type, doc map[string]any) []entity.Field {
	patch, _ := t.Parse(doc)
	fields, _ := t.Merge(nil, patch)
	it := t.NewItem("example", t.IDPrefix+"_example", fields, time.Unix(0, 0), nil)
	var lacking []entity.Field
	for _, e := range t.Validate(it) {
		f, known := t.Field(strings.TrimPrefix(e.Pointer, "/"))
		if _, there := doc[f.Name]; known && !there && f.Origin == entity.FromClient {
			lacking = append(lacking, f)
		}
	}
	return lacking
}

// examplePatch returns a patch that the type accepts: another value for its first text.
func examplePatch(t *entity.Type) map[string]any {
	i := slices.IndexFunc(t.Fields, func(f entity.Field) bool {
		return f.Origin == entity.FromClient && (f.Kind == entity.Text || f.Kind == entity.Markdown)
	})
	if i < 0 {
		return map[string]any{}
	}
	return map[string]any{t.Fields[i].Name: "Another text"}
}

// exampleValue returns a value of the field.
func exampleValue(f entity.Field) any {
	switch f.Kind {
	case entity.Enum:
		return f.Enum[0]
	case entity.Flag:
		return true
	case entity.Integer:
		if len(f.Allowed) > 0 {
			return number(f.Allowed[0])
		}
		return number(max(f.Min, 1))
	case entity.Instant:
		return exampleInstant(f)
	case entity.Date:
		return "2026-03-02"
	case entity.Dates:
		return []any{"20260309"}
	case entity.Zone:
		return "Europe/London"
	case entity.Color:
		return "amber"
	case entity.Tags:
		if f.Name == outbox.AttrEventTypes {
			return []any{"task.*"}
		}
		return []any{"home"}
	case entity.Minutes, entity.Integers:
		return []any{number(max(f.MemberMin, 10))}
	case entity.Links:
		return []any{}
	case entity.Object:
		inner := map[string]any{}
		for _, field := range f.Fields {
			if field.Required && field.Default == nil {
				inner[field.Name] = exampleValue(field)
			}
		}
		return inner
	}
	switch f.Name {
	case entity.AttrTitle:
		return "Water the plants"
	case product.AttrRRule:
		return "FREQ=WEEKLY;BYDAY=MO" // the other examples are on Mondays
	case outbox.AttrURL:
		return "https://hooks.example.com/nexus"
	case memberFrom, memberTo:
		return exampleRevID
	}
	return "Some text"
}

// exampleInstant returns an instant. It floats if the field can: without its zone's field, it has no offset. The end
// of a window is after its beginning.
func exampleInstant(f entity.Field) string {
	switch {
	case f.Name == product.AttrEndUtc:
		return "2026-03-02T10:30:00"
	case f.Zone != "":
		return "2026-03-02T09:30:00"
	case f.Name == "to":
		return "2026-03-09T00:00:00Z"
	}
	return "2026-03-02T00:00:00Z"
}

func number(n int64) json.Number { return json.Number(item.Int(n)) }
