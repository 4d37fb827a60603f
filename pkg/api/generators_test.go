package api_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/api"
	"nexus/pkg/product"
)

// rawDocument is the document as any program reads it, without a library's own idea of OpenAPI.
func rawDocument(t *testing.T) map[string]any {
	t.Helper()
	var doc map[string]any
	require.NoError(t, json.Unmarshal(api.Document(product.Registry()), &doc))
	return doc
}

// eachObject calls visit for every object of a JSON value, with its place.
func eachObject(at string, value any, visit func(at string, o map[string]any)) {
	switch value := value.(type) {
	case []any:
		for _, e := range value {
			eachObject(at+"/-", e, visit)
		}
	case map[string]any:
		visit(at, value)
		for name, v := range value {
			eachObject(at+"/"+name, v, visit)
		}
	}
}

// resolved follows a reference into the document.
func resolved(t *testing.T, doc map[string]any, schema any) map[string]any {
	t.Helper()
	ref, isRef := schema.(map[string]any)["$ref"].(string)
	if !isRef {
		return schema.(map[string]any)
	}
	var found any = doc
	for name := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		found = found.(map[string]any)[name]
	}
	require.NotNil(t, found, ref)
	return found.(map[string]any)
}

func TestDocument_hasNothingThatStopsAGenerator(t *testing.T) {
	t.Parallel()
	doc := rawDocument(t)
	require.NotEmpty(t, doc["servers"])
	for _, tag := range doc["tags"].([]any) {
		require.NotEmpty(t, tag.(map[string]any)["description"], tag)
	}
	eachObject("", doc, func(at string, o map[string]any) {
		if required, there := o["required"]; there {
			require.NotNil(t, required, at)
		}
		if values, isEnum := o["enum"].([]any); isEnum {
			require.NotContains(t, values, nil, "%s: generators take the members of an enum for texts or numbers", at)
		}
		require.NotContains(t, o, "readOnly", "%s: a schema of answers alone has no member that a client could send", at)
		require.NotContains(t, o, "default",
			"%s: generators make a member that is required of one that always has a value", at)
		if parts, isAll := o["allOf"].([]any); isAll {
			for _, part := range parts {
				require.NotContains(t, resolved(t, doc, part), "oneOf", "%s: a part of allOf is no union", at)
			}
		}
		require.False(t, o["type"] == "object" && o["properties"] == nil && o["additionalProperties"] == nil,
			"%s: an object of which nothing is known", at)
	})
}

// Each union of named schemas says which member distinguishes them, and each of those has its own value there.
func TestDocument_hasADiscriminatorInEachUnion(t *testing.T) {
	t.Parallel()
	doc := rawDocument(t)
	unions := map[string]bool{}
	eachObject("", doc, func(at string, o map[string]any) {
		options, isUnion := o["oneOf"].([]any)
		if !isUnion || len(options) < 2 || at == "/components/schemas/SeriesCreate" ||
			options[1].(map[string]any)["type"] == "null" {
			return // fromEventId distinguishes those of SeriesCreate: one needs it, the other refuses it
		}
		discriminator, there := o["discriminator"].(map[string]any)
		require.True(t, there, at)
		name, mapping := discriminator["propertyName"].(string), discriminator["mapping"].(map[string]any)
		require.Len(t, mapping, len(options), at)
		for value, ref := range mapping {
			option := resolved(t, doc, map[string]any{"$ref": ref})
			require.Contains(t, option["required"], name, "%s %s", at, value)
			require.Equal(t, value, option["properties"].(map[string]any)[name].(map[string]any)["const"], at)
			require.Contains(t, options, map[string]any{"$ref": ref}, at)
		}
		unions[at[strings.LastIndex(at, "/")+1:]] = true
	})
	require.Subset(t, slices.Collect(maps.Keys(unions)), []string{"AnyEntity", "AnyEvent", "AgendaItem", "Command"})
	eachObject("", doc, func(at string, o map[string]any) { require.NotContains(t, o, "anyOf", at) })
}

// A batch takes each operation that it may carry, with its body and its path's values, and nothing else.
func TestDocument_listsTheCommandsOfABatch(t *testing.T) {
	t.Parallel()
	doc := rawDocument(t)
	c, err := loadContract()
	require.NoError(t, err)
	commands := doc["components"].(map[string]any)["schemas"].(map[string]any)["Command"].(map[string]any)
	var documented []string
	for value, ref := range commands["discriminator"].(map[string]any)["mapping"].(map[string]any) {
		documented = append(documented, value)
		operation := c.operations[strings.ToLower(value[:1])+value[1:]]
		require.NotNil(t, operation, value)
		command := resolved(t, doc, map[string]any{"$ref": ref})
		data := resolved(t, doc, command["properties"].(map[string]any)["data"])
		needsVersion := false
		for _, p := range operation.Operation.Parameters {
			needsVersion = needsVersion || p.Value.Name == "If-Match" && p.Value.Required
			if p.Value.In == "path" {
				require.Contains(t, data["properties"], p.Value.Name, value)
				require.Contains(t, data["required"], p.Value.Name, value)
			}
		}
		if needsVersion { // one of the two
			require.Contains(t, command["properties"], "expectedVersion", value)
			require.Contains(t, command["properties"], "expectedAfter", value)
		}
	}
	for _, expected := range []string{
		"CreateTask", "UpdateTask", "DeleteTask", "CreateSeries", "UpdateSeries", "EndSeries", "SplitSeries", "PutInstance",
		"CancelInstance",
		"AddNoteLink", "RemoveNoteLink", "SnoozeReminder", "CompleteReminder", "DismissReminder", "UpdateMe",
		"RestoreArchived", "CommitPlan", "RolloverPlan", "CompletePlan",
	} {
		require.Contains(t, documented, expected)
	}
	require.NotContains(t, documented, "CommitValues")
	require.NotContains(t, documented, "RunCommands")
}

// Each id has the form that the server takes.
func TestDocument_hasAPatternForEachID(t *testing.T) {
	t.Parallel()
	eachObject("", rawDocument(t), func(at string, o map[string]any) {
		properties, _ := o["properties"].(map[string]any)
		for name, schema := range properties {
			s, isSchema := schema.(map[string]any)
			if !isSchema || !strings.HasSuffix(name, "Id") || name == "recurrenceId" || name == "userId" {
				continue
			}
			require.Contains(t, s, "pattern", "%s/%s", at, name)
		}
		if o["in"] == "path" {
			schema := o["schema"].(map[string]any)
			if name := o["name"].(string); name != "address" {
				require.True(t, schema["pattern"] != nil || schema["enum"] != nil || schema["format"] != nil, "%s %s", at, name)
			}
		}
	})
}

// Settings are of a type that a program can name, also where a patch may have null in their place.
func TestDocument_namesTheObjectsWithinAnEntity(t *testing.T) {
	t.Parallel()
	doc := rawDocument(t)
	schemas := doc["components"].(map[string]any)["schemas"].(map[string]any)
	for name := range schemas {
		for _, suffix := range []string{"", "Create", "Patch"} {
			if product.Registry().ByName(strings.ToUpper(strings.TrimSuffix(name, suffix))) == nil && name != "UserMeta"+suffix {
				continue
			}
			for field, schema := range schemas[name].(map[string]any)["properties"].(map[string]any) {
				require.NotContains(t, schema, "properties", "%s/%s", name, field)
			}
		}
	}
	patch := schemas["UserMetaPatch"].(map[string]any)["properties"].(map[string]any)["preferences"]
	require.Equal(t, []any{map[string]any{"$ref": "#/components/schemas/UserMetaPatchPreferences"},
		map[string]any{"type": "null"}}, patch.(map[string]any)["oneOf"])
}
