package stack

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awseventstargets"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"

	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/size"
)

// addAccounts has the function for whole accounts called from time to time.
func (d *deployment) addAccounts() { d.callRegularly("Accounts", env.Account, size.AccountEvery) }

// callRegularly makes the rule that calls a function. A call that fails is not repeated: the next one takes up what it
// left.
func (d *deployment) callRegularly(rule string, f env.Function, period time.Duration) {
	alias, every := d.live[f], awscdk.Duration_Minutes(jsii.Number(period.Minutes()))
	alias.ConfigureAsyncInvoke(&awslambda.EventInvokeConfigOptions{RetryAttempts: jsii.Number(0), MaxEventAge: every})
	awsevents.NewRule(d.Stack, jsii.String(rule), &awsevents.RuleProps{
		Description: jsii.String("Nexus: calls " + string(f)),
		Schedule:    awsevents.Schedule_Rate(every),
		Targets: &[]awsevents.IRuleTarget{awseventstargets.NewLambdaFunction(alias,
			&awseventstargets.LambdaFunctionProps{RetryAttempts: jsii.Number(0)})},
	})
}
