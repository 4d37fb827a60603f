package e2e_test

import (
	"encoding/xml"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/internal/wiretest"
	"nexus/pkg/deploy/access"
	"nexus/pkg/deploy/env"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// guarded serves the services behind a guard: every request of a function is held against what the service documents,
// and against the rights of that function's role. It returns the address.
func guarded(t *testing.T, services http.Handler, documented ...wiretest.Service) string {
	t.Helper()
	server := httptest.NewServer(wiretest.NewGuard(t, services, documented...).Also(permitted))
	t.Cleanup(server.Close)
	return server.URL
}

// guardedTable does the same for the engine at the endpoint.
func guardedTable(t *testing.T, endpoint string) string {
	t.Helper()
	return guarded(t, wiretest.Forward(t, endpoint, nil), dynamoDB())
}

// dynamoDB returns the rules of the service for requests to the product's table.
func dynamoDB() wiretest.Service {
	schema := table.ProductSchema()
	table := wiretest.Table{
		KeySchema: wiretest.KeySchema{Partition: schema.PK, Sort: schema.SK}, Indexes: map[string]wiretest.KeySchema{},
	}
	for _, index := range schema.Indexes {
		table.Indexes[string(index.Name)] = wiretest.KeySchema{Partition: index.PK, Sort: index.SK}
	}
	return wiretest.DynamoDB(table)
}

// need is a right that a request asks for: an action on a thing that a variable names, an index of it, and a partition
// or a name within. Of a row, the attributes are those that the request names.
type need struct {
	action, variable string
	index            table.Index
	within           string
	attributes       []string
}

// permitted returns what a function asks for without the right.
func permitted(c wiretest.Call) []string {
	var found []string
	grants := access.Grants(env.Function(c.Caller))
	for _, n := range needs(c) {
		if !slices.ContainsFunc(grants, n.isGranted) {
			found = append(found, fmt.Sprintf("the function %q has no right to %+v", c.Caller, n))
		}
	}
	return found
}

func (n need) isGranted(g access.Grant) bool {
	isWithin := func(pattern string) bool { return matches(pattern, n.within) }
	isOutside := func(name string) bool {
		return name != item.AttrPK && name != item.AttrSK && !slices.Contains(g.Attributes, name)
	}
	return g.Variable == n.variable && g.Index == n.index && slices.Contains(g.Actions, n.action) &&
		(len(g.Within) == 0 || slices.ContainsFunc(g.Within, isWithin)) &&
		(len(g.Attributes) == 0 || !slices.ContainsFunc(n.attributes, isOutside))
}

// matches holds a text against a pattern in which a star stands for anything (IAM User Guide, "IAM JSON policy
// elements: Resource").
func matches(pattern, text string) bool {
	first, rest, hasStar := strings.Cut(pattern, "*")
	text, begins := strings.CutPrefix(text, first)
	if !begins || !hasStar {
		return begins && text == ""
	}
	for i := range len(text) + 1 {
		if matches(rest, text[i:]) {
			return true
		}
	}
	return false
}

// needs are the rights that a request asks for (Service Authorization Reference).
func needs(c wiretest.Call) []need {
	action := c.Service + ":" + c.Operation
	switch c.Service {
	case "dynamodb":
		return tableNeeds(c, action)
	case "s3":
		switch c.Operation {
		case "DeleteObjects", "ListObjectVersions", "ListObjectsV2", "ListMultipartUploads":
			return bucketNeeds(c)
		}
		variable := variableOfBucket(c)
		name, _ := c.Input["Key"].(string)
		return []need{{action: action, variable: variable, within: name}}
	case "events":
		return []need{{action: action, variable: env.BusName}}
	case "sqs":
		return []need{{action: action, variable: env.WalkQueueURL}}
	case "lambda":
		return []need{{action: access.InvokeFunction, variable: env.DeliverARN}}
	case "ssm":
		if c.Input["Name"] == env.HookSecretParameter {
			return []need{{action: action, variable: env.HookKeyParameter}}
		}
		return []need{{action: action, variable: env.PushKeyParameter}}
	case "appsync":
		channel, _ := c.Input["channel"].(string)
		namespace, _, _ := strings.Cut(strings.TrimPrefix(channel, "/"), "/")
		return []need{{action: access.EventPublish, variable: env.HintsHost, within: "channelNamespace/" + namespace}}
	}
	if action == access.ListSchedules {
		return []need{{action: action}}
	}
	name, _ := c.Input["Name"].(string)
	out := []need{{action: action, variable: env.ScheduleGroup, within: name}}
	if c.Input["Target"] != nil {
		out = append(out, need{action: access.PassRole, variable: env.ScheduleRoleARN})
	}
	return out
}

// variableOfBucket returns the variable that names the bucket of a request.
func variableOfBucket(c wiretest.Call) string {
	return map[any]string{
		archive: env.ArchiveBucket, parking: env.ParkingBucket, snapshots: env.SnapshotBucket,
	}[c.Input["Bucket"]]
}

// bucketNeeds: a list asks for a right to the bucket, and a deletion for one to each version that it names.
func bucketNeeds(c wiretest.Call) []need {
	variable := variableOfBucket(c)
	switch c.Operation {
	case "ListObjectsV2":
		return []need{{action: access.ListBucket, variable: variable}}
	case "ListObjectVersions":
		return []need{{action: access.ListBucketVersions, variable: variable}}
	}
	if c.Operation == "ListMultipartUploads" {
		return []need{{action: access.ListUploads, variable: variable}}
	}
	body, _ := c.Input["Body"].([]byte)
	var in struct {
		Object []struct{ Key, VersionId string }
	}
	if err := xml.Unmarshal(body, &in); err != nil {
		return []need{{action: "s3:" + err.Error()}}
	}
	var out []need
	for _, object := range in.Object {
		n := need{action: access.DeleteObject, variable: variable, within: object.Key}
		if object.VersionId != "" {
			n.action = access.DeleteObjectVersion
		}
		out = append(out, n)
	}
	return out
}

// tableNeeds: one for each row, and in a transaction for each action by itself.
func tableNeeds(c wiretest.Call, action string) []need {
	one := func(action string, in map[string]any) need {
		n := need{action: action, variable: env.TableName}
		for _, row := range []string{"Key", "Item"} {
			if attributes, there := in[row].(map[string]any); there {
				n.within = text(attributes[item.AttrPK])
				n.attributes = slices.AppendSeq(n.attributes, maps.Keys(attributes))
			}
		}
		names, _ := in["ExpressionAttributeNames"].(map[string]any)
		for _, name := range names {
			n.attributes = append(n.attributes, name.(string))
		}
		return n
	}
	var out []need
	switch c.Operation {
	case "TransactWriteItems":
		for _, member := range c.Input["TransactItems"].([]any) {
			for kind, in := range member.(map[string]any) {
				name := map[string]string{
					"Put": access.PutItem, "Update": access.UpdateItem, "Delete": access.DeleteItem,
					"ConditionCheck": access.ConditionCheckItem,
				}[kind]
				out = append(out, one(name, in.(map[string]any)))
			}
		}
	case "BatchGetItem", "BatchWriteItem":
		for _, in := range c.Input["RequestItems"].(map[string]any) {
			for _, row := range rowsOf(in) {
				out = append(out, one(action, row))
			}
		}
	case "Query":
		n := need{
			action: action, variable: env.TableName, within: text(c.Input["ExpressionAttributeValues"].(map[string]any)[":v0"]),
		}
		name, _ := c.Input["IndexName"].(string)
		n.index = table.Index(name)
		out = append(out, n)
	default:
		out = append(out, one(action, c.Input))
	}
	return out
}

// rowsOf are the rows of one table in a batch, each under Key or Item.
func rowsOf(in any) []map[string]any {
	var out []map[string]any
	if get, isGet := in.(map[string]any); isGet {
		for _, key := range get["Keys"].([]any) {
			out = append(out, map[string]any{"Key": key})
		}
		return out
	}
	for _, member := range in.([]any) {
		for _, write := range member.(map[string]any) {
			out = append(out, write.(map[string]any))
		}
	}
	return out
}

func text(attribute any) string {
	value, _ := attribute.(map[string]any)
	content, _ := value["S"].(string)
	return content
}

func TestFunctions_failARequestOutsideTheirRights(t *testing.T) {
	t.Parallel()
	call := func(f env.Function, service, operation string, in map[string]any) wiretest.Call {
		return wiretest.Call{Caller: string(f), Service: service, Operation: operation, Input: in}
	}
	row := func(pk string) map[string]any {
		return map[string]any{"Key": map[string]any{item.AttrPK: map[string]any{"S": pk}}}
	}
	index := map[string]any{
		"IndexName":                 string(table.YearView),
		"ExpressionAttributeValues": map[string]any{":v0": map[string]any{"S": entity.AgendaPK(user, 2026)}},
	}
	require.Empty(t, permitted(call(env.Query, "dynamodb", "Query", index)))
	require.Empty(t, permitted(call(env.Query, "dynamodb", "GetItem", row(entity.UserPK(user)))))
	require.Empty(t, permitted(call(env.Projections, "appsync", "Publish", map[string]any{"channel": "/user/ann"})))
	for name, refused := range map[string]wiretest.Call{
		"another action":    call(env.Query, "dynamodb", "DeleteItem", row(entity.UserPK(user))),
		"another partition": call(env.Query, "dynamodb", "GetItem", row("elsewhere")),
		"another index":     call(env.Command, "dynamodb", "Query", index),
		"a scan":            call(env.Query, "dynamodb", "Scan", map[string]any{}),
		"another bucket":    call(env.Command, "s3", "GetObject", map[string]any{"Bucket": parking, "Key": "archive/a"}),
		"another prefix":    call(env.Command, "s3", "GetObject", map[string]any{"Bucket": archive, "Key": "parked/a"}),
		"the bus":           call(env.Command, "events", "PutEvents", nil),
		"a hint":            call(env.Command, "appsync", "Publish", map[string]any{"channel": "/user/ann"}),
		"another namespace": call(env.Projections, "appsync", "Publish", map[string]any{"channel": "/all/ann"}),
		"a schedule": call(env.Projections, "scheduler", "CreateSchedule", map[string]any{
			"Name": "a", "Target": map[string]any{},
		}),
		"another attribute": call(env.Query, "dynamodb", "UpdateItem", map[string]any{
			"Key":                      row(entity.UserPK(user))["Key"],
			"ExpressionAttributeNames": map[string]any{"#n0": "title"},
		}),
		"nobody": call("", "dynamodb", "GetItem", row(entity.UserPK(user))),
	} {
		require.NotEmpty(t, permitted(refused), name)
	}
}

func TestCommand_hasTheRightsToWriteATreeInSeveralTransactions(t *testing.T) {
	t.Parallel()
	w := setup(t)
	commands := w.start(env.Command)
	operations := make([]string, 150)
	for i := range operations {
		operations[i] = fmt.Sprintf(`{"op":"create","nodeType":"DRIVER","title":"driver %d"}`, i)
	}
	made := commands.request(changed(t, w.payload("command-create-task"), map[string]any{
		"rawPath": "/v1/values/revisions", "requestContext/http/path": "/v1/values/revisions", "headers/content-length": nil,
		"body": `{"message":"Begun","source":"weekly_review","operations":[` + strings.Join(operations, ",") + `]}`,
	}))
	require.Equal(t, http.StatusCreated, made.StatusCode, "%s", made.Body)
}
