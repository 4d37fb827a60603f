package api

import (
	"context"
	"net/http"

	"nexus/pkg/command"
	"nexus/pkg/entity"
)

// entityOperations returns the operations of every type with a collection.
func entityOperations(t *entity.Type) []*operation {
	var (
		word    = noun(t.Name)
		many    = "/v1/" + t.Plural
		one     = many + "/{" + t.IDAttr + "}"
		changed = []documented{entityAnswer(http.StatusOK, t, "The "+word+" as it is now."), goneAnswer}
	)
	return []*operation{
		{
			id: "create" + entityNoun(t), method: http.MethodPost, path: many, tag: t.Plural, writes: true,
			summary:   "Create " + article(word),
			detail:    "The id is chosen here unless the body has one: the prefix " + t.IDPrefix + "_ and a lower-case UUID.",
			body:      &body{schema: schemaRef(entityNoun(t) + "Create"), required: true, creates: t},
			answers:   []documented{entityAnswer(http.StatusCreated, t, "The "+word+" was created."), goneAnswer},
			finds:     hasLinks(t), // a link's target may be missing
			conflicts: "The chosen id exists, is in the archive, or was deleted.", fills: fillsContent(t),
			run: func(ctx context.Context, s *Config, c call) (answer, error) {
				return s.do(ctx, c, command.Create{Type: t, Fields: c.doc})
			},
		},
		{
			id: "get" + entityNoun(t), method: http.MethodGet, path: one, tag: t.Plural,
			summary: "Read " + article(word), detail: "As its last write left it.",
			answers: []documented{entityAnswer(http.StatusOK, t, "The "+word+".")}, finds: true,
			run: func(ctx context.Context, s *Config, c call) (answer, error) {
				it, err := s.Queries.Get(ctx, c.user, t, c.path[t.IDAttr])
				return answer{status: http.StatusOK, typ: t, item: it}, err
			},
		},
		{
			id: "update" + entityNoun(t), method: http.MethodPatch, path: one, tag: t.Plural, writes: true,
			precondition: needsVersion, summary: "Change " + article(word),
			detail:  "A JSON Merge Patch (RFC 7396): null removes a member.",
			body:    &body{schema: schemaRef(entityNoun(t) + "Patch"), required: true, patch: true, example: examplePatch(t)},
			answers: changed, finds: true, fills: fillsChanged(t),
			run: func(ctx context.Context, s *Config, c call) (answer, error) {
				return s.do(ctx, c, command.Update{Type: t, ID: c.path[t.IDAttr], Patch: c.doc})
			},
		},
		{
			id: "delete" + entityNoun(t), method: http.MethodDelete, path: one, tag: t.Plural, writes: true,
			precondition: needsVersion, summary: "Delete " + article(word), detail: "For good: its id is never used again.",
			answers: []documented{deletedAnswer(word)}, finds: true,
			run: func(ctx context.Context, s *Config, c call) (answer, error) {
				return s.do(ctx, c, command.Delete{Type: t, ID: c.path[t.IDAttr]})
			},
		},
	}
}

// goneAnswer is the answer to a replayed request whose entity has gone since.
var goneAnswer = documented{
	status: http.StatusNoContent,
	doc: "Only for a request repeated under its idempotency key: it was carried out before, and the entity has gone " +
		"since.",
}

// deletedAnswer is the answer of a deletion; its tag is the version of the removal.
func deletedAnswer(word string) documented {
	return documented{status: http.StatusNoContent, doc: "The " + word + " is deleted.", entity: true}
}

func entityAnswer(status int, t *entity.Type, doc string) documented {
	return documented{status: status, doc: doc, schema: schemaRef(entityNoun(t)), entity: true}
}

// request returns the command as a request of the call.
func (c call) request(cmd command.Command) command.Request {
	return command.Request{
		User: c.user, ExpectedVersion: c.expected, AnyVersion: c.anyVersion, VersionOfSeries: c.ofSeries,
		IdempotencyKey: c.key, Retention: c.retention, Command: cmd,
	}
}

// do carries a command out.
func (s *Config) do(ctx context.Context, c call, cmd command.Command) (answer, error) {
	res, err := s.Commands.Do(ctx, c.request(cmd))
	if err != nil {
		return answer{}, err
	}
	c.spending.walk(res.Walked)
	a := answer{status: http.StatusOK, typ: res.Type, item: res.Item, made: res.Version, replayed: res.Replayed}
	written := res.Item.Int(entity.AttrVersion)
	if res.Type.Name == entity.TypeInstance {
		written = res.Row
	}
	switch {
	case res.Deleted:
		a.status, a.typ, a.item, a.version, written = http.StatusNoContent, nil, nil, res.Removal, res.Removal
	case res.Created:
		a.status, a.location = http.StatusCreated, "/v1/"+res.Type.Plural+"/"+res.Ref.ID
	}
	a.traces = appendTrace(a.traces, c.user, res.Ref, written)
	return a, nil
}

// appendTrace adds the trace id of an entity's write; a version of 0 was never written.
func appendTrace(traces []string, user string, ref entity.Ref, version int64) []string {
	if version == 0 {
		return traces
	}
	return append(traces, entity.TraceID(user, ref.ID, version))
}

func hasLinks(t *entity.Type) bool {
	f, ok := t.Field(entity.AttrLinks)
	return ok && f.Kind == entity.Links
}

func (s *Config) backlinks(ctx context.Context, c call, target entity.Ref) (answer, error) {
	limit, cursor, p := pageOf(c.query)
	if p != nil {
		return answer{}, p
	}
	page, err := s.Queries.Backlinks(ctx, c.user, target, limit, cursor)
	return pageAnswer(page), err
}

// linkOperations returns the operations on links from and to an entity of the type.
func linkOperations(t *entity.Type) []*operation {
	word := noun(t.Name)
	one := "/v1/" + t.Plural + "/{" + t.IDAttr + "}"
	backlinks := &operation{
		id: "list" + operationNoun(t) + "Backlinks", method: http.MethodGet, path: one + "/backlinks", tag: t.Plural,
		summary: "List what links to " + article(word),
		detail:  "The entities that have a link to it, a page at a time. Shortly after a link was made it may not show yet.",
		query:   []entity.Field{limitParam(), cursorParam()},
		answers: []documented{{status: http.StatusOK, doc: "A page of entities.", schema: pageSchema(schemaRef(anyEntity))}},
		finds:   true,
		run: func(ctx context.Context, s *Config, c call) (answer, error) {
			return s.backlinks(ctx, c, entity.Ref{Type: t.Name, ID: c.path[t.IDAttr]})
		},
	}
	if !hasLinks(t) {
		return []*operation{backlinks}
	}
	path := one + "/links/{" + entity.LinkTargetType + "}/{" + entity.LinkTargetID + "}"
	changed := []documented{entityAnswer(http.StatusOK, t, "The "+word+" as it is now."), goneAnswer}
	target := func(c call) entity.Ref {
		return entity.Ref{Type: c.path[entity.LinkTargetType], ID: c.path[entity.LinkTargetID]}
	}
	relation := form(entity.Field{
		Name: entity.LinkRelation, Kind: entity.Text, Min: 1, Max: 64,
		Doc: "What the target is to the entity, in the user's own word.",
	})
	return []*operation{
		{
			id: "add" + operationNoun(t) + "Link", method: http.MethodPut, path: path, tag: t.Plural, writes: true,
			precondition: mayHaveVersion,
			summary:      "Link " + article(word) + " to another entity",
			detail: "One link for each target: a second time it only changes the relation, " +
				"also where the target was deleted since. The target of a new link must exist and be the user's own.",
			body: &body{
				form: relation, schema: formSchema(relation), example: map[string]any{entity.LinkRelation: "preparation"},
			},
			answers: changed, finds: true,
			run: func(ctx context.Context, s *Config, c call) (answer, error) {
				return s.do(ctx, c, command.AddLink{
					Type: t, ID: c.path[t.IDAttr], Target: target(c), Relation: c.form.Str(entity.LinkRelation),
				})
			},
		},
		{
			id: "remove" + operationNoun(t) + "Link", method: http.MethodDelete, path: path, tag: t.Plural, writes: true,
			precondition: mayHaveVersion, summary: "Remove a link of " + article(word),
			detail: "A link that is not there is removed already.", answers: changed, finds: true,
			run: func(ctx context.Context, s *Config, c call) (answer, error) {
				return s.do(ctx, c, command.RemoveLink{Type: t, ID: c.path[t.IDAttr], Target: target(c)})
			},
		},
		backlinks,
	}
}

func article(word string) string {
	switch word[0] {
	case 'a', 'e', 'i', 'o', 'u':
		return "an " + word
	}
	return "a " + word
}
