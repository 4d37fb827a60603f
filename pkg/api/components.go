package api

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"nexus/pkg/archive"
	"nexus/pkg/entity"
	"nexus/pkg/limit"
	"nexus/pkg/query"
)

func headerRef(name string) member {
	return member{name, object{{"$ref", "#/components/headers/" + name}}}
}

func headerParameters() object {
	version := object{{"type", "string"}, {"pattern", `^("(0|[1-9][0-9]{0,17})(-[a-z0-9-]{1,40})?"|\*)$`}}
	param := func(name, doc string, required bool, schema object, example string) object {
		return object{
			{"name", name}, {"in", "header"}, {"description", doc}, {"required", required}, {"schema", schema},
			{"example", example},
		}
	}
	return object{
		{headerKey, param(headerKey, "Makes a repetition of the request harmless for 24 hours: same key and same request "+
			"get the first status again, with the entity as it is now. The id of a command in a batch does so for 90 days.",
			false, object{{"type", "string"}, {"minLength", 1}, {"maxLength", 255}}, "9f6c1b1e-0d5e-4a39-8f0b-5c7a4f1f2a10")},
		{"If-Match",
			param("If-Match", "The ETag that the client has seen, or its version in quotes; * for whatever version there is.",
				true, version, `"1"`)},
		{"If-Match-Settings", param("If-Match", "The ETag of the settings that the client has seen, or their version in "+
			"quotes, which is 0 before the first change; * for whatever version there is.", true, version, `"0"`)},
		{"If-Match-Event", param("If-Match", "Needed with fromEventId: the ETag of that event, or its version in quotes, "+
			"or *. It has no meaning without fromEventId.", false, version, `"1"`)},
		{"If-Match-Optional", param("If-Match", "The ETag that the client has seen, or its version in quotes, or *. The "+
			"operation depends on the state by itself and does not need it.", false, version, `"1"`)},
		{"If-Modified-Since", param("If-Modified-Since",
			"Last-Modified of the text that the client has: 304 if nothing was changed since. If-None-Match counts before it.",
			false, object{{"type", "string"}}, "Mon, 02 Mar 2026 12:00:00 GMT")},
		{"If-None-Match", param("If-None-Match", "Entity tags that the client has: 304 instead of the same again.", false,
			object{{"type", "string"}}, `"3"`)},
	}
}

func answerHeaders() object {
	header := func(doc string, schema object) object {
		return object{{"description", doc}, {"schema", schema}}
	}
	text := object{{"type", "string"}}
	return object{
		{"ETag", header("The entity's version in quotes, what If-Match takes; of a deletion the version that the removal "+
			"counts as; with a mark behind a hyphen where it leaves "+
			"the table at a time, or where time alone has archived it; of a repository the revision's id in quotes; of a list "+
			"a digest, which only If-None-Match takes.", text)},
		{"Last-Modified", header("When something was last changed, added or removed.", text)},
		{headerParts,
			header("In how many parts the whole calendar can be read.", object{{"type", "integer"}, {"minimum", 1}})},
		{headerSince,
			header("The date before which the text leaves out what has ended, because the calendar is too large for one answer.",
				object{{"type", "string"}, {"format", "date"}})},
		{"Location", header("The path of what was created.", text)},
		{headerEffective, header("The seconds after which the answer holds everywhere, of a service behind a cache: until "+
			"then the secret address may answer with what it had before. Absent if it holds at once.",
			object{{"type", "integer"}, {"minimum", 0}})},
		{headerReplayed, header("true if the request had been carried out before under its idempotency key.",
			object{{"type", "string"}, {"enum", []string{"true"}}})},
		{headerRequestID, header("The request's id in the log: the client's own if it sent one.", text)},
		{headerTraceID, header("Under what the entity's last write, and everything that follows from it, is logged. Of a "+
			"split that of the new series.", text)},
		{headerPolicy, header("Of an answer that asked a bucket: the rate's name, quota and seconds.", text)},
		{headerRate, header("Of the same: what is left, and the seconds until the bucket is full again.", text)},
		{"Retry-After", header("Seconds to wait.", object{{"type", "integer"}, {"minimum", 0}})},
		{"WWW-Authenticate", header("How to authenticate.", text)},
	}
}

// refusals returns the problems by status.
func refusals() object {
	var out object
	for _, k := range problemKinds() {
		name := strconv.Itoa(k.status)
		known := slices.ContainsFunc(out, func(m member) bool { return m.name == name })
		// No operation answers the first two, and each documents its conflicts itself.
		if known || k.status == http.StatusMethodNotAllowed || k.status == http.StatusFailedDependency ||
			k.status == http.StatusConflict {
			continue
		}
		var docs []string
		for _, same := range problemKinds() {
			if same.status == k.status {
				docs = append(docs, same.doc)
			}
		}
		out = append(out, member{name, refusal(k.status, strings.Join(docs, " Or: "))})
	}
	return out
}

func refusal(status int, doc string) object {
	headers := object{headerRef(headerRequestID)}
	switch status {
	case http.StatusServiceUnavailable:
		headers = append(headers, headerRef("Retry-After"))
	case http.StatusTooManyRequests:
		headers = append(headers, headerRef("Retry-After"), headerRef(headerPolicy), headerRef(headerRate))
	case http.StatusUnauthorized:
		headers = append(headers, headerRef("WWW-Authenticate"))
	}
	return object{
		{"description", doc}, {"headers", headers},
		{"content", object{{problemType, object{{"schema", schemaRef(problemSchema)}}}}},
	}
}

func schemas(r *entity.Registry, table []*operation) object {
	var out object
	for _, t := range r.Types() {
		out = append(out, entitySchemas(r, t)...)
	}
	out = append(out, seriesSchemas(r)...)
	out = append(out, agendaSchemas(r)...)
	out = append(out, changesSchemas(r)...)
	out = append(out, valuesSchemas()...)
	out = append(out, planSchemas()...)
	text := func(doc string) object { return object{{"type", "string"}, {"description", doc}} }
	out = append(out,
		member{
			anyEntity,
			union("An entity of any type; entityType says which.", entity.AttrType, entityVariants("", r.Types()...)...),
		},
		member{linkSchema, object{
			{"type", "object"},
			{"properties", object{
				{entity.LinkTargetType, object{{"type", "string"}, {"enum", typeNames(r)}}},
				{entity.LinkTargetID, object{{"type", "string"}, {"pattern", "^[a-z]+" + suffixPattern}}},
				{entity.LinkRelation,
					object{{"type", "string"}, {"minLength", 1}, {"maxLength", 64}, {"description", "The user's own word."}}},
			}},
			{"required", []string{entity.LinkTargetType, entity.LinkTargetID}}, {"additionalProperties", false},
		}},
		member{coldCopySchema, object{
			{"type", "object"},
			{"properties", object{
				{entity.AttrType, object{{"type", "string"}, {"enum", typeNames(r)}, {"description", "The item's type."}}},
				{"itemId", object{{"type", "string"}, {"pattern", "^[a-z]+" + suffixPattern}, {"description", "The item's id."}}},
				{entity.AttrVersion, object{{"type", "integer"}, {"minimum", 1}, {"description", "The version that was copied."}}},
				{entity.AttrTitle, text("The item's title.")},
				{"expiresAt",
					object{{"type", "string"}, {"format", "date-time"}, {"description", "When the item leaves, or left."}}},
			}},
			{"required", []string{entity.AttrType, "itemId", entity.AttrVersion, "expiresAt"}},
		}},
		member{problemSchema, problemDocument()},
	)
	return append(out, commandSchemas(r, out, table)...)
}

// quotaNames returns the quotas that a refusal may name.
func quotaNames() []string {
	var names []string
	for _, line := range limit.Lines() {
		if line.Window == 0 {
			names = append(names, line.Name)
		}
	}
	return names
}

func problemDocument() object {
	var types []string
	docs := object{}
	for _, k := range problemKinds() {
		types = append(types, k.uri())
		docs = append(docs, member{k.uri(), strconv.Itoa(k.status) + " " + k.title + ". " + k.doc})
	}
	text := func(doc string) object { return object{{"type", "string"}, {"description", doc}} }
	count := func(doc string) object {
		return object{{"type", "integer"}, {"minimum", 0}, {"description", doc}}
	}
	return object{
		{"type", "object"}, {"description", "A problem document (RFC 9457)."},
		{"properties", object{
			{"type", object{{"type", "string"}, {"format", "uri-reference"}, {"enum", types},
				{"description", "A stable name: programs decide on it."}, {"x-enumDescriptions", docs}}},
			{"title", text("The same for every problem of the type.")},
			{"status", object{{"type", "integer"}, {"description", "The HTTP status."}}},
			{"detail", text("About this one request, for people.")},
			{"errors", object{{"type", "array"}, {"description", "All that is wrong."}, {"items", object{
				{"type", "object"},
				{"properties", object{
					{"pointer", text("Where: a JSON Pointer (RFC 6901) into the body, or / and a parameter's name.")},
					{"detail", text("What.")},
					{"rule", text("The rule that is broken, of a repository: a stable name.")},
					{"subject", text("The id of what breaks the rule: a node, an action, a block.")},
				}},
				{"required", []string{"pointer", "detail"}},
			}}}},
			{"currentVersion", object{{"type", "integer"}, {"minimum", 0},
				{"description", "With a failed precondition: the entity's version now."}}},
			{"current", schemaRef(anyEntity)},
			{"currentOmitted", object{{"type", "boolean"}, {"description",
				"True in the place of current where the answer of a batch had no room for it: read the entity by itself."}}},
			{"currentRevId",
				revIDSchema("With a parent that is not the present revision: which is. Absent if there is none yet.")},
			{memberPrunedUntil,
				instantSchema("Of what was pruned: from when on the history is unbroken. Absent if all of it was removed.")},
			{memberEraseAt, instantSchema("Of an account that leaves: when it is to be erased.")},
			{"reason", object{
				{"type", "string"}, {"enum", []string{
					string(archive.Deleted), string(archive.Expired), string(query.ResetUnknown), string(query.ResetForm),
				}},
				{"description",
					"Of what was there and left: whether its user deleted it, or it expired and can be restored from the archive. " +
						"Of a token that is good no more: expired, if the log does not reach back to it; unknown, if it is of another " +
						"log; form, if it is of another release or from before an operator raised the form."},
			}},
			{"quota", object{{"type", "string"}, {"enum", quotaNames()},
				{"description", "What the user has too many of."}}},
			{"points", count("Of a batch or an import: the points that it needs, if the full bucket holds fewer.")},
			{"limit", count("How many of them there may be; of points, how many the full bucket holds.")},
			{"used", count("How many there are, as far as is known.")},
			{"retryAfter", count("Of a rate: the seconds to wait, as in the header.")},
		}},
		{"required", []string{"type", "title", "status", "detail"}},
	}
}
