package stack_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/deploy/alarm"
	"nexus/pkg/deploy/env"
)

func TestPublish_letsTheAliasPointToAVersionThatStays(t *testing.T) {
	t.Parallel()
	each(t, func(t *template) {
		require.Len(t, t.all("AWS::Lambda::Alias"), len(env.Functions()))
		for _, f := range env.Functions() {
			alias, version := t.live(f), t.named(title(f)+"/CurrentVersion", "AWS::Lambda::Version")
			require.Equal(t, "live", alias.text("Name"))
			require.Equal(t, t.function(f).ref(), alias.text("FunctionName"))
			require.Equal(t, version.attribute("Version"), alias.text("FunctionVersion"))
			require.Equal(t, t.function(f).ref(), version.text("FunctionName"))
			require.Equal(t, "Retain", version.DeletionPolicy, "the alias can go back to it")
		}
	})
}

// mentions calls visit for each reference to a function in a value, and for each text in which its ARN is spelled.
func mentions(value any, visit func(path []string, what string), path ...string) {
	switch v := value.(type) {
	case string:
		if strings.Contains(v, ":function:") || strings.Contains(v, ":function/") {
			visit(path, v)
		}
	case []any:
		for _, member := range v {
			mentions(member, visit, path...)
		}
	case map[string]any:
		if name, ok := v["Ref"].(string); ok {
			visit(path, name)
		}
		if of, ok := v["Fn::GetAtt"].([]any); ok {
			visit(path, of[0].(string))
		}
		for name, member := range v {
			mentions(member, visit, append(slices.Clone(path), name)...)
		}
	}
}

func TestPublish_leavesNothingThatNamesAFunctionWithoutItsAlias(t *testing.T) {
	t.Parallel()
	each(t, func(t *template) {
		functions := map[string]bool{}
		for _, f := range env.Functions() {
			functions[t.function(f).id] = true
		}
		for _, r := range t.resources {
			switch r.Type {
			case "AWS::Lambda::Version", "AWS::Lambda::Alias", alarmType, "AWS::CloudWatch::Dashboard":
				continue // they are made of the function, and metrics have its name alone
			}
			mentions(r.Properties, func(path []string, what string) {
				switch {
				case strings.Contains(what, ":function"):
					require.True(t, strings.HasSuffix(what, ":live"), "%s: %v: %s", r.path(), path, what)
				case functions[what] && r.Type == "AWS::Lambda::EventInvokeConfig":
					require.Regexp(t, `^part 7 of \$\{\w+Live\w+\}$`, r.text("Qualifier"), r.path())
				case functions[what]:
					// CodeDeploy moves the alias, whose right is on the function.
					require.Equal(t, "RolloutRole/Resource", r.path(), "%v", path)
				}
			})
		}
	})
}

const groupType = "AWS::CodeDeploy::DeploymentGroup"

func TestAddRollouts_givesATenthOfTheCallsToANewVersionFirst(t *testing.T) {
	t.Parallel()
	each(t, func(t *template) {
		moved := []env.Function{env.Command, env.Query, env.Notify}
		require.Len(t, t.all(groupType), len(moved))
		for _, f := range env.Functions() {
			policy := t.live(f).UpdatePolicy
			if !slices.Contains(moved, f) {
				require.Nil(t, policy, "%s: the alias moves at once", f)
				continue
			}
			group := t.named(title(f)+"Rollout", groupType)
			require.Equal(t, "CodeDeployDefault.LambdaCanary10Percent10Minutes", group.text("DeploymentConfigName"))
			require.Equal(t, t.named("RolloutRole", "AWS::IAM::Role").attribute("Arn"), group.text("ServiceRoleArn"))
			update := policy["CodeDeployLambdaAliasUpdate"].(map[string]any)
			require.Equal(t, group.ref(), text(update["DeploymentGroupName"]))
			require.Equal(t, t.one("AWS::CodeDeploy::Application").ref(), text(update["ApplicationName"]))

			require.Equal(t, true, group.at("AutoRollbackConfiguration", "Enabled"))
			require.Subset(t, texts(group.at("AutoRollbackConfiguration", "Events")),
				[]string{"DEPLOYMENT_FAILURE", "DEPLOYMENT_STOP_ON_ALARM"})
			require.Equal(t, true, group.at("AlarmConfiguration", "Enabled"))
			watched := watchedBy(t, group)
			require.ElementsMatch(t, alarm.Reverting(f, everyAlarm()), watched, "%s", f)
			require.Contains(t, watched, fmt.Sprintf("nexus-%s-errors", f))
		}
	})
}

// watchedBy returns the names of the alarms that take a version back.
func watchedBy(t *template, group resource) []string {
	t.Helper()
	var out []string
	for _, entry := range group.at("AlarmConfiguration", "Alarms").([]any) {
		id := strings.Trim(text(entry.(map[string]any)["Name"]), "${}")
		out = append(out, t.resources[id].text("AlarmName"))
	}
	return out
}

func TestRolloutAlarms_areThoseThatExistWithoutACanary(t *testing.T) {
	t.Parallel()
	made := readFrom(t, bare, prod)
	for f, want := range map[env.Function][]string{
		env.Command: {"nexus-command-errors", "nexus-server-errors", "nexus-command-slow"},
		env.Notify:  {"nexus-notify-errors"},
	} {
		require.ElementsMatch(t, want, watchedBy(made, made.named(title(f)+"Rollout", groupType)))
	}
}

func TestAddRollouts_isLeftOutIfTheStageIsInHaste(t *testing.T) {
	t.Parallel()
	made := readFrom(t, adjusted, prod)
	for _, r := range made.resources {
		require.NotEqual(t, groupType, r.Type)
	}
	require.Nil(t, made.live(env.Command).UpdatePolicy)
}

func TestRolloutRole_movesTheAliasesOfTheseFunctionsAlone(t *testing.T) {
	t.Parallel()
	each(t, func(t *template) {
		var want []right
		for _, f := range []env.Function{env.Command, env.Query, env.Notify} {
			function := t.function(f).attribute("Arn")
			want = append(want, right{[]string{"lambda:GetAlias", "lambda:UpdateAlias"}, []string{function}, nil},
				right{[]string{"lambda:GetProvisionedConcurrencyConfig"}, []string{function + ":*"}, nil})
		}
		want = append(want, right{[]string{"cloudwatch:DescribeAlarms"}, []string{"*"}, nil})
		require.Equal(t, flat(want), flat(rightsOf(t, t.named("RolloutRole", "AWS::IAM::Role"))))
	})
}
