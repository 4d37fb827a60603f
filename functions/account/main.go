// The account function does the work on whole accounts for which nobody waits. A rule of EventBridge calls it every
// five minutes; what one call leaves, the next takes up. It erases the accounts whose time has come.
package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	awsbus "github.com/aws/aws-sdk-go-v2/service/eventbridge"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	awsscheduler "github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/google/uuid"

	"nexus/functions/internal/boot"
	"nexus/functions/internal/cloud"
	"nexus/pkg/account"
	"nexus/pkg/blob/s3"
	"nexus/pkg/bus/eventbridge"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/metric"
	"nexus/pkg/deploy/readers"
	"nexus/pkg/port"
	"nexus/pkg/product"
	"nexus/pkg/reminders"
	scheduler "nexus/pkg/schedule/eventbridge"
)

func main() { boot.Run(env.Account, build) }

// spare is the part of an invocation's time that is left for its end: 30 seconds of the longest.
const spare = 30

func build(s env.Settings, log *slog.Logger) (boot.Handler, error) {
	tables, metrics := cloud.NewTables(s), metric.NewWriter(os.Stdout, time.Now)
	eraser, err := newEraser(s, tables, log)
	if err != nil {
		return nil, err
	}
	handle := func(ctx context.Context, _ []byte) ([]byte, error) {
		if end, ok := ctx.Deadline(); ok {
			var cancel context.CancelFunc
			ctx, cancel = context.WithDeadline(ctx, end.Add(-time.Until(end)/spare))
			defer cancel()
		}
		overdue, err := eraser.Overdue(ctx)
		if err != nil {
			return nil, err
		}
		metrics.Count(metric.ByFunction, string(s.Function), map[string]int{metric.ErasuresOverdue: overdue})
		if _, err := eraser.Run(ctx); err != nil && ctx.Err() == nil { // without time the next call goes on
			return nil, err
		}
		return []byte("{}"), nil
	}
	return boot.Metered(handle, s.Function, tables.Meter(string(s.Function)), metrics), nil
}

// newEraser returns what erases accounts.
func newEraser(s env.Settings, tables *cloud.Tables, log *slog.Logger) (*account.Eraser, error) {
	objects := awss3.NewFromConfig(cloud.Config(s.AWS, env.S3))
	archive, err := s3.New(objects, s3.Config{Bucket: s.ArchiveBucket})
	if err != nil {
		return nil, err
	}
	parking, err := s3.New(objects, s3.Config{Bucket: s.ParkingBucket})
	if err != nil {
		return nil, err
	}
	bus, err := eventbridge.New(awsbus.NewFromConfig(cloud.Config(s.AWS, env.EventBridge)),
		eventbridge.Config{BusName: s.BusName})
	if err != nil {
		return nil, err
	}
	schedules, err := scheduler.New(awsscheduler.NewFromConfig(cloud.Config(s.AWS, env.Scheduler)), scheduler.Config{
		GroupName: s.ScheduleGroup, TargetARN: s.ScheduleTargetARN, RoleARN: s.ScheduleRoleARN,
		DeadLetterARN: s.ScheduleDeadLetterARN, EventAge: scheduler.MaxEventAge, Retries: scheduler.MaxRetries,
	})
	if err != nil {
		return nil, err
	}
	var consumers []string
	for _, line := range readers.Table(product.Registry()) {
		consumers = append(consumers, line.Consumers...)
	}
	return account.NewEraser(account.EraserConfig{
		Config: account.Config{
			Store: tables.StoreFor(string(s.Function)), Objects: archive, Pepper: s.Pepper(), Now: time.Now,
		},
		Archive: archive, Parking: parking, Bus: bus, Scheduler: schedules, Schedules: schedules,
		Consumers: consumers, Digest: reminders.UserPart, Log: log, NewID: uuid.NewString,
		Patience: account.Patience, EdgeTime: account.EdgeTime, Rate: account.Rate,
		Wait: port.Sleep, InCalls: true,
	}), nil
}
