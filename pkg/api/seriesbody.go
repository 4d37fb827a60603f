package api

import (
	"context"
	"maps"
	"net/http"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/product"
	"nexus/pkg/query"
)

// seriesSchemas returns the schemas about several types, for a registry that has series.
func seriesSchemas(r *entity.Registry) object {
	master := r.ByName(entity.TypeMaster)
	if master == nil {
		return nil
	}
	one, exception := schemaRef(entityNoun(master)), schemaRef(entityNoun(product.Instance()))
	fields := object{
		{memberFromEvent, object{{"type", "string"}, {"pattern", "^evt" + suffixPattern},
			{"description", "The event that becomes the series."}}},
		{master.IDAttr, clientIDSchema(master.IDPrefix)},
	}
	return object{
		{anyEvent, union("A single event, a series, or an occurrence of a series; entityType says which.", entity.AttrType,
			entityVariants("", product.Event(), master, product.Instance())...)},
		{newSeries, object{
			{"description", "A series of its own, or what an event lacks to become one: the one with " + memberFromEvent + "."},
			{"oneOf", []any{schemaRef(entityNoun(master) + "Create"), schemaRef(fromEvent)}},
		}},
		{fromEvent, object{
			{"type", "object"}, {"description", "A merge patch of an event's fields that makes it a series."},
			{"properties", append(fields, properties(master.Fields, patched)...)},
			{"required", []string{memberFromEvent, product.AttrRRule}}, {"additionalProperties", false},
		}},
		{wholeSeries, object{
			{"type", "object"},
			{"properties", object{
				{"master", one}, {"instances", listOf(exception)},
				{"nextCursor", object{{"type", "string"}, {"description", "Leads to more exceptions; absent at the end."}}},
			}},
			{"required", []string{"master", "instances"}},
		}},
		{bothSeries, object{
			{"type", "object"}, {"properties", object{{memberEnded, one}, {memberFollowing, one}}},
			{"required", []string{memberFollowing}},
		}},
	}
}

func createSeries(ctx context.Context, s *Config, c call) (answer, error) {
	raw, given := c.doc[memberFromEvent]
	if !given {
		if c.expected != nil || c.anyVersion {
			return answer{}, refuse(malformed, "A version has no meaning for createSeries without %s.", memberFromEvent)
		}
		return s.do(ctx, c, command.CreateSeries{Fields: c.doc})
	}
	event, isText := raw.(string)
	if !isText || event == "" {
		return answer{}, refuseFields(entity.FieldError{Pointer: pointerToEvent, Detail: "must be the id of an event"})
	}
	fields := maps.Clone(c.doc)
	delete(fields, memberFromEvent)
	return s.do(ctx, c, command.CreateSeries{Fields: fields, FromEventID: event})
}

func getSeries(t *entity.Type) func(context.Context, *Config, call) (answer, error) {
	return func(ctx context.Context, s *Config, c call) (answer, error) {
		_, cursor, p := pageOf(c.query)
		if p != nil {
			return answer{}, p
		}
		got, err := s.Queries.Series(ctx, c.user, c.path[t.IDAttr], cursor)
		if err != nil {
			return answer{}, err
		}
		return answer{status: http.StatusOK, body: appendSeries(t, s.Registry.ByName(entity.TypeInstance), got),
			version: got.Master.Int(entity.AttrVersion)}, nil
	}
}

func appendSeries(master, instance *entity.Type, got query.Series) []byte {
	out := master.AppendJSON([]byte(`{"master":`), got.Master)
	out = append(out, `,"instances":[`...)
	for i, it := range got.Instances {
		out = instance.AppendJSON(appendComma(out, i), it)
	}
	return append(appendNext(append(out, ']'), got.Next), '}')
}

// endBody returns the body of endSeries. Its instant belongs to an entity, whose zone decides its form; the command
// reads it.
func endBody() *body {
	until := form(entity.Field{Name: memberUntil, Kind: entity.Text, Required: true, Min: 1, Max: 64})
	return &body{
		form: until, required: true, example: map[string]any{memberUntil: "2026-06-30T23:59:59Z"},
		schema: object{
			{"type", "object"},
			{"properties", object{{memberUntil, object{
				{"type", "string"}, {"pattern", floatingOrInstant},
				{"description", "No occurrence starts after it. Without offset for a series that floats or has whole days."},
			}}}},
			{"required", []string{memberUntil}}, {"additionalProperties", false},
		},
	}
}

// splitBody returns the body of splitSeries. The operation reads it, because its changes are a separate document.
func splitBody(t *entity.Type) *body {
	return &body{
		required: true,
		example:  map[string]any{memberDate: "20260309", memberChanges: map[string]any{entity.AttrTitle: "Another text"}},
		schema: object{
			{"type", "object"},
			{"properties", object{
				{memberDate, object{{"type", "string"}, {"pattern", compactDate}, {"description",
					"The local date YYYYMMDD of the first occurrence that is to change; not that of the first of all."}}},
				{memberChanges, schemaRef(entityNoun(t) + "Patch")},
			}},
			{"required", []string{memberDate}}, {"additionalProperties", false},
		},
	}
}

func splitSeries(t *entity.Type) func(context.Context, *Config, call) (answer, error) {
	return func(ctx context.Context, s *Config, c call) (answer, error) {
		var wrong findings
		for _, name := range sortedNames(c.doc) {
			if name != memberDate && name != memberChanges {
				wrong.addUnknown("", name, []string{memberDate, memberChanges})
			}
		}
		date, isText := c.doc[memberDate].(string)
		if !isText || !entity.IsCompactDate(date) {
			wrong.add("/"+memberDate, "%s", entity.ExplainOccurrenceDate(date))
		}
		changes, isObject := c.doc[memberChanges].(map[string]any)
		if c.doc[memberChanges] != nil && !isObject {
			wrong.add("/"+memberChanges, "must be an object")
		}
		if len(wrong) > 0 {
			return answer{}, refuseFields(wrong...)
		}
		cmd := command.SplitSeries{ID: c.path[t.IDAttr], Date: date, Changes: changes}
		res, err := s.Commands.Do(ctx, c.request(cmd))
		if err != nil {
			return answer{}, err
		}
		c.spending.walk(res.Walked)
		if res.Deleted {
			return answer{status: http.StatusNoContent, made: res.Version, replayed: res.Replayed}, nil
		}
		ended := entity.Ref{Type: t.Name, ID: cmd.ID}
		out := []byte{'{'}
		if res.Ended != nil {
			out = append(t.AppendJSON(append(out, `"`+memberEnded+`":`...), res.Ended), ',')
		}
		out = append(t.AppendJSON(append(out, `"`+memberFollowing+`":`...), res.Item), '}')
		following := res.Item.Int(entity.AttrVersion)
		return answer{
			status: http.StatusCreated, body: out, location: "/v1/" + t.Plural + "/" + res.Ref.ID, replayed: res.Replayed,
			made:   res.Version,
			traces: appendTrace(appendTrace(nil, c.user, ended, res.Ended.Int(entity.AttrVersion)), c.user, res.Ref, following),
		}, nil
	}
}
