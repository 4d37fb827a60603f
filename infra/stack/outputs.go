package stack

import (
	"cmp"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"nexus/pkg/deploy/alarm"
	"nexus/pkg/deploy/release"
)

func (d *deployment) output(name, says string, value *string) {
	awscdk.NewCfnOutput(d.Stack, jsii.String(name), &awscdk.CfnOutputProps{Value: value, Description: jsii.String(says)})
}

// addOutputs exports the names that the manual uses.
func (d *deployment) addOutputs() {
	out := d.output
	out("Address", "Where the HTTP API answers", jsii.String(d.origin()))
	out(release.Output, "The release that is deployed", jsii.String(d.release.Name))
	out(release.OutputBefore, "The release to which it may go back", jsii.String(cmp.Or(d.release.Before, d.release.Name)))
	out("TableName", "TABLE", d.table.TableName())
	out("StreamArn", "The table's stream, for nexus record", d.table.TableStreamArn())
	out("ArchiveBucket", "Cold copies", d.archive.BucketName())
	out("ParkingBucket", "PARKING: what could not be processed", d.parking.BucketName())
	out("SnapshotBucket", "SNAPSHOTS: indexes of words, which can be made again", d.snapshots.BucketName())
	out("BusName", "Rules for channels are made on this bus", d.bus.EventBusName())
	out("UndeliveredQueue", "Calls that the scheduler could not make", d.queues[alarm.ScheduleQueue].QueueUrl())
	out("FailedQueue", "Calls in which notify failed", d.queues[alarm.NotifyQueue].QueueUrl())
	out("UntoldQueue", "Events and calls in which deliver failed", d.queues[alarm.DeliverQueue].QueueUrl())
	out("DeadWalkQueue", "Walks over a user's items that failed", d.queues[alarm.DeadWalkQueue].QueueUrl())
	if d.alarmTopic != nil {
		out("AlarmsTopic", "Where alarms tell of themselves", d.alarmTopic)
	}
	for _, f := range d.settings.deployed() {
		out(construct(f)+"Function", "Function "+string(f), d.functions[f].FunctionName())
	}
}
