package api

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/product"
)

// Members of the bodies and answers about series.
const (
	memberFromEvent = "fromEventId"
	memberUntil     = "untilUtc"
	memberDate      = "date"
	memberChanges   = "changes"
	memberEnded     = "ended"
	memberFollowing = "following"

	pointerToEvent = "/" + memberFromEvent
)

// Names of the schemas that are about several types.
const (
	anyEvent    = "AnyEvent"
	newSeries   = "SeriesCreate"
	fromEvent   = "SeriesFromEvent"
	wholeSeries = "SeriesWithInstances"
	bothSeries  = "SplitSeries"
)

// aboutSeries adjusts the operations of single events, which are the last of the table: GET answers every id of an
// event, and operations on recurrence refer to the series. So does its list of backlinks, the only one of an
// occurrence.
func aboutSeries(event *entity.Type, table []*operation) {
	for _, o := range table {
		switch o.id {
		case "createEvent", "updateEvent", "deleteEvent":
			run := o.run
			o.run = func(ctx context.Context, s *Config, c call) (answer, error) {
				a, err := run(ctx, s, c)
				return a, leadToSeries(err)
			}
		case "getEvent":
			o.summary = "Read an event, a series, or an occurrence of a series"
			o.detail = "As its last write left it. An occurrence that nobody changed is made of its series, and has its version."
			o.answers[0].doc = "The event, by whatever id it has."
			o.answers[0].schema = schemaRef(anyEvent)
			o.paths = anyEventID(event)
			o.run = func(ctx context.Context, s *Config, c call) (answer, error) {
				found, err := s.Queries.Event(ctx, c.user, c.path[event.IDAttr])
				return answer{status: http.StatusOK, typ: found.Type, item: found.Item}, err
			}
		case "listEventBacklinks":
			o.summary = "List what links to an event, a series, or an occurrence of a series"
			o.paths = anyEventID(event)
			o.run = func(ctx context.Context, s *Config, c call) (answer, error) {
				target := entity.Ref{Type: event.Name, ID: c.path[event.IDAttr]}
				if t := s.Registry.ByID(target.ID); t != nil && t.OwnCommands {
					target.Type = t.Name
				}
				return s.backlinks(ctx, c, target)
			}
		}
	}
}

// anyEventID documents the path of a read that accepts every id of an event.
func anyEventID(event *entity.Type) map[string]object {
	return map[string]object{
		event.IDAttr: {{"type", "string"},
			{"pattern", `^(evt_[A-Za-z0-9_-]{1,50}|mst_[A-Za-z0-9_-]{1,50}|inst_[0-9]{8}_[A-Za-z0-9_-]{1,50})$`}},
	}
}

// leadToSeries directs a client to the right operation if it gives a single event a recurrence, or changes a series as
// an event.
func leadToSeries(err error) error {
	var missing *command.NotFoundError
	if errors.As(err, &missing) && missing.Pointer == "" {
		switch prefix, _, _ := strings.Cut(missing.Ref.ID, "_"); prefix {
		case product.Master().IDPrefix:
			return refuse(notFound, "There is no such event: a series is changed at /v1/series/{masterId}.")
		case product.Instance().IDPrefix:
			return refuse(notFound,
				"There is no such event: an occurrence is changed at /v1/series/{masterId}/instances/{YYYYMMDD}.")
		}
	}
	var invalid *entity.ValidationError
	if !errors.As(err, &invalid) {
		return err
	}
	fields := slices.Clone(invalid.Fields)
	for i, f := range fields {
		switch f.Pointer {
		case "/" + product.AttrRRule, "/" + product.AttrRRuleUntil, "/" + product.AttrExDate, "/" + product.AttrRDate:
			fields[i].Detail = "is not a field of a single event: POST /v1/series makes a series, with " + memberFromEvent +
				" of this event"
		}
	}
	return entity.Invalid(fields)
}

// seriesOperations returns the operations on whole series.
func seriesOperations(t *entity.Type) []*operation {
	many := "/v1/" + t.Plural
	one := many + "/{" + t.IDAttr + "}"
	changed := []documented{entityAnswer(http.StatusOK, t, "The series as it is now."), goneAnswer}
	id := func(c call) string { return c.path[t.IDAttr] }
	return []*operation{
		{
			id: "createSeries", method: http.MethodPost, path: many, tag: t.Plural, writes: true, precondition: mayNeedVersion,
			summary: "Create a series", detail: "The id is chosen here unless the body has one: the prefix mst_ and a " +
				"lower-case UUID. With fromEventId an event becomes a series: " +
				"it is deleted, the series has its fields as far as the body says nothing else, its links and its UID. That " +
				"needs the event's version; without fromEventId a version has no meaning.",
			body:      &body{schema: schemaRef(newSeries), required: true, creates: t},
			answers:   []documented{entityAnswer(http.StatusCreated, t, "The series was created."), goneAnswer},
			finds:     true, // the event, or a link's target, may be missing
			conflicts: "The chosen id exists, is in the archive, or was deleted.",
			fills:     fillsSeries,
			run:       createSeries,
		},
		{
			id: "getSeries", method: http.MethodGet, path: one, tag: t.Plural,
			summary: "Read a series with its exceptions", detail: "The exceptions are the occurrences that differ from the " +
				"series or are cancelled, each as its user sees it, in the order of the dates that " +
				"the series gives them. An answer ends at about 1 MB; nextCursor leads to the exceptions behind it.",
			query: []entity.Field{cursorParam()},
			answers: []documented{{status: http.StatusOK, doc: "The series; its version is the ETag.", entity: true,
				schema: schemaRef(wholeSeries)}}, finds: true,
			run: getSeries(t),
		},
		{
			id: "updateSeries", method: http.MethodPatch, path: one, tag: t.Plural, writes: true, precondition: needsVersion,
			summary: "Change a series", detail: "A JSON Merge Patch (RFC 7396): null removes a member. A start that moves " +
				"takes the days that the rule names along, unless the patch has a rule. " +
				"Exceptions stay as long as their dates are occurrences.",
			body:    &body{schema: schemaRef(entityNoun(t) + "Patch"), required: true, patch: true, example: examplePatch(t)},
			answers: changed, finds: true, fills: fillsChanged(t),
			run: func(ctx context.Context, s *Config, c call) (answer, error) {
				return s.do(ctx, c, command.UpdateSeries{ID: id(c), Patch: c.doc})
			},
		},
		{
			id: "deleteSeries", method: http.MethodDelete, path: one, tag: t.Plural, writes: true, precondition: needsVersion,
			summary: "Delete a series", detail: "For good, with all of its exceptions.",
			answers: []documented{deletedAnswer("series")}, finds: true,
			run: func(ctx context.Context, s *Config, c call) (answer, error) {
				return s.do(ctx, c, command.DeleteSeries{ID: id(c)})
			},
		},
		{
			id: "endSeries", method: http.MethodPost, path: one + "/end", tag: t.Plural, writes: true,
			precondition: needsVersion,
			summary:      "End a series", detail: "No occurrence starts after the instant. A series that ends earlier already " +
				"stays as it is; one of which no occurrence would be left is to be deleted instead.",
			body: endBody(), answers: changed, finds: true,
			run: func(ctx context.Context, s *Config, c call) (answer, error) {
				return s.do(ctx, c, command.EndSeries{ID: id(c), UntilUtc: c.form.Str(memberUntil)})
			},
		},
		{
			id: "splitSeries", method: http.MethodPost, path: one + "/split", tag: t.Plural, writes: true,
			precondition: needsVersion,
			summary:      "Change this and all following occurrences",
			detail: "The series ends before the occurrence of the date, " +
				"and a new one goes on from there with the changes, a merge patch. " +
				"A COUNT is divided, days that the rule names follow the start, and later exceptions go along if their dates are " +
				"occurrences of the new series.",
			body: splitBody(t), finds: true,
			answers: []documented{
				{status: http.StatusCreated,
					doc:    "Both series as they are now; of a repeated request the old one only if it is still there.",
					schema: schemaRef(bothSeries)}, goneAnswer,
			},
			fills: fillsSeries,
			run:   splitSeries(t),
		},
	}
}

// instanceOperations returns the operations on one occurrence of a series.
func instanceOperations(t *entity.Type) []*operation {
	path := "/v1/series/{" + product.AttrMasterID + "}/instances/{" + memberDate + "}"
	changed := []documented{entityAnswer(http.StatusOK, t, "The occurrence as it is now."), goneAnswer}
	paths := map[string]object{
		memberDate: {{"type", "string"}, {"pattern", compactDate},
			{"description", "The local date YYYYMMDD that the series gives the occurrence, wherever it was moved."}},
	}
	return []*operation{
		{
			id: "putInstance", method: http.MethodPut, path: path, tag: "series", writes: true, precondition: needsVersion,
			paths:   paths,
			summary: "Change one occurrence", detail: "The body is what the occurrence has of its own; null is deliberately " +
				"empty. Everything else is the series', whatever the occurrence had before: " +
				"an empty body undoes all changes, a cancellation, too. A start without an end keeps the length. If-Match names " +
				"the occurrence's version, which is the series' until it differs.",
			body: &body{
				schema: schemaRef(entityNoun(t) + "Patch"), required: true,
				example: map[string]any{entity.AttrTitle: "Another text"},
			},
			answers: changed, finds: true, conflicts: "The series has as many exceptions as it may have.",
			fills: fillsException,
			run: func(ctx context.Context, s *Config, c call) (answer, error) {
				return s.do(ctx, c, command.PutInstance{
					MasterID: c.path[product.AttrMasterID], Date: c.path[memberDate], Fields: c.doc,
				})
			},
		},
		{
			id: "cancelInstance", method: http.MethodDelete, path: path, tag: "series", writes: true, precondition: needsVersion,
			paths:   paths,
			summary: "Cancel one occurrence",
			detail:  "It stays readable, with the status CANCELLED, and is in no agenda. If-Match as for putInstance.",
			answers: changed, finds: true, conflicts: "The series has as many exceptions as it may have.",
			fills: fillsException,
			run: func(ctx context.Context, s *Config, c call) (answer, error) {
				return s.do(ctx, c, command.CancelInstance{MasterID: c.path[product.AttrMasterID], Date: c.path[memberDate]})
			},
		},
	}
}
