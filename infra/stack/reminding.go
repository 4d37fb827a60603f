package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsscheduler"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"

	"nexus/pkg/deploy/alarm"
	"nexus/pkg/deploy/env"
)

const (
	busName   = "nexus"
	groupName = "nexus"
	// scheduler is the service that assumes the caller's role.
	scheduler = "scheduler.amazonaws.com"
	// queueDays is how long a call waits for an operator: the longest time that SQS retains a message.
	queueDays = 14
)

// addReminding makes the resources between an item and the delivery of its reminder: the group of schedules, the role
// with which they call notify and deliver, the queues for failed calls and for walks, and the bus.
func (d *deployment) addReminding() {
	d.bus = awsevents.NewEventBus(d.Stack, jsii.String("Bus"), &awsevents.EventBusProps{
		EventBusName: jsii.String(busName),
		Description:  jsii.String("What Nexus announces: reminders due, tasks archived, items expired and restored"),
	})
	d.group = awsscheduler.NewCfnScheduleGroup(d.Stack, jsii.String("Schedules"), &awsscheduler.CfnScheduleGroupProps{
		Name: jsii.String(groupName),
	})
	d.group.ApplyRemovalPolicy(d.removalPolicy(), nil)
	d.queues[alarm.ScheduleQueue] = d.queue("Undelivered")
	d.queues[alarm.NotifyQueue] = d.queue("Failed")
	d.queues[alarm.DeliverQueue] = d.queue("Untold")
	d.addWalkQueue()

	// The aliases by their names, not references to them: the functions' variables name this role.
	d.caller = awsiam.NewRole(d.Stack, jsii.String("Caller"), &awsiam.RoleProps{
		Description: jsii.String("EventBridge Scheduler calls notify and deliver, and keeps what it could not call"),
		AssumedBy: awsiam.NewServicePrincipal(jsii.String(scheduler), &awsiam.ServicePrincipalOpts{
			Conditions: &map[string]any{"StringEquals": map[string]any{
				"aws:SourceAccount": d.Account(),
				"aws:SourceArn":     d.arn("scheduler", "schedule-group", groupName, awscdk.ArnFormat_SLASH_RESOURCE_NAME),
			}},
		}),
		InlinePolicies: &map[string]awsiam.PolicyDocument{"Call": policy(
			allow([]string{"lambda:InvokeFunction"}, []string{d.liveARN(env.Notify), d.liveARN(env.Deliver)}, nil),
			allow([]string{"sqs:SendMessage"}, []string{*d.queues[alarm.ScheduleQueue].QueueArn()}, nil),
		)},
	})
}

// queue makes a queue for failed calls of other services. It has SQS's own key: the services that write to it could
// not use one of theirs.
func (d *deployment) queue(id string) awssqs.Queue {
	queue := awssqs.NewQueue(d.Stack, jsii.String(id), &awssqs.QueueProps{
		Encryption: awssqs.QueueEncryption_SQS_MANAGED, EnforceSSL: jsii.Bool(true), RetentionPeriod: days(queueDays),
		RemovalPolicy: d.removalPolicy(),
	})
	suppress(queue, "AwsSolutions-SQS3", "It is a dead-letter queue: nothing reads it but people.")
	return queue
}
