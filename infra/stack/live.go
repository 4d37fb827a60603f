package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"

	"nexus/pkg/deploy/env"
)

// live is the alias by which everything calls a function. Schedules carry it for years, so it must never change.
const live = "live"

// publish publishes a version of the function, and lets the alias point to it. Each change of the function's code or
// configuration makes a version. Former ones are retained: the alias can go back to them.
func (d *deployment) publish(f env.Function, function awslambda.Function) awslambda.Alias {
	return awslambda.NewAlias(d.Stack, jsii.String(construct(f)+"Live"), &awslambda.AliasProps{
		AliasName: jsii.String(live), Version: function.CurrentVersion(),
		Description: jsii.String("Nexus: the version of " + string(f) + " that is called"),
	})
}

// liveARN returns the ARN of a function's alias by its name, for what is made before the function.
func (d *deployment) liveARN(f env.Function) string {
	return d.arn("lambda", "function", functionName(f)+":"+live, awscdk.ArnFormat_COLON_RESOURCE_NAME)
}
