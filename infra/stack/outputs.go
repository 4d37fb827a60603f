package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"nexus/pkg/deploy/alarm"
	"nexus/pkg/deploy/env"
)

// addOutputs exports the names that the manual uses.
func (d *deployment) addOutputs() {
	out := func(name, says string, value *string) {
		awscdk.NewCfnOutput(d.Stack, jsii.String(name), &awscdk.CfnOutputProps{Value: value, Description: jsii.String(says)})
	}
	address := "https://" + d.api + ".execute-api." + *d.Region() + "." + *d.UrlSuffix()
	out("Address", "Where the HTTP API answers", jsii.String(address))
	out("TableName", "TABLE", d.table.TableName())
	out("StreamArn", "The table's stream, for nexus record", d.table.TableStreamArn())
	out("ArchiveBucket", "Cold copies", d.archive.BucketName())
	out("ParkingBucket", "PARKING: what could not be processed", d.parking.BucketName())
	out("BusName", "Rules for channels are made on this bus", d.bus.EventBusName())
	out("UndeliveredQueue", "Calls that the scheduler could not make", d.queues[alarm.ScheduleQueue].QueueUrl())
	out("FailedQueue", "Calls in which notify failed", d.queues[alarm.NotifyQueue].QueueUrl())
	out("DeadWalkQueue", "Walks over a user's items that failed", d.queues[alarm.DeadWalkQueue].QueueUrl())
	for _, f := range env.Functions() {
		out(construct(f)+"Function", "Function "+string(f), d.functions[f].FunctionName())
	}
}
