// The effects function reads the table's stream and updates what depends on the items outside the table: schedules and
// cold copies. Its reader is a line of the deployment table (pkg/deploy/readers).
package main

import (
	"log/slog"
	"os"
	"time"
	_ "time/tzdata" // zones come from the binary, not from the machine

	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"nexus/functions/internal/boot"
	"nexus/functions/internal/cloud"
	"nexus/functions/internal/fence"
	"nexus/functions/internal/reminding"
	"nexus/functions/internal/scheduling"
	"nexus/functions/internal/stream"
	"nexus/pkg/archive"
	"nexus/pkg/blob/s3"
	"nexus/pkg/change"
	"nexus/pkg/consume"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/metric"
	"nexus/pkg/port"
	"nexus/pkg/product"
	"nexus/pkg/reminders"
	"nexus/pkg/webhook"
)

func main() { boot.Run(env.Effects, build) }

func build(s env.Settings, log *slog.Logger) (boot.Handler, error) {
	registry, metrics := product.Registry(), metric.NewWriter(os.Stdout, time.Now)
	tables := cloud.NewTables(s, metrics)
	objects := awss3.NewFromConfig(cloud.Config(s.AWS, env.S3))
	parking, err := s3.New(objects, s3.Config{Bucket: s.ParkingBucket})
	if err != nil {
		return nil, err
	}
	copies, err := s3.New(objects, s3.Config{Bucket: s.ArchiveBucket})
	if err != nil {
		return nil, err
	}
	reminding, err := reminding.Putting(reminders.Config{
		Store: tables.StoreFor(reminders.Name), Registry: registry, Now: time.Now, Log: log,
	}, s, metrics)
	if err != nil {
		return nil, err
	}
	hooks, err := scheduling.New(s, s.DeliverARN)
	if err != nil {
		return nil, err
	}
	consumers := []change.Consumer{
		reminders.New(reminding),
		archive.NewConsumer(archive.Config{
			Store: tables.StoreFor(archive.Name), Registry: registry, Copies: copies, Bus: reminding.Bus,
			Announces: s.Announces(), Now: time.Now,
		}),
		webhook.NewConsumer(webhook.Outbox{
			Store: tables.StoreFor(webhook.Name), Scheduler: hooks, Now: time.Now, Lead: reminding.Lead,
			Invoke: cloud.NewInvoker(s.AWS, s.DeliverARN).Invoke,
		}, webhook.AtOnce),
	}
	return stream.New(stream.Config{
		Config: consume.Config{
			Gone:     fence.New(tables, s).Gone,
			Registry: registry, Consumers: consumers, Parking: parking, Log: log, Now: time.Now, Wait: port.Sleep,
		},
		Function: s.Function, Meter: tables.Meter, Metrics: metrics,
	})
}
