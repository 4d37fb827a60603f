// The projections function reads the table's stream and updates what is derived from the items in the table:
// statistics, backlinks, change logs and insights. Its reader is a line of the deployment table (pkg/deploy/readers).
package main

import (
	"context"
	"crypto/rand"
	"log/slog"
	"os"
	"time"
	_ "time/tzdata" // zones come from the binary, not from the machine

	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"nexus/functions/internal/boot"
	"nexus/functions/internal/cloud"
	"nexus/functions/internal/fence"
	"nexus/functions/internal/stream"
	"nexus/pkg/blob/s3"
	"nexus/pkg/change"
	"nexus/pkg/changes"
	"nexus/pkg/consume"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/metric"
	"nexus/pkg/insights"
	"nexus/pkg/links"
	"nexus/pkg/port"
	"nexus/pkg/product"
	"nexus/pkg/projection"
	"nexus/pkg/push/appsync"
	"nexus/pkg/stats"
	"nexus/pkg/watch"
)

func main() { boot.Run(env.Projections, build) }

func build(s env.Settings, log *slog.Logger) (boot.Handler, error) {
	metrics := metric.NewWriter(os.Stdout, time.Now)
	tables := cloud.NewTables(s, metrics)
	parking, err := s3.New(awss3.NewFromConfig(cloud.Config(s.AWS, env.S3)), s3.Config{Bucket: s.ParkingBucket})
	if err != nil {
		return nil, err
	}
	pusher, err := appsync.New(cloud.Config(s.AWS, env.AppSync), appsync.Config{Host: s.HintsHost, Now: time.Now})
	if err != nil {
		return nil, err
	}
	count := func(values metric.Values) { metrics.Add(metric.ByConsumer, changes.Name, values, nil) }
	hints := watch.NewSender(watch.Config{
		Pusher: pusher, Bound: watch.Bound, Log: log,
		Observe: func(sent, dropped int) {
			count(metric.Values{metric.HintsSent: float64(sent), metric.HintsDropped: float64(dropped)})
		},
	})
	consumers := []change.Consumer{
		projection.NewConsumer(stats.Projection(), tables.StoreFor(stats.Name), time.Now),
		projection.NewConsumer(links.Projection(), tables.StoreFor(links.Name), time.Now),
		changes.New(changes.Config{
			Store: tables.StoreFor(changes.Name), Now: time.Now, Random: rand.Reader, AtOnce: changes.UsersAtOnce,
			Appended: func(ctx context.Context, of []changes.Appended) {
				count(metric.Values{metric.ChangesAppended: float64(changes.Count(of))})
				hints.Hint(ctx, changes.Heads(of, s.Form(), time.Now()))
			},
		}),
		projection.NewConsumer(insights.Projection(), tables.StoreFor(insights.Name), time.Now),
	}
	config := stream.Config{
		Config: consume.Config{
			Gone:     fence.New(tables, s).Gone,
			Registry: product.Registry(), Consumers: consumers, Parking: parking, Log: log, Now: time.Now, Wait: port.Sleep,
		},
		Function: s.Function, Meter: tables.Meter, Metrics: metrics,
	}
	handle, err := stream.New(config)
	if err != nil {
		return nil, err
	}
	return stream.Sized(config, handle, tables.Bytes), nil
}
