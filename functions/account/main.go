// The account function does the work on whole accounts for which no user waits. A rule of EventBridge calls it every
// five minutes; what one call leaves, the next takes up. It erases the accounts whose time has come, prunes the history
// of the users whose turn it is, and carries out the exports that users have asked for.
package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"time"
	_ "time/tzdata" // zones come from the binary, not from the machine

	awsbus "github.com/aws/aws-sdk-go-v2/service/eventbridge"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/uuid"

	"nexus/functions/internal/boot"
	"nexus/functions/internal/cloud"
	"nexus/functions/internal/fence"
	"nexus/functions/internal/rule"
	"nexus/functions/internal/scheduling"
	"nexus/pkg/account"
	"nexus/pkg/blob/s3"
	"nexus/pkg/bus/eventbridge"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/metric"
	"nexus/pkg/deploy/readers"
	"nexus/pkg/deploy/size"
	"nexus/pkg/port"
	"nexus/pkg/product"
	"nexus/pkg/reminders"
	"nexus/pkg/revision"
	"nexus/pkg/revision/plan"
	"nexus/pkg/revision/values"
)

func main() { boot.Run(env.Account, build) }

// spare is the part of an invocation's time that is left for its end: 30 seconds of the longest.
const spare = 30

func build(s env.Settings, log *slog.Logger) (boot.Handler, error) {
	metrics := metric.NewWriter(os.Stdout, time.Now)
	tables := cloud.NewTables(s, metrics)
	objects, err := s3.New(awss3.NewFromConfig(cloud.Config(s.AWS, env.S3)), s3.Config{Bucket: s.ArchiveBucket})
	if err != nil {
		return nil, err
	}
	eraser, err := newEraser(s, tables, objects, log)
	if err != nil {
		return nil, err
	}
	store := tables.StoreFor(string(s.Function))
	publisher := revision.NewPublisher(revision.Config{Store: store, Now: time.Now, NewID: uuid.NewString})
	trees := values.New(publisher, uuid.NewString)
	plans := plan.New(publisher, trees, time.Now, uuid.NewString)
	exporter := newExporter(s, store, objects, trees, plans)
	retention := &plan.Retention{Plans: plans, Store: store, Log: log, IsGone: fence.New(tables, s).IsGone}
	handle := func(ctx context.Context, payload []byte) ([]byte, error) {
		at, err := rule.CalledAt(payload)
		if err != nil {
			return nil, err
		}
		at = at.Truncate(size.AccountEvery)
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
		exported := make(chan error, 1) // an export of one user does not wait for the erasure of another
		go func() { exported <- exporter.Run(ctx) }()
		_, err = eraser.Run(ctx)
		if ctx.Err() == nil {
			_, pruned := retention.Run(ctx, at.Add(-size.AccountEvery), at)
			err = errors.Join(err, pruned)
		}
		if err = errors.Join(err, <-exported); err != nil && ctx.Err() == nil { // without time the next call goes on
			return nil, err
		}
		return []byte("{}"), nil
	}
	return boot.Metered(handle, s.Function, tables.Meter(string(s.Function)), metrics), nil
}

// newEraser returns what erases accounts.
func newEraser(
	s env.Settings, tables *cloud.Tables, archive *s3.Store, log *slog.Logger,
) (*account.Eraser, error) {
	parking, err := s3.New(awss3.NewFromConfig(cloud.Config(s.AWS, env.S3)), s3.Config{Bucket: s.ParkingBucket})
	if err != nil {
		return nil, err
	}
	snapshots, err := s3.New(awss3.NewFromConfig(cloud.Config(s.AWS, env.S3)), s3.Config{Bucket: s.SnapshotBucket})
	if err != nil {
		return nil, err
	}
	bus, err := eventbridge.New(awsbus.NewFromConfig(cloud.Config(s.AWS, env.EventBridge)),
		eventbridge.Config{BusName: s.BusName})
	if err != nil {
		return nil, err
	}
	schedules, err := scheduling.New(s, s.ScheduleTargetARN)
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
		Archive: archive, Parking: parking, Snapshots: snapshots, Bus: bus, Scheduler: schedules, Schedules: schedules,
		Consumers: consumers, Digest: reminders.UserPart, Log: log, NewID: uuid.NewString,
		Patience: account.Patience, EdgeTime: account.EdgeTime, Rate: account.Rate,
		Wait: port.Sleep, InCalls: true,
	}), nil
}
