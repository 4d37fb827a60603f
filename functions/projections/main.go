// The projections function reads the table's stream and updates what is derived from the items in the table:
// statistics, backlinks and change logs. Its reader is a line of the deployment table (pkg/deploy/readers).
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
	"nexus/functions/internal/stream"
	"nexus/pkg/blob/s3"
	"nexus/pkg/change"
	"nexus/pkg/changes"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/metric"
	"nexus/pkg/links"
	"nexus/pkg/port"
	"nexus/pkg/product"
	"nexus/pkg/projection"
	"nexus/pkg/stats"
)

func main() { boot.Run(env.Projections, build) }

// logsAtOnce is the number of users of a batch whose change logs are written at a time: each takes two calls.
const logsAtOnce = 16

func build(s env.Settings, log *slog.Logger) (boot.Handler, error) {
	tables, metrics := cloud.NewTables(s), metric.NewWriter(os.Stdout, time.Now)
	parking, err := s3.New(awss3.NewFromConfig(cloud.Config(s.AWS, env.S3)), s3.Config{Bucket: s.ParkingBucket})
	if err != nil {
		return nil, err
	}
	consumers := []change.Consumer{
		projection.NewConsumer(stats.Projection(), tables.StoreFor(stats.Name), time.Now),
		projection.NewConsumer(links.Projection(), tables.StoreFor(links.Name), time.Now),
		changes.New(changes.Config{
			Store: tables.StoreFor(changes.Name), Now: time.Now, Random: rand.Reader, AtOnce: logsAtOnce,
			Appended: func(_ context.Context, of []changes.Appended) {
				metrics.Add(metric.ByConsumer, changes.Name, metric.Values{metric.ChangesAppended: float64(changes.Count(of))}, nil)
			},
		}),
	}
	config := stream.Config{
		Function: s.Function, Registry: product.Registry(), Consumers: consumers, Meter: tables.Meter, Parking: parking,
		Log: log, Metrics: metrics, Now: time.Now, Wait: port.Sleep,
	}
	handle, err := stream.New(config)
	if err != nil {
		return nil, err
	}
	return stream.Sized(config, handle, tables.Bytes), nil
}
