package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"nexus/pkg/entity"
	"nexus/pkg/idempotency"
)

// document is the OpenAPI document as it is served.
type document struct {
	text []byte
	tag  string
}

func newDocument(text []byte) document {
	return document{text, `"` + idempotency.Digest(text)[:16] + `"`}
}

// Document returns the OpenAPI 3.1 document of the surface for these entity types, as JSON. The members are in an
// order made for readers.
func Document(r *entity.Registry) []byte {
	table := operations(r)
	doc := object{
		{"openapi", "3.1.0"},
		{"info", object{
			{"title", "Nexus"}, {"version", "1"},
			{"contact", object{{"name", "The operator of this deployment"}}},
			{"license", object{{"name", "Terms of the operator"}, {"identifier", "LicenseRef-Operator"}}},
			{"description", "Calendar, tasks, reminders, notes, values tree and daily plans of one user. Every entity has a " +
				"version: it is the ETag of each answer, and a change names the version " +
				"it was made for in If-Match. The values tree and the plans have revisions, which are committed on a parent and " +
				"never change. A write that takes an Idempotency-Key has its effect once under it, however often it is sent. " +
				"Every refusal is a problem document (RFC 9457) that names all that is wrong. What belongs to somebody else does " +
				"not exist."},
		}},
		{"servers", []any{object{{"url", "/"}, {"description", "Where this document was read."}}}},
		{"tags", tagsOf(r, table)},
		{"security", []any{object{{"bearer", []string{}}}}},
		{"paths", pathsOf(r, table)},
		{"components", object{
			{"securitySchemes", object{{"bearer", object{
				{"type", "http"}, {"scheme", "bearer"},
				{"description", "A token of the user's; the local platform takes the user id itself."},
			}}}},
			{"parameters", headerParameters()},
			{"headers", answerHeaders()},
			{"responses", refusals()},
			{"schemas", schemas(r, table)},
		}},
	}
	text, err := json.Marshal(doc)
	if err != nil {
		panic(fmt.Sprintf("api: document: %v", err)) // it has only strings, numbers and lists of them
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, text, "", " "); err != nil {
		panic(fmt.Sprintf("api: document: %v", err))
	}
	return indented.Bytes()
}

func tagsOf(r *entity.Registry, table []*operation) []any {
	var tags []any
	var names []string
	for _, o := range table {
		if !slices.Contains(names, o.tag) {
			names = append(names, o.tag)
			tags = append(tags, object{{"name", o.tag}, {"description", descriptionOfTag(r, o.tag)}})
		}
	}
	return tags
}

func descriptionOfTag(r *entity.Registry, tag string) string {
	switch tag {
	case "agenda":
		return "What happens in a window of time, occurrence by occurrence."
	case "search":
		return "What a user has, by its words and by what it is."
	case "calendar":
		return "The calendar as other calendar programs read and write it."
	case "changes":
		return "What brings a device up to date: a snapshot, then what has changed."
	case "me":
		return "The user's zone, preferences and statistics."
	case "archive":
		return "Cold copies of what has left."
	case "values":
		return "The values tree, a repository of revisions."
	case "plans":
		return "The plan of each day, a repository of revisions each."
	case "commands":
		return "Many changes in one request."
	case "service":
		return "The service itself. These need no user."
	}
	for _, t := range collections(r) {
		if t.Plural == tag {
			return "Entities of the type " + t.Name + "."
		}
	}
	return "Operations about " + tag + "."
}

func pathsOf(r *entity.Registry, table []*operation) object {
	var paths object
	for _, o := range table {
		entry := member{lower(o.method), o.document(r)}
		if i := slices.IndexFunc(paths, func(m member) bool { return m.name == o.path }); i >= 0 {
			paths[i].value = append(paths[i].value.(object), entry)
			continue
		}
		paths = append(paths, member{o.path, object{entry}})
	}
	return paths
}

func lower(method string) string { return string(bytes.ToLower([]byte(method))) }

// document returns the operation's entry in the document.
func (o *operation) document(r *entity.Registry) object {
	doc := object{{"operationId", o.id}, {"tags", []string{o.tag}}, {"summary", o.summary}, {"description", o.detail}}
	if o.open {
		doc = append(doc, member{"security", []any{}})
	}
	if params := o.parameters(r); len(params) > 0 {
		doc = append(doc, member{"parameters", params})
	}
	if o.body != nil {
		content := object{}
		for _, media := range o.body.mediaTypes() {
			content = append(content, member{media, object{{"schema", o.body.schema}, {"example", o.body.sample()}}})
		}
		doc = append(doc, member{"requestBody", object{{"required", o.body.required}, {"content", content}}})
	}
	return append(doc, member{"responses", o.responses()})
}

func (o *operation) parameters(r *entity.Registry) []any {
	var params []any
	for _, name := range o.pathNames() {
		params = append(params, object{
			{"name", name}, {"in", "path"}, {"required", true}, {"schema", o.pathSchema(r, name)},
		})
	}
	for _, f := range o.query {
		p := object{{"name", f.Name}, {"in", "query"}, {"description", f.Doc}, {"required", f.Required}}
		if f.Kind == entity.Tags {
			p = append(p, member{"style", "form"}, member{"explode", false})
		}
		p = append(p, member{"schema", valueSchema(f, created)})
		if f.Required {
			p = append(p, member{"example", exampleValue(f)})
		}
		params = append(params, p)
	}
	headers := []string{}
	if o.writes {
		if o.id != batchID && !o.forgets {
			headers = append(headers, headerKey)
		}
		switch {
		case o.path == "/v1/me" && o.precondition == needsVersion:
			headers = append(headers, "If-Match-Settings")
		case o.precondition == needsVersion:
			headers = append(headers, "If-Match")
		case o.precondition == mayNeedVersion:
			headers = append(headers, "If-Match-Event")
		case o.precondition == mayHaveVersion:
			headers = append(headers, "If-Match-Optional")
		}
	} else if o.hasETag() {
		headers = append(headers, "If-None-Match")
		if o.showsCalendar() {
			headers = append(headers, "If-Modified-Since")
		}
	}
	for _, name := range headers {
		params = append(params, object{{"$ref", "#/components/parameters/" + name}})
	}
	return params
}

// pathSchema returns the schema of a path's value: an id of one type or of any, a type's name, or the operation's own
// schema.
func (o *operation) pathSchema(r *entity.Registry, name string) object {
	if schema, ok := o.paths[name]; ok {
		return schema
	}
	if name == paramAddress {
		return object{{"type", "string"}, {"description", "What stands behind /feed/ in the path that makeFeed told."}}
	}
	if name == entity.LinkTargetType {
		return object{{"type", "string"}, {"enum", typeNames(r)}}
	}
	var prefixes []string
	for _, t := range collections(r) {
		if t.IDAttr == name {
			return object{{"type", "string"}, {"pattern", patternOfPrefixes(t.IDPrefix)}}
		}
		prefixes = append(prefixes, t.IDPrefix)
	}
	return object{{"type", "string"}, {"pattern", patternOfPrefixes(prefixes...)}}
}

func typeNames(r *entity.Registry) []string {
	var names []string
	for _, t := range collections(r) {
		names = append(names, t.Name)
	}
	return names
}

// hasETag reports whether a read's answer has an entity tag that If-None-Match can use.
func (o *operation) hasETag() bool {
	return o.id == documentID || o.showsCalendar() || o.isList() || o.reads() && o.finds && o.answers[0].entity
}

func (o *operation) responses() object {
	out := object{}
	for _, d := range o.answers {
		r := object{{"description", d.doc}}
		headers := object{headerRef(headerRequestID)}
		if o.isMetered() {
			headers = append(headers, headerRef(headerPolicy), headerRef(headerRate))
		}
		if d.entity || o.hasETag() {
			headers = append(headers, headerRef("ETag"))
		}
		if o.showsCalendar() {
			headers = append(headers, headerRef("Last-Modified"), headerRef(headerParts), headerRef(headerSince))
		}
		if d.status == http.StatusCreated || d.located {
			headers = append(headers, headerRef("Location"))
		}
		if o.writes && o.id != batchID {
			if !o.forgets {
				headers = append(headers, headerRef(headerReplayed))
			}
			if o.lags {
				headers = append(headers, headerRef(headerEffective))
			}
			if d.entity || d.traced || d.status == http.StatusNoContent || d.status == http.StatusCreated {
				headers = append(headers, headerRef(headerTraceID))
			}
		}
		r = append(r, member{"headers", headers})
		if d.schema != nil {
			media := jsonType
			if d.media != "" {
				media = d.media
			}
			r = append(r, member{"content", object{{media, object{{"schema", d.schema}}}}})
		}
		out = append(out, member{strconv.Itoa(d.status), r})
	}
	if o.hasETag() {
		out = append(out,
			member{"304", object{{"description", "The client has it already."}, {"headers", object{headerRef("ETag")}}}})
	}
	for _, status := range o.refusals() {
		r := object{{"$ref", "#/components/responses/" + strconv.Itoa(status)}}
		if status == http.StatusConflict {
			r = refusal(status, o.conflict())
		}
		out = append(out, member{strconv.Itoa(status), r})
	}
	return out
}

// isMetered reports whether an answer may come from a rate's bucket: those that concern a user.
func (o *operation) isMetered() bool { return !o.open || o.finds }

// conflict says when the operation is refused with 409; empty for never.
func (o *operation) conflict() string {
	full := ""
	if o.fills != nil {
		full = "The user has as many as one may have: " + quotaReached.slug + " or " + historyFull.slug + "."
	}
	return strings.TrimSpace(o.conflicts + " " + full)
}

// refusals returns the statuses of the operation's possible problems, in their order.
func (o *operation) refusals() []int {
	statuses := []int{http.StatusBadRequest, http.StatusInternalServerError}
	switch {
	case o.isMetered() && o.open:
		statuses = append(statuses, http.StatusServiceUnavailable)
	case o.open:
		return statuses
	default:
		statuses = append(statuses, http.StatusUnauthorized, http.StatusForbidden, http.StatusServiceUnavailable)
	}
	if o.finds {
		statuses = append(statuses, http.StatusNotFound)
	}
	if o.isMetered() {
		statuses = append(statuses, http.StatusTooManyRequests)
	}
	if o.leaves || o.resets || o.mayBePruned {
		statuses = append(statuses, http.StatusGone)
	}
	if o.conflict() != "" {
		statuses = append(statuses, http.StatusConflict)
	}
	if o.precondition != withoutVersion {
		statuses = append(statuses, http.StatusPreconditionFailed)
	}
	if o.precondition == needsVersion || o.precondition == mayNeedVersion {
		statuses = append(statuses, http.StatusPreconditionRequired)
	}
	if o.body != nil {
		statuses = append(statuses, http.StatusUnsupportedMediaType)
	}
	if o.writes {
		statuses = append(statuses, http.StatusRequestEntityTooLarge)
	}
	if o.writes || len(o.query) > 0 {
		statuses = append(statuses, http.StatusUnprocessableEntity)
	}
	slices.Sort(statuses)
	return statuses
}
