package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awseventstargets"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"

	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/size"
)

// addAccounts has the function for whole accounts called from time to time. A call that fails is not repeated: the next
// one takes up what it left.
func (d *deployment) addAccounts() {
	alias := d.live[env.Account]
	every := awscdk.Duration_Minutes(jsii.Number(size.AccountEvery.Minutes()))
	alias.ConfigureAsyncInvoke(&awslambda.EventInvokeConfigOptions{RetryAttempts: jsii.Number(0), MaxEventAge: every})
	awsevents.NewRule(d.Stack, jsii.String("Accounts"), &awsevents.RuleProps{
		Description: jsii.String("Nexus: calls " + string(env.Account)),
		Schedule:    awsevents.Schedule_Rate(every),
		Targets: &[]awsevents.IRuleTarget{awseventstargets.NewLambdaFunction(alias,
			&awseventstargets.LambdaFunctionProps{RetryAttempts: jsii.Number(0)})},
	})
}
