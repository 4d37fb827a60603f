package api

import "nexus/pkg/revision"

// Schemas that the values tree and the plans have in common.

func textSchema(doc string) object { return object{{"type", "string"}, {"description", doc}} }

func instantSchema(doc string) object {
	return object{{"type", "string"}, {"format", "date-time"}, {"description", doc}}
}

func enumSchema[T ~string](doc string, values ...T) object {
	return object{{"type", "string"}, {"enum", values}, {"description", doc}}
}

func countSchema(doc string, lowest, highest int) object {
	return object{{"type", "integer"}, {"minimum", lowest}, {"maximum", highest}, {"description", doc}}
}

func flagSchema(doc string) object { return object{{"type", "boolean"}, {"description", doc}} }

func atMost(n int, list object) object { return append(list, member{"maxItems", n}) }

func record(required []string, properties object) object {
	s := object{{"type", "object"}, {"properties", properties}}
	if len(required) > 0 {
		s = append(s, member{"required", required})
	}
	return s
}

// closed returns an object schema without further members, for requests.
func closed(required []string, properties object) object {
	return append(record(required, properties), member{"additionalProperties", false})
}

// idSchema returns the schema of an id with one of the prefixes.
func idSchema(doc string, prefixes ...string) object {
	return object{{"type", "string"}, {"pattern", patternOfPrefixes(prefixes...)}, {"description", doc}}
}

func revIDSchema(doc string) object {
	return object{{"type", "string"}, {"pattern", revIDPattern}, {"description", doc}}
}

// revIDPath documents the path value of that name.
func revIDPath() map[string]object { return map[string]object{memberRevID: revIDSchema("A revision.")} }

// headMembers returns the members that name a revision.
func headMembers() object {
	return object{
		{memberRevID, revIDSchema("The revision.")},
		{memberRevTs, instantSchema("The time of its commit: later than its parent's, if need be ahead of the clock.")},
	}
}

// entryMembers returns the members of a log entry. The repository names the source of a revision.
func entryMembers(source string) object {
	return append(headMembers(), object{
		{memberCommittedAt, instantSchema("When it became the present revision, where that is another second than revTs.")},
		{memberParentRevID, revIDSchema("The revision before it; absent for the first.")},
		{memberMessage, textSchema("What it is for.")},
		{source, textSchema("What it came from; " + revision.SourceRollback + " for one that brings an earlier one back.")},
		{memberOriginRevID, revIDSchema("Of a rollback: the revision that it brings back.")},
	}...)
}

// commitMembers returns the members that a client sends about a new revision.
func commitMembers(source string, sources ...string) object {
	return object{
		{memberParentRevID, object{{"type", []string{"string", "null"}}, {"pattern", revIDPattern},
			{"description", "The present revision, as the client knows it; absent for the first."}}},
		{memberMessage, object{{"type", "string"}, {"maxLength", 500}, {"description", "What it is for."}}},
		{source, enumSchema("What it comes from.", sources...)},
	}
}

// entriesPage returns the schema of a page of a log.
func entriesPage(source string) object {
	return pageSchema(record([]string{memberRevID, memberRevTs}, entryMembers(source)))
}

// changesOf returns the schema of a list of changes, before and after.
func changesOf(schema object) object {
	return listOf(record([]string{"before", "after"}, object{{"before", schema}, {"after", schema}}))
}

// revisionAnswered documents an answer that is a revision: it has a tag.
func revisionAnswered(status int, doc, schema string) documented {
	return documented{status: status, doc: doc, schema: schemaRef(schema), entity: true}
}
