package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awseventstargets"
	"github.com/aws/jsii-runtime-go"

	"nexus/pkg/bus"
	"nexus/pkg/deliver"
	"nexus/pkg/deploy/alarm"
	"nexus/pkg/deploy/env"
)

// Bounds of the time in which the bus repeats a call of deliver that Lambda did not take: EventBridge's maximum.
const (
	ruleRetries = 185
	ruleHours   = 24
)

// addDelivering has the bus call deliver with each reminder that is due. What it could not call is kept with what
// failed.
func (d *deployment) addDelivering() {
	awsevents.NewRule(d.Stack, jsii.String("RemindersDue"), &awsevents.RuleProps{
		Description: jsii.String("Nexus: brings reminders to devices"),
		EventBus:    d.bus,
		EventPattern: &awsevents.EventPattern{
			Source: jsii.Strings(bus.Source), DetailType: jsii.Strings(deliver.EventType),
		},
		Targets: &[]awsevents.IRuleTarget{awseventstargets.NewLambdaFunction(d.live[env.Deliver],
			&awseventstargets.LambdaFunctionProps{
				RetryAttempts: jsii.Number(ruleRetries), MaxEventAge: awscdk.Duration_Hours(jsii.Number(ruleHours)),
				DeadLetterQueue: d.queues[alarm.DeliverQueue],
			})},
	})
}
