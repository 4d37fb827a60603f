package stack

import (
	"fmt"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"
	"github.com/cdklabs/cdk-nag-go/cdknag/v2"

	"nexus/pkg/bus"
	"nexus/pkg/deploy/access"
	"nexus/pkg/deploy/alarm"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/tenant"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// role makes the role of a function: the rights that the function uses, and those that Lambda uses in its name.
func (d *deployment) role(f env.Function, log awslogs.LogGroup) awsiam.Role {
	var uses []awsiam.PolicyStatement
	for _, grant := range access.Grants(f) {
		uses = append(uses, d.statement(grant))
	}
	policies := map[string]awsiam.PolicyDocument{"Lambda": policy(d.lambdaStatements(f, log)...)}
	if len(uses) > 0 { // the canary has only the rights of its user
		policies["Uses"] = policy(uses...)
	}
	role := awsiam.NewRole(d.Stack, jsii.String(construct(f)+"Role"), &awsiam.RoleProps{
		Description:    jsii.String("Nexus: what function " + string(f) + " uses"),
		AssumedBy:      awsiam.NewServicePrincipal(jsii.String("lambda.amazonaws.com"), nil),
		InlinePolicies: &policies,
	})
	suppress(role, "AwsSolutions-IAM5",
		"The star stands behind a name: for the streams of the table, the objects below a beginning, the schedules of the "+
			"group, or those whose names begin with a word.",
		&cdknag.RegexAppliesTo{Regex: jsii.String(`/^Resource::[^*]+\/([a-z]+-)?\*$/`)})
	if f == env.Account {
		suppress(role, "AwsSolutions-IAM5", "A list of schedules is on everything or on nothing.", "Resource::*")
	}
	if d.isTraced(f) {
		suppress(role, "AwsSolutions-IAM5", "X-Ray knows no resources: its two actions are on everything or on nothing.",
			"Resource::*")
	}
	return role
}

// statement returns a right as an IAM statement.
func (d *deployment) statement(g access.Grant) awsiam.PolicyStatement {
	var resources []string
	var conditions map[string]any
	switch g.Variable {
	case "":
		resources = []string{"*"}
	case env.TableName:
		resource := *d.table.TableArn()
		if g.Index != table.Base {
			resource += "/index/" + string(g.Index)
		}
		resources, conditions = []string{resource}, leading(g.Within)
		if len(g.Attributes) > 0 {
			// The key's attributes count, too (Amazon DynamoDB Developer Guide, "Using IAM policy conditions").
			conditions["ForAllValues:StringEquals"] = map[string]any{
				"dynamodb:Attributes": append([]string{item.AttrPK, item.AttrSK}, g.Attributes...),
			}
		}
	case env.ArchiveBucket:
		resources = within(*d.archive.BucketArn(), g.Within)
	case env.ParkingBucket:
		resources = within(*d.parking.BucketArn(), g.Within)
	case env.SnapshotBucket:
		resources = within(*d.snapshots.BucketArn(), g.Within)
	case env.BusName:
		resources, conditions = []string{*d.bus.EventBusArn()}, only("events:source", bus.Source)
	case env.HintsHost:
		api := d.arn("appsync", "apis", *d.hints.AttrApiId(), awscdk.ArnFormat_SLASH_RESOURCE_NAME)
		resources = within(api, g.Within)
	case env.ScheduleGroup:
		resources = within(d.arn("scheduler", "schedule", groupName, awscdk.ArnFormat_SLASH_RESOURCE_NAME), g.Within)
	case env.ScheduleRoleARN:
		resources = []string{*d.caller.RoleArn()}
		conditions = map[string]any{"StringEquals": map[string]any{"iam:PassedToService": scheduler}}
	case env.DeliverARN:
		resources = []string{d.liveARN(env.Deliver)}
	case env.PushKeyParameter:
		resources = []string{d.arn("ssm", "parameter", strings.TrimPrefix(env.PushSecretParameter, "/"),
			awscdk.ArnFormat_SLASH_RESOURCE_NAME)}
	case env.HookKeyParameter:
		resources = []string{d.arn("ssm", "parameter", strings.TrimPrefix(env.HookSecretParameter, "/"),
			awscdk.ArnFormat_SLASH_RESOURCE_NAME)}
	case env.WalkQueueURL:
		resources = []string{*d.queues[alarm.WalkQueue].QueueArn()}
	default:
		panic(fmt.Sprintf("stack: a right to %s, which is nothing that there are rights to", g.Variable))
	}
	return allow(g.Actions, resources, conditions)
}

// leading returns the condition that a request names partitions, and only such; none without patterns.
func leading(patterns []string) map[string]any {
	if len(patterns) == 0 {
		return nil
	}
	conditions := map[string]any{}
	for operator, keys := range tenant.Condition(patterns) {
		conditions[operator] = keys
	}
	return conditions
}

// only returns the condition that each of a request's values is this one, and that there is one: a request may carry
// several events.
func only(key, value string) map[string]any {
	return map[string]any{"ForAllValues:StringEquals": map[string]any{key: value}, "Null": map[string]any{key: "false"}}
}

// within returns the parts of a resource, or the resource itself.
func within(resource string, parts []string) []string {
	if len(parts) == 0 {
		return []string{resource}
	}
	var out []string
	for _, part := range parts {
		out = append(out, resource+"/"+part)
	}
	return out
}

// lambdaStatements returns the rights that Lambda uses in the function's name.
func (d *deployment) lambdaStatements(f env.Function, log awslogs.LogGroup) []awsiam.PolicyStatement {
	out := []awsiam.PolicyStatement{
		allow([]string{"logs:CreateLogStream", "logs:PutLogEvents"}, []string{*log.LogGroupArn()}, nil),
	}
	if d.isTraced(f) {
		// X-Ray has no resources (Service Authorization Reference, "Actions defined by AWS X-Ray").
		out = append(out, allow([]string{"xray:PutTraceSegments", "xray:PutTelemetryRecords"}, []string{"*"}, nil))
	}
	if d.reads(f) {
		out = append(out,
			allow([]string{"dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"},
				[]string{*d.table.TableStreamArn()}, nil),
			allow([]string{"dynamodb:ListStreams"}, []string{*d.table.TableArn() + "/stream/*"}, nil),
			// An S3 destination requires both, on the whole bucket (AWS Lambda Developer Guide, "Retain discarded batches").
			allow([]string{"s3:PutObject"}, []string{*d.parking.BucketArn() + "/*"}, nil),
			allow([]string{"s3:ListBucket"}, []string{*d.parking.BucketArn()}, nil),
		)
	}
	if f == env.Walk {
		// AWS Lambda Developer Guide, "Using Lambda with Amazon SQS".
		out = append(out, allow([]string{"sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"},
			[]string{*d.queues[alarm.WalkQueue].QueueArn()}, nil))
	}
	if queue, ok := failures()[f]; ok {
		out = append(out, allow([]string{"sqs:SendMessage"}, []string{*d.queues[queue].QueueArn()}, nil))
	}
	return out
}

func policy(statements ...awsiam.PolicyStatement) awsiam.PolicyDocument {
	return awsiam.NewPolicyDocument(&awsiam.PolicyDocumentProps{Statements: &statements})
}

func allow(actions, resources []string, conditions map[string]any) awsiam.PolicyStatement {
	props := &awsiam.PolicyStatementProps{Actions: jsii.Strings(actions...), Resources: jsii.Strings(resources...)}
	if conditions != nil {
		props.Conditions = &conditions
	}
	return awsiam.NewPolicyStatement(props)
}
