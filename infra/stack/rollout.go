package stack

import (
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscodedeploy"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/interfaces/interfacesawscloudwatch"
	"github.com/aws/jsii-runtime-go"
	"github.com/cdklabs/cdk-nag-go/cdknag/v2"

	"nexus/pkg/deploy/alarm"
	"nexus/pkg/deploy/env"
)

// codeDeploy is the service that moves an alias step by step.
const codeDeploy = "codedeploy.amazonaws.com"

// Values of the setting rollout.
const (
	rolloutCanary = "canary"
	rolloutOnce   = "once"
)

// rolledOut returns the functions whose new version gets a tenth of the calls first. The others get batches of records
// or messages: two versions would share the batches of one shard, so their aliases move at once.
func rolledOut() []env.Function { return []env.Function{env.Command, env.Query, env.Notify} }

// addRollouts lets CodeDeploy move the aliases of those functions: a tenth of the calls for ten minutes, then all. An
// alarm in that time moves the alias back, and CloudFormation undoes the deployment.
func (d *deployment) addRollouts() {
	if d.settings.Rollout == rolloutOnce {
		return
	}
	application := awscodedeploy.NewLambdaApplication(d.Stack, jsii.String("Rollouts"), nil)
	role := d.rolloutRole()
	for _, f := range rolledOut() {
		var watched []interfacesawscloudwatch.IAlarmRef
		for _, made := range d.rolloutAlarms(f) {
			watched = append(watched, made)
		}
		d.addRollout(construct(f)+"Rollout", application, d.live[f], role, watched)
		if direct := d.direct[f]; direct != nil {
			d.addRollout(construct(f)+"DirectRollout", application, direct, role, watched)
		}
	}
}

// addRollout lets CodeDeploy move an alias.
func (d *deployment) addRollout(name string, of awscodedeploy.LambdaApplication, alias awslambda.Alias,
	role awsiam.Role, watched []interfacesawscloudwatch.IAlarmRef,
) {
	awscodedeploy.NewLambdaDeploymentGroup(d.Stack, jsii.String(name), &awscodedeploy.LambdaDeploymentGroupProps{
		Application: of, Alias: alias, Alarms: &watched,
		// The role is complete: the group would add a policy of AWS with stars.
		Role:             role.WithoutPolicyUpdates(nil),
		DeploymentConfig: awscodedeploy.LambdaDeploymentConfig_CANARY_10PERCENT_10MINUTES(),
		AutoRollback: &awscodedeploy.AutoRollbackConfig{
			DeploymentInAlarm: jsii.Bool(true), FailedDeployment: jsii.Bool(true), StoppedDeployment: jsii.Bool(true),
		},
	})
}

// rolloutAlarms returns the alarms that take the function's new version back.
func (d *deployment) rolloutAlarms(f env.Function) []awscloudwatch.Alarm {
	made := slices.DeleteFunc(d.usualAlarms(), func(a alarm.Alarm) bool { return !d.isPossible(a) })
	names := alarm.Reverting(f, made)
	var out []awscloudwatch.Alarm
	for i, a := range made {
		if slices.Contains(names, a.Name) {
			out = append(out, d.alarms[i])
		}
	}
	return out
}

// rolloutRole makes the role with which CodeDeploy moves aliases and reads alarms.
func (d *deployment) rolloutRole() awsiam.Role {
	var functions, versions []string
	for _, f := range rolledOut() {
		functions = append(functions, *d.functions[f].FunctionArn())
		versions = append(versions, *d.functions[f].FunctionArn()+":*")
	}
	role := awsiam.NewRole(d.Stack, jsii.String("RolloutRole"), &awsiam.RoleProps{
		Description: jsii.String("Nexus: CodeDeploy moves the aliases of functions to new versions"),
		AssumedBy:   awsiam.NewServicePrincipal(jsii.String(codeDeploy), nil),
		InlinePolicies: &map[string]awsiam.PolicyDocument{"Move": policy(
			// What AWS's own policy AWSCodeDeployRoleForLambdaLimited has of aliases, on these functions alone.
			allow([]string{"lambda:GetAlias", "lambda:UpdateAlias"}, functions, nil),
			allow([]string{"lambda:GetProvisionedConcurrencyConfig"}, versions, nil),
			allow([]string{"cloudwatch:DescribeAlarms"}, []string{"*"}, nil),
		)},
	})
	suppress(role, "AwsSolutions-IAM5", "CodeDeploy asks for alarms without naming them, which has no resource.",
		"Resource::*")
	suppress(role, "AwsSolutions-IAM5", "The star stands for the versions and aliases of a function that is named.",
		&cdknag.RegexAppliesTo{Regex: jsii.String(`/^Resource::<[A-Za-z0-9]+\.Arn>:\*$/`)})
	return role
}
