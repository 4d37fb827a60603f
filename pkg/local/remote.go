package local

import (
	"cmp"
	"net/http"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsbus "github.com/aws/aws-sdk-go-v2/service/eventbridge"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	awsscheduler "github.com/aws/aws-sdk-go-v2/service/scheduler"

	"nexus/pkg/blob"
	"nexus/pkg/blob/s3"
	"nexus/pkg/bus"
	"nexus/pkg/bus/eventbridge"
	scheduler "nexus/pkg/schedule/eventbridge"
)

// Remote names the services of a deployment other than its table. An empty name means unknown.
type Remote struct {
	ArchiveBucket, ParkingBucket, SnapshotBucket                             string
	BusName                                                                  string
	ScheduleGroup, ScheduleTargetARN, ScheduleRoleARN, ScheduleDeadLetterARN string
	DeliverARN                                                               string
}

// RemotePorts are the ports through which an operator's tool reaches a deployment; nil for a service that was not
// named.
type RemotePorts struct {
	Copies    blob.Purger
	Parked    blob.Purger
	Snapshots blob.Purger
	Bus       bus.Bus
	Scheduler *scheduler.Scheduler // calls notify
	Telling   *scheduler.Scheduler // calls deliver
}

// patience bounds how often a call is tried. An operator's tool has time, and the functions have priority.
const patience = 10

// NewRemotePorts returns the named services, with the region and credentials of the environment. It is not for
// functions.
func NewRemotePorts(d Remote) (out RemotePorts, err error) {
	transport := http.DefaultTransport
	for bucket, store := range map[string]*blob.Purger{
		d.ArchiveBucket: &out.Copies, d.ParkingBucket: &out.Parked, d.SnapshotBucket: &out.Snapshots,
	} {
		if bucket == "" {
			continue
		}
		objects := awss3.NewFromConfig(deployedConfig("S3", transport))
		if *store, err = s3.New(objects, s3.Config{Bucket: bucket}); err != nil {
			return RemotePorts{}, err
		}
	}
	if d.ScheduleGroup == "" {
		return out, nil
	}
	if out.Bus, err = eventbridge.New(awsbus.NewFromConfig(deployedConfig("EVENTBRIDGE", transport)),
		eventbridge.Config{BusName: d.BusName}); err != nil {
		return RemotePorts{}, err
	}
	client := awsscheduler.NewFromConfig(deployedConfig("SCHEDULER", transport))
	calling := func(target string) (*scheduler.Scheduler, error) {
		return scheduler.New(client, scheduler.Config{
			GroupName: d.ScheduleGroup, TargetARN: target, RoleARN: d.ScheduleRoleARN,
			DeadLetterARN: d.ScheduleDeadLetterARN,
			EventAge:      scheduler.MaxEventAge, Retries: scheduler.MaxRetries, // as the functions have it
		})
	}
	if out.Scheduler, err = calling(d.ScheduleTargetARN); err != nil {
		return RemotePorts{}, err
	}
	if d.DeliverARN == "" {
		return out, nil
	}
	if out.Telling, err = calling(d.DeliverARN); err != nil {
		return RemotePorts{}, err
	}
	return out, nil
}

// deployedConfig returns the configuration for clients of a service at the region's endpoint, or at that of the
// environment.
func deployedConfig(service string, transport http.RoundTripper) aws.Config {
	cfg := serviceConfig("", transport)
	cfg.BaseEndpoint = nil
	if address := cmp.Or(os.Getenv("AWS_ENDPOINT_URL_"+service), os.Getenv("AWS_ENDPOINT_URL")); address != "" {
		cfg.BaseEndpoint = aws.String(address)
	}
	cfg.RetryMaxAttempts = patience
	return cfg
}
