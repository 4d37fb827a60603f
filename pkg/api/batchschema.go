package api

import (
	"slices"
	"strings"

	"nexus/pkg/entity"
)

// Names of the schemas about batches.
const (
	commandSchema = "Command"
	resultSchema  = "CommandResult"
)

// commandSchemas returns the schemas of a batch's commands, made of their operations, and of their result.
func commandSchemas(r *entity.Registry, known object, table []*operation) object {
	var out object
	var variants []variant
	for _, o := range table {
		if !o.isCommand() {
			continue
		}
		data := o.dataSchema(r, known)
		if _, isRef := data.at("$ref").(string); !isRef {
			out = append(out, member{o.commandType() + "Data", data})
			data = schemaRef(o.commandType() + "Data")
		}
		out = append(out, member{o.commandType() + commandSchema, o.frameSchema(data)})
		variants = append(variants, variant{o.commandType(), o.commandType() + commandSchema})
	}
	return append(out,
		member{commandSchema, union("One command of a batch: its type is the id of the operation in PascalCase, its data "+
			"the operation's body with its path values under their names.", "type", variants...)},
		member{resultSchema, commandResult(r)},
	)
}

// frameSchema returns the schema of a command with data of the schema.
func (o *operation) frameSchema(data object) object {
	required := []string{"id", "type", "data"}
	members := object{
		{"id",
			object{{"type", "string"}, {"minLength", 1}, {"maxLength", 255}, {"description", "The command's idempotency key."}}},
		{"type", object{{"type", "string"}, {"const", o.commandType()}}},
		{"data", data},
	}
	if o.precondition != withoutVersion {
		doc := "Stands for If-Match."
		if o.precondition == needsVersion {
			doc += " Either this or " + memberAfter + " is required."
		}
		members = append(members,
			member{memberExpected, object{{"type", "integer"}, {"minimum", 0}, {"description", doc}}},
			member{memberAfter, object{{"type", "string"}, {"minLength", 1}, {"maxLength", 255}, {"description",
				"The id of an earlier command of the batch about the same entity: the version that it made stands for " +
					memberExpected + ". A command about an occurrence may name one about its series. If that one was not carried " +
					"out, neither is this one: 424, or 503 behind a 503."}}})
	}
	if o.isAboutOccurrence() {
		members = append(members, member{memberOfSeries, object{{"type", "boolean"}, {"description",
			memberExpected + " is the version of the series. If the occurrence differs from it by now, that is 412."}}})
	}
	return append(object{{"description", o.summary + "."}}, closed(required, members)...)
}

// dataSchema returns the schema of the operation's body with its path values: a reference if that is the body alone.
func (o *operation) dataSchema(r *entity.Registry, known object) object {
	names := o.pathNames()
	if len(names) == 0 {
		return o.body.schema.(object)
	}
	var members object
	for _, name := range names {
		members = append(members, member{name, o.pathSchema(r, name)})
	}
	required := slices.Clone(names)
	if o.body != nil {
		content := o.body.schema.(object)
		if ref, isRef := content.at("$ref").(string); isRef {
			content = known.at(strings.TrimPrefix(ref, schemaRoot)).(object)
		}
		members = append(members, content.at("properties").(object)...)
		if more, there := content.at("required").([]string); there {
			required = append(required, more...)
		}
	}
	return closed(required, members)
}

// commandResult returns the schema of a command's result in a batch.
func commandResult(r *entity.Registry) object {
	results := headsOfResult()
	if master := r.ByName(entity.TypeMaster); master != nil {
		series := schemaRef(entityNoun(master))
		results = append(object{{memberEnded, series}, {memberFollowing, series}}, results...)
	}
	return record([]string{"id", "status"}, object{
		{"id", textSchema("The command's id; empty if it had none.")},
		{"status", object{{"type", "integer"}, {"description", "What the operation by itself would have answered."}}},
		{"version", object{{"type", "integer"}, {"minimum", 0}, {"description", "The version that the command made of the " +
			"entity that it names, or found if it changed nothing; of a deletion that of the removal, of a split that of the " +
			"series that ended. A repetition has the same one, whatever became of the entity since."}}},
		{"entity", schemaRef(anyEntity)},
		{"result", append(object{
			{"description", "The answer of a command that answers more than one entity, as SplitSeries does, or none: one " +
				"that writes to a repository tells which revisions it made, or found."},
		}, record(nil, results)...)},
		{"problem", schemaRef(problemSchema)},
		{memberOmitted, flagSchema("True where the answer of the batch had no room: for the entity or the result of a " +
			"command that was carried out, or for the errors of the problem.")},
	})
}
