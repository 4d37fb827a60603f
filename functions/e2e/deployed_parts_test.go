package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// smallStack is a template with one role, in the forms that the CDK writes.
const smallStack = `{"Resources": {
	"TableCD117FA1": {"Type": "AWS::DynamoDB::GlobalTable", "Properties": {}},
	"Walks7EDFEA2F": {"Type": "AWS::SQS::Queue", "Properties": {"FifoQueue": true}},
	"CallerBA8D1D35": {"Type": "AWS::IAM::Role", "Properties": {}},
	"NotifyLive19D29B34": {"Type": "AWS::Lambda::Alias", "Properties": {
		"FunctionName": {"Ref": "Notify29C25B1B"}, "Name": "live"}},
	"Notify29C25B1B": {"Type": "AWS::Lambda::Function", "Properties": {"FunctionName": "nexus-notify",
		"Pepper": "{{resolve:ssm:/nexus/pepper:1}}",
		"Live": {"Fn::Join": ["", [{"Fn::Select": [6, {"Fn::Split": [":", {"Ref": "NotifyLive19D29B34"}]}]}, ":live"]]},
		"Queue": {"Ref": "Walks7EDFEA2F"}, "Assets": {"Fn::Sub": "assets-${AWS::AccountId}"}}},
	"QueryRoleF6300167": {"Type": "AWS::IAM::Role", "Properties": {"Policies": [{"PolicyDocument": {"Statement": [
		{"Effect": "Allow", "Action": ["dynamodb:GetItem", "dynamodb:Query"],
			"Resource": {"Fn::GetAtt": ["TableCD117FA1", "Arn"]}, "Condition": {
				"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["USER#*"]}, "Null": {"dynamodb:LeadingKeys": "false"}}},
		{"Effect": "Allow", "Action": "dynamodb:UpdateItem", "Resource": {"Fn::GetAtt": ["TableCD117FA1", "Arn"]},
			"Condition": {"ForAllValues:StringEquals": {"dynamodb:Attributes": ["PK", "SK", "fullAt"]}}},
		{"Effect": "Allow", "Action": "iam:PassRole", "Resource": {"Fn::GetAtt": ["CallerBA8D1D35", "Arn"]},
			"Condition": {"StringEquals": {"iam:PassedToService": "scheduler.amazonaws.com"}}}
	]}}]}}
}}`

func readSmallStack(t *testing.T) *stack {
	t.Helper()
	path := filepath.Join(t.TempDir(), "template.json")
	require.NoError(t, os.WriteFile(path, []byte(smallStack), 0o600))
	return readStack(t, path, "T")
}

func TestFunctions_areWiredByResolvedReferences(t *testing.T) {
	t.Parallel()
	notify := readSmallStack(t).resources["Notify29C25B1B"]
	require.Equal(t, spice, notify.text("Pepper"))
	require.Equal(t, "nexus-notify:live", notify.text("Live"))
	require.Equal(t, walksURL, notify.text("Queue"))
	require.Equal(t, "assets-123456789012", notify.text("Assets"))
}

func TestFunctions_areJudgedByTheRoleOfTheTemplate(t *testing.T) {
	t.Parallel()
	r := newRights(readSmallStack(t))
	const role, table = "nexus-queryrole", "arn:aws:dynamodb:eu-central-1:123456789012:table/T"
	keys := func(names ...string) map[string][]string { return map[string][]string{"dynamodb:LeadingKeys": names} }
	for name, c := range map[string]struct {
		role string
		asks asked
		want bool
	}{
		"a row of a user":       {role, asked{"dynamodb:GetItem", table, keys("USER#ann")}, true},
		"another partition":     {role, asked{"dynamodb:GetItem", table, keys("PEPPER")}, false},
		"one of two partitions": {role, asked{"dynamodb:Query", table, keys("USER#ann", "PEPPER")}, false},
		"no partition":          {role, asked{"dynamodb:Query", table, nil}, false},
		"another action":        {role, asked{"dynamodb:Scan", table, keys("USER#ann")}, false},
		"an index":              {role, asked{"dynamodb:Query", table + "/index/GSI1", keys("USER#ann")}, false},
		"another role":          {"nexus-caller", asked{"dynamodb:GetItem", table, keys("USER#ann")}, false},
		"an attribute": {role, asked{"dynamodb:UpdateItem", table,
			map[string][]string{"dynamodb:Attributes": {"PK", "SK", "fullAt"}}}, true},
		"another attribute": {role, asked{"dynamodb:UpdateItem", table,
			map[string][]string{"dynamodb:Attributes": {"PK", "SK", "title"}}}, false},
		"a role for another service": {role, asked{"iam:PassRole", "arn:aws:iam::123456789012:role/nexus-caller",
			map[string][]string{"iam:PassedToService": {"lambda.amazonaws.com"}}}, false},
	} {
		require.Equal(t, c.want, r.may(c.role, c.asks), name)
	}
	unused, all := r.unused()
	require.Equal(t, 4, all)
	require.Len(t, unused, 2, "the query of a user's rows, and passing the role: %v", unused)
}

func TestFunctions_getTheRecordsThatAFilterPasses(t *testing.T) {
	t.Parallel()
	record := func(text string) map[string]any {
		var out map[string]any
		require.NoError(t, json.Unmarshal([]byte(text), &out))
		return out
	}
	task := record(`{"eventName":"REMOVE","dynamodb":{"Keys":{"SK":{"S":"TASK#1"}}}}`)
	counted := record(`{"eventName":"MODIFY","dynamodb":{"Keys":{"SK":{"S":"USER_META#"}},
		"NewImage":{"statsWritten":{"BOOL":true}}}}`)
	for pattern, want := range map[string][2]bool{
		`{}`:                       {true, true},
		`{"eventName":["REMOVE"]}`: {true, false},
		`{"eventName":["REMOVE"],"dynamodb":{"Keys":{"SK":{"S":[{"prefix":"USER"},{"prefix":"TASK#"}]}}}}`: {true, false},
		`{"dynamodb":{"Keys":{"SK":{"S":[{"prefix":"USER"}]}}}}`:                                           {false, true},
		`{"dynamodb":{"NewImage":{"statsWritten":{"BOOL":[{"exists":false}]}}}}`:                           {true, false},
	} {
		for i, r := range []map[string]any{task, counted} {
			require.Equal(t, want[i], passes(record(pattern), r, true), "%s %d", pattern, i)
		}
	}
}
