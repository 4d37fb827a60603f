package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"

	"nexus/pkg/deploy/alarm"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/size"
	"nexus/pkg/queue"
)

const (
	// walkDays is how long a walk waits: nothing but an outage of walk itself keeps it waiting for days.
	walkDays = 4
	// visibleAfter times the function's timeout, a message that was not done comes again (AWS Lambda Developer Guide,
	// "Using Lambda with Amazon SQS": at least six times).
	visibleAfter = 6
)

// addWalkQueue makes the queue of walks, with its dead letters. The messages of one group, a user's, are delivered one
// after another.
func (d *deployment) addWalkQueue() {
	dead := awssqs.NewQueue(d.Stack, jsii.String("DeadWalks"), &awssqs.QueueProps{
		Fifo: jsii.Bool(true), Encryption: awssqs.QueueEncryption_SQS_MANAGED, EnforceSSL: jsii.Bool(true),
		RetentionPeriod: days(queueDays), RemovalPolicy: d.removalPolicy(),
	})
	suppress(dead, "AwsSolutions-SQS3", "It is a dead-letter queue: nothing reads it but people.")
	s := size.For(env.Walk)
	d.queues[alarm.DeadWalkQueue] = dead
	d.queues[alarm.WalkQueue] = awssqs.NewQueue(d.Stack, jsii.String("Walks"), &awssqs.QueueProps{
		// Each message has an id of its own. Two of one content are two pieces of work.
		Fifo: jsii.Bool(true), ContentBasedDeduplication: jsii.Bool(false),
		Encryption: awssqs.QueueEncryption_SQS_MANAGED, EnforceSSL: jsii.Bool(true),
		RetentionPeriod: days(walkDays), RemovalPolicy: d.removalPolicy(),
		VisibilityTimeout: awscdk.Duration_Seconds(jsii.Number(visibleAfter * s.Timeout.Seconds())),
		DeadLetterQueue:   &awssqs.DeadLetterQueue{Queue: dead, MaxReceiveCount: jsii.Number(queue.MaxReceives)},
	})
}

// addWalking gives the messages of the queue to the function, one in each invocation and a few at a time.
func (d *deployment) addWalking() {
	awslambda.NewEventSourceMapping(d.Stack, jsii.String(construct(env.Walk)+"Reader"),
		&awslambda.EventSourceMappingProps{
			Target: d.live[env.Walk], EventSourceArn: d.queues[alarm.WalkQueue].QueueArn(),
			BatchSize: jsii.Number(1), MaxConcurrency: jsii.Number(size.WalksAtOnce),
		})
}
