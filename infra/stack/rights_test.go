package stack_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/bus"
	"nexus/pkg/deliver"
	"nexus/pkg/deploy/access"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/tenant"
	"nexus/pkg/table"
	"nexus/pkg/webhook"
)

// right is a statement of a policy.
type right struct {
	actions, resources []string
	conditions         map[string]any
}

// rights are the statements of a policy document. Each allows, and says whom and what.
func rights(t *template, document any) []right {
	t.Helper()
	var out []right
	for _, s := range document.(map[string]any)["Statement"].([]any) {
		statement := s.(map[string]any)
		require.Equal(t, "Allow", statement["Effect"])
		require.NotContains(t, statement, "NotAction")
		require.NotContains(t, statement, "NotResource")
		conditions, _ := statement["Condition"].(map[string]any)
		out = append(out, right{texts(statement["Action"]), texts(statement["Resource"]), conditions})
	}
	return out
}

// rightsOf are all the rights of a role.
func rightsOf(t *template, role resource) []right {
	t.Helper()
	require.Nil(t, role.at("ManagedPolicyArns"), role.path())
	var out []right
	for _, p := range role.at("Policies").([]any) {
		out = append(out, rights(t, p.(map[string]any)["PolicyDocument"])...)
	}
	return out
}

// roleOf is the role that the function has.
func roleOf(t *template, f env.Function) resource {
	t.Helper()
	role := t.named(title(f)+"Role", "AWS::IAM::Role")
	require.Equal(t, role.attribute("Arn"), t.function(f).text("Role"))
	return role
}

// everybody's rights: of roles, and of the policies that roles of others may get.
func everybodysRights(t *template) map[string][]right {
	t.Helper()
	out := map[string][]right{}
	for _, role := range t.all("AWS::IAM::Role") {
		out[role.path()] = rightsOf(t, role)
	}
	for _, policy := range t.all("AWS::IAM::ManagedPolicy") {
		out[policy.path()] = rights(t, policy.at("PolicyDocument"))
	}
	for _, r := range t.resources {
		require.NotEqual(t, "AWS::IAM::Policy", r.Type, "rights stand in the role that has them")
	}
	return out
}

func TestAllow_grantsNeitherEverythingNorEveryAction(t *testing.T) {
	t.Parallel()
	each(t, func(t *template) {
		for who, all := range everybodysRights(t) {
			for _, r := range all {
				for _, action := range r.actions {
					require.NotContains(t, action, "*", who)
				}
				for _, resource := range r.resources {
					if resource == "*" {
						require.Subset(t,
							[]string{"xray:PutTraceSegments", "xray:PutTelemetryRecords", access.ListSchedules,
								"cloudwatch:DescribeAlarms"}, r.actions,
							"%s: nothing else knows no resources", who)
						continue
					}
					name := strings.TrimSuffix(resource, "*")
					require.NotContains(t, name, "*", "%s: a star is at the end, after a name", who)
					isVersions := strings.HasSuffix(name, ".Arn}:")
					isSchedules := strings.HasSuffix(name, "/"+deliver.SchedulePrefix) ||
						strings.HasSuffix(name, "/"+webhook.SchedulePrefix)
					require.True(t, name == resource || strings.HasSuffix(name, "/") || isVersions || isSchedules, "%s: %s", who,
						resource)
				}
			}
		}
	})
}

func TestAllow_grantsNoReadOfTheTableWithoutPartitions(t *testing.T) {
	t.Parallel()
	forbidden := []string{
		"dynamodb:Scan", "dynamodb:PartiQLSelect", "dynamodb:PartiQLInsert", "dynamodb:PartiQLUpdate",
		"dynamodb:PartiQLDelete", "dynamodb:ExportTableToPointInTime", "dynamodb:DeleteTable", "dynamodb:UpdateTable",
	}
	// These are about the stream and about the table, not about rows.
	without := []string{
		"dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator", "dynamodb:ListStreams",
		access.DescribeTable,
	}
	each(t, func(t *template) {
		for who, all := range everybodysRights(t) {
			for _, r := range all {
				for _, action := range r.actions {
					require.NotContains(t, forbidden, action, who)
					if !strings.HasPrefix(action, "dynamodb:") || slices.Contains(without, action) {
						continue
					}
					require.Equal(t, map[string]any{"dynamodb:LeadingKeys": "false"}, r.conditions["Null"], "%s: %s", who, action)
					patterns := texts(r.conditions["ForAllValues:StringLike"].(map[string]any)["dynamodb:LeadingKeys"])
					require.NotEmpty(t, patterns)
					for _, pattern := range patterns {
						require.Regexp(t, `^((USER|U|LINKED|ERASE|HISTORY)#|(PEPPER|REGISTER|ERASE|EXPORT)$)`, pattern, who)
					}
				}
			}
		}
	})
}

// granted spells a grant as the statement that it has to be.
func granted(t *template, g access.Grant) right {
	t.Helper()
	within := func(resource string) []string {
		if g.Within == nil {
			return []string{resource}
		}
		var out []string
		for _, part := range g.Within {
			out = append(out, resource+"/"+part)
		}
		return out
	}
	switch g.Variable {
	case "":
		return right{g.Actions, []string{"*"}, nil}
	case env.TableName:
		resource := t.one(tableType).attribute("Arn")
		if g.Index != table.Base {
			resource += "/index/" + string(g.Index)
		}
		if g.Within == nil {
			return right{g.Actions, []string{resource}, nil}
		}
		conditions := map[string]any{
			"ForAllValues:StringLike": map[string]any{"dynamodb:LeadingKeys": g.Within},
			"Null":                    map[string]any{"dynamodb:LeadingKeys": "false"},
		}
		if g.Attributes != nil {
			conditions["ForAllValues:StringEquals"] = map[string]any{
				"dynamodb:Attributes": append([]string{"PK", "SK"}, g.Attributes...),
			}
		}
		return right{g.Actions, []string{resource}, conditions}
	case env.ArchiveBucket:
		return right{g.Actions, within(t.named("Archive", "AWS::S3::Bucket").attribute("Arn")), nil}
	case env.ParkingBucket:
		return right{g.Actions, within(t.named("Parking", "AWS::S3::Bucket").attribute("Arn")), nil}
	case env.SnapshotBucket:
		return right{g.Actions, within(t.named("Snapshots", "AWS::S3::Bucket").attribute("Arn")), nil}
	case env.BusName:
		return right{g.Actions, []string{t.one("AWS::Events::EventBus").attribute("Arn")}, map[string]any{
			"ForAllValues:StringEquals": map[string]any{"events:source": bus.Source},
			"Null":                      map[string]any{"events:source": "false"},
		}}
	case env.HintsHost:
		return right{g.Actions, within(arn("appsync", "apis/"+t.one("AWS::AppSync::Api").attribute("ApiId"))), nil}
	case env.ScheduleGroup:
		return right{
			g.Actions, within(arn("scheduler", "schedule/"+t.one("AWS::Scheduler::ScheduleGroup").text("Name"))), nil,
		}
	case env.DeliverARN:
		return right{g.Actions, []string{arn("lambda", "function:nexus-deliver:live")}, nil}
	case env.HookKeyParameter:
		return right{g.Actions, []string{arn("ssm", "parameter/nexus/webhooks")}, nil}
	case env.PushKeyParameter:
		return right{g.Actions, []string{arn("ssm", "parameter/nexus/push")}, nil}
	case env.WalkQueueURL:
		return right{g.Actions, []string{t.named("Walks", "AWS::SQS::Queue").attribute("Arn")}, nil}
	case env.ScheduleRoleARN:
		return right{
			g.Actions, []string{t.named("Caller", "AWS::IAM::Role").attribute("Arn")},
			map[string]any{"StringEquals": map[string]any{"iam:PassedToService": "scheduler.amazonaws.com"}},
		}
	}
	require.Fail(t, "unknown thing", g.Variable)
	return right{}
}

// lambdas are the rights that Lambda needs in the function's name.
func lambdas(t *template, f env.Function) []right {
	t.Helper()
	out := []right{{
		[]string{"logs:CreateLogStream", "logs:PutLogEvents"},
		[]string{t.named(title(f)+"Log", "AWS::Logs::LogGroup").attribute("Arn")}, nil,
	}}
	table, parking := t.one(tableType), t.named("Parking", "AWS::S3::Bucket").attribute("Arn")
	switch f {
	case env.Command, env.Query:
		if !t.settings.Protected {
			out = append(out, right{[]string{"xray:PutTelemetryRecords", "xray:PutTraceSegments"}, []string{"*"}, nil})
		}
	case env.Projections, env.Effects:
		out = append(out,
			right{
				[]string{"dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"},
				[]string{table.attribute("StreamArn")}, nil,
			},
			right{[]string{"dynamodb:ListStreams"}, []string{table.attribute("Arn") + "/stream/*"}, nil},
			right{[]string{"s3:PutObject"}, []string{parking + "/*"}, nil},
			right{[]string{"s3:ListBucket"}, []string{parking}, nil},
		)
	case env.Walk:
		out = append(out, right{
			[]string{"sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"},
			[]string{t.named("Walks", "AWS::SQS::Queue").attribute("Arn")}, nil,
		})
	case env.Notify, env.Deliver:
		queue := map[env.Function]string{env.Notify: "Failed", env.Deliver: "Untold"}[f]
		out = append(out,
			right{[]string{"sqs:SendMessage"}, []string{t.named(queue, "AWS::SQS::Queue").attribute("Arn")}, nil})
	}
	return out
}

// flat are rights one action and resource at a time, so that it does not matter how statements are put together.
func flat(all []right) map[string]map[string]any {
	out := map[string]map[string]any{}
	for _, r := range all {
		for _, action := range r.actions {
			for _, resource := range r.resources {
				out[action+" on "+resource] = r.conditions
			}
		}
	}
	return out
}

func TestAllow_grantsAFunctionTheRightsThatItUsesAlone(t *testing.T) {
	t.Parallel()
	each(t, func(t *template) {
		for _, f := range env.Functions() {
			want := lambdas(t, f)
			for _, g := range access.Grants(f) {
				want = append(want, granted(t, g))
			}
			got, expected := flat(rightsOf(t, roleOf(t, f))), flat(want)
			require.Len(t, got, len(expected), "%s", f)
			for right, conditions := range expected {
				require.Contains(t, got, right, "%s", f)
				require.Equal(t, spelled(conditions), spelled(got[right]), "%s of %s", right, f)
			}
		}
	})
}

// spelled is a condition with each of its values as a list.
func spelled(conditions map[string]any) map[string]map[string][]string {
	out := map[string]map[string][]string{}
	for operator, keys := range conditions {
		out[operator] = map[string][]string{}
		for key, value := range keys.(map[string]any) {
			if list, ok := value.([]string); ok {
				out[operator][key] = list
				continue
			}
			out[operator][key] = texts(value)
		}
	}
	return out
}

func TestRole_isAssumedByItsServiceAndForItsGroupAlone(t *testing.T) {
	t.Parallel()
	each(t, func(t *template) {
		roles := t.all("AWS::IAM::Role")
		require.Len(t, roles, len(env.Functions())+2)
		for _, role := range roles {
			statements := role.at("AssumeRolePolicyDocument", "Statement").([]any)
			require.Len(t, statements, 1)
			statement := statements[0].(map[string]any)
			require.Equal(t, "sts:AssumeRole", statement["Action"])
			service := text(statement["Principal"].(map[string]any)["Service"])
			if role.path() == "RolloutRole/Resource" {
				require.Equal(t, "codedeploy.amazonaws.com", service)
				continue
			}
			if role.path() != "Caller/Resource" {
				require.Equal(t, "lambda.amazonaws.com", service, role.path())
				continue
			}
			require.Equal(t, "scheduler.amazonaws.com", service)
			conditions := statement["Condition"].(map[string]any)["StringEquals"].(map[string]any)
			require.Equal(t, "${AWS::AccountId}", text(conditions["aws:SourceAccount"]))
			require.Equal(t, arn("scheduler", "schedule-group/"+t.one("AWS::Scheduler::ScheduleGroup").text("Name")),
				text(conditions["aws:SourceArn"]))
			require.Equal(t, flat([]right{
				{[]string{"lambda:InvokeFunction"}, []string{
					arn("lambda", "function:"+t.function(env.Notify).text("FunctionName")+":live"),
					arn("lambda", "function:"+t.function(env.Deliver).text("FunctionName")+":live"),
				}, nil},
				{[]string{"sqs:SendMessage"}, []string{t.named("Undelivered", "AWS::SQS::Queue").attribute("Arn")}, nil},
			}), flat(rightsOf(t, role)))
		}
	})
}

func TestAddReminding_letsItsFunctionsPassTheRoleToTheSchedulerOnly(t *testing.T) {
	t.Parallel()
	each(t, func(t *template) {
		for who, all := range everybodysRights(t) {
			for _, r := range all {
				if !slices.Contains(r.actions, access.PassRole) {
					continue
				}
				require.Contains(t,
					[]string{"EffectsRole/Resource", "NotifyRole/Resource", "WalkRole/Resource", "DeliverRole/Resource"}, who)
				require.Equal(t, []string{t.named("Caller", "AWS::IAM::Role").attribute("Arn")}, r.resources)
				require.Equal(t, map[string]any{"StringEquals": map[string]any{"iam:PassedToService": "scheduler.amazonaws.com"}},
					r.conditions)
			}
		}
	})
}

func TestAddTenants_letsATenantReadItsOwnPartitionsAlone(t *testing.T) {
	t.Parallel()
	each(t, func(t *template) {
		policy := t.one("AWS::IAM::ManagedPolicy")
		for _, attached := range []string{"Roles", "Users", "Groups"} {
			require.Nil(t, policy.at(attached))
		}
		want := tenant.New("${aws:PrincipalTag/user}")
		all := rights(t, policy.at("PolicyDocument"))
		require.Len(t, all, 1)
		require.ElementsMatch(t, []string{access.GetItem, access.BatchGetItem, access.Query}, all[0].actions)
		require.ElementsMatch(t, want.Actions, all[0].actions)
		table := t.one(tableType).attribute("Arn")
		resources := []string{table}
		for _, index := range want.Indexes {
			resources = append(resources, table+"/index/"+string(index))
		}
		require.ElementsMatch(t, resources, all[0].resources)
		require.Equal(t, spelled(map[string]any{
			"ForAllValues:StringLike": map[string]any{"dynamodb:LeadingKeys": want.LeadingKeys},
			"Null":                    map[string]any{"dynamodb:LeadingKeys": "false"},
		}), spelled(all[0].conditions))
	})
}
