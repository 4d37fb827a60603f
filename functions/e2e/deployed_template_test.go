package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/deploy/env"
)

// Where the stack of the template stands.
const (
	stackRegion  = "eu-central-1"
	stackAccount = "123456789012"
)

// stack is a synthesized template with its references resolved, as CloudFormation resolves them. Names that it leaves
// to CloudFormation are those of the services of these tests.
type stack struct {
	*testing.T
	resources map[string]stackResource // by logical id
	table     string                   // the table's name
}

// stackResource is a resource of a template. Its properties are resolved.
type stackResource struct {
	id         string
	Type       string
	Properties map[string]any
}

func readStack(t *testing.T, path, table string) *stack {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var file struct{ Resources map[string]stackResource }
	require.NoError(t, json.Unmarshal(text, &file))
	s := &stack{T: t, resources: file.Resources, table: table}
	for id, r := range s.resources {
		r.id = id
		s.resources[id] = r
	}
	resolved := map[string]stackResource{}
	for id, r := range s.resources {
		if r.Type != "AWS::CloudWatch::Dashboard" && r.Properties != nil {
			r.Properties = s.resolve(r.Properties).(map[string]any)
			resolved[id] = r
		}
	}
	s.resources = resolved
	return s
}

// all returns the resources of a type, ordered by their ids.
func (s *stack) all(kind string) []stackResource {
	var out []stackResource
	for _, r := range s.resources {
		if r.Type == kind {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b stackResource) int { return strings.Compare(a.id, b.id) })
	return out
}

// one returns the only resource of a type that has these properties.
func (s *stack) one(kind string, with map[string]string) stackResource {
	s.Helper()
	var found []stackResource
	for _, r := range s.all(kind) {
		matches := true
		for name, value := range with {
			matches = matches && fmt.Sprint(r.Properties[name]) == value
		}
		if matches {
			found = append(found, r)
		}
	}
	require.Len(s, found, 1, "%s with %v", kind, with)
	return found[0]
}

// at returns the value at a path of members, nil if there is none.
func (r stackResource) at(path ...string) any {
	var value any = r.Properties
	for _, name := range path {
		members, _ := value.(map[string]any)
		value = members[name]
	}
	return value
}

func (r stackResource) text(path ...string) string { s, _ := r.at(path...).(string); return s }

func (r stackResource) number(path ...string) int { n, _ := r.at(path...).(float64); return int(n) }

// listOf returns a list; a single value stands for a list of one, and none for an empty one.
func listOf(value any) []any {
	switch value := value.(type) {
	case nil:
		return nil
	case []any:
		return value
	}
	return []any{value}
}

// textsOf returns the texts of such a list.
func textsOf(value any) []string {
	var out []string
	for _, each := range listOf(value) {
		out = append(out, fmt.Sprint(each))
	}
	return out
}

// resolve returns a value with each intrinsic function in it carried out (AWS CloudFormation Template Reference,
// "Intrinsic functions").
func (s *stack) resolve(value any) any {
	switch value := value.(type) {
	case []any:
		out := make([]any, len(value))
		for i, each := range value {
			out[i] = s.resolve(each)
		}
		return out
	case map[string]any:
		if len(value) == 1 {
			for name, argument := range value {
				if name == "Ref" || strings.HasPrefix(name, "Fn::") {
					return s.intrinsic(name, argument)
				}
			}
		}
		out := map[string]any{}
		for name, each := range value {
			out[name] = s.resolve(each)
		}
		return out
	case string:
		switch {
		case strings.HasPrefix(value, "{{resolve:ssm:"+env.PushPublicParameter+":"):
			return pushKey().Public()
		case strings.HasPrefix(value, "{{resolve:ssm:"): // the one secret in variables
			return spice
		}
	}
	return value
}

var substituted = regexp.MustCompile(`\$\{([^}]+)\}`)

func (s *stack) intrinsic(name string, argument any) any {
	list := listOf(argument)
	switch name {
	case "Ref":
		return s.reference(argument.(string))
	case "Fn::GetAtt":
		return s.attribute(list[0].(string), list[1].(string))
	case "Fn::Join":
		return strings.Join(textsOf(s.resolve(list[1])), list[0].(string))
	case "Fn::Split":
		var parts []any
		for _, part := range strings.Split(fmt.Sprint(s.resolve(list[1])), list[0].(string)) {
			parts = append(parts, part)
		}
		return parts
	case "Fn::Select":
		return s.resolve(list[1]).([]any)[int(list[0].(float64))]
	case "Fn::Sub":
		return substituted.ReplaceAllStringFunc(list[0].(string), func(found string) string {
			return fmt.Sprint(s.reference(strings.Trim(found, "${}")))
		})
	}
	require.Fail(s, "unknown intrinsic function", "%s %v", name, argument)
	return nil
}

// uniqueSuffix is the part of a logical id that the CDK adds to a construct's name.
var uniqueSuffix = regexp.MustCompile(`[0-9A-F]{8}$`)

// name is the name that CloudFormation gives a resource without one.
func (r stackResource) name() string {
	for _, property := range []string{"FunctionName", "Name", "LogGroupName"} {
		if name := r.text(property); name != "" {
			return name
		}
	}
	name := "nexus-" + strings.ToLower(uniqueSuffix.ReplaceAllString(r.id, ""))
	if r.at("FifoQueue") == true {
		name += ".fifo"
	}
	return name
}

func (s *stack) reference(id string) any {
	pseudo := map[string]string{
		"AWS::Region": stackRegion, "AWS::AccountId": stackAccount, "AWS::Partition": "aws",
		"AWS::URLSuffix": "amazonaws.com", "AWS::StackName": "nexus-prod", "AWS::StackId": "nexus-prod",
	}
	if value, ok := pseudo[id]; ok {
		return value
	}
	r, ok := s.resources[id]
	require.True(s, ok, "a reference to %s, which is no resource", id)
	switch r.Type {
	case "AWS::Lambda::Alias":
		return s.attribute(id, "Arn")
	case "AWS::SQS::Queue":
		return "https://sqs." + stackRegion + ".amazonaws.com/" + stackAccount + "/" + r.name()
	case "AWS::DynamoDB::GlobalTable":
		return s.table
	case "AWS::ApiGatewayV2::Api":
		return strings.ToLower(id)
	case "AWS::ApiGatewayV2::Integration", "AWS::ApiGatewayV2::Authorizer":
		return id
	}
	return r.name()
}

func arnOf(service, rest string) string {
	return "arn:aws:" + service + ":" + stackRegion + ":" + stackAccount + ":" + rest
}

func (s *stack) attribute(id, name string) any {
	r, ok := s.resources[id]
	require.True(s, ok, "an attribute of %s, which is no resource", id)
	if name != "Arn" {
		switch r.Type + " " + name {
		case "AWS::DynamoDB::GlobalTable StreamArn":
			return arnOf("dynamodb", "table/"+s.table+"/stream/2026-01-01T00:00:00.000")
		case "AWS::AppSync::Api Dns.Http":
			return hintsHost
		case "AWS::AppSync::Api Dns.Realtime":
			return realtimeHost
		}
		return id + "-" + name
	}
	switch r.Type {
	case "AWS::S3::Bucket":
		return "arn:aws:s3:::" + r.name()
	case "AWS::SQS::Queue":
		return arnOf("sqs", r.name())
	case "AWS::DynamoDB::GlobalTable":
		return arnOf("dynamodb", "table/"+s.table)
	case "AWS::IAM::Role":
		return "arn:aws:iam::" + stackAccount + ":role/" + r.name()
	case "AWS::Lambda::Alias":
		function := fmt.Sprint(s.resolve(r.Properties["FunctionName"]))
		return arnOf("lambda", "function:"+function+":"+r.text("Name"))
	case "AWS::Lambda::Function":
		return arnOf("lambda", "function:"+r.name())
	case "AWS::Events::EventBus":
		return arnOf("events", "event-bus/"+r.name())
	case "AWS::Events::Rule":
		return arnOf("events", "rule/"+r.name())
	case "AWS::Logs::LogGroup":
		return arnOf("logs", "log-group:"+r.name()+":*")
	}
	return r.Type + "/" + id
}
