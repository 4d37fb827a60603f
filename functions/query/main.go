// The query function is the read side: it serves the HTTP API's requests that change nothing.
package main

import (
	"context"
	"crypto/rand"
	"log/slog"
	mathrand "math/rand/v2"
	"os"
	"time"
	_ "time/tzdata" // zones come from the binary, not from the machine

	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/uuid"

	"nexus/functions/internal/bearer"
	"nexus/functions/internal/boot"
	"nexus/functions/internal/cloud"
	"nexus/functions/internal/endpoint"
	"nexus/functions/internal/fence"
	"nexus/functions/internal/httpapi"
	"nexus/pkg/account"
	"nexus/pkg/api"
	"nexus/pkg/archive"
	"nexus/pkg/blob/s3"
	"nexus/pkg/blob/s3/link"
	"nexus/pkg/calendar"
	"nexus/pkg/deliver"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/metric"
	"nexus/pkg/limit"
	"nexus/pkg/product"
	"nexus/pkg/query"
	"nexus/pkg/revision"
	"nexus/pkg/revision/plan"
	"nexus/pkg/revision/values"
	"nexus/pkg/text/fold"
	"nexus/pkg/text/words"
	"nexus/pkg/transfer"
	"nexus/pkg/webhook"
)

func main() { boot.Run(env.Query, build) }

func build(s env.Settings, log *slog.Logger) (boot.Handler, error) {
	registry, metrics := product.Registry(), metric.NewWriter(os.Stdout, time.Now)
	tables := cloud.NewTables(s, metrics)
	store := tables.StoreFor(string(s.Function))
	files, err := link.New(cloud.Config(s.AWS, env.S3), link.Config{Bucket: s.ArchiveBucket, Now: time.Now})
	if err != nil {
		return nil, err
	}
	snapshots, err := s3.New(awss3.NewFromConfig(cloud.Config(s.AWS, env.S3)), s3.Config{Bucket: s.SnapshotBucket})
	if err != nil {
		return nil, err
	}
	accounts := fence.New(tables, s)
	observe := endpoint.Observe(s.Function, metrics)
	publisher := revision.NewPublisher(revision.Config{Store: store, Now: time.Now, NewID: uuid.NewString})
	trees := values.New(publisher, uuid.NewString)
	queries := api.New(api.Config{
		Document: api.Document,
		Side:     api.SideQueries, Registry: registry,
		Queries: query.New(query.Config{
			Store: store, Registry: registry, Now: time.Now, Fold: fold.String, Form: s.Form(),
			Searching: &query.Searching{
				// Nothing is kept of an account that is gone, however long this process stood still.
				Split: words.Split, Snapshots: account.NewGuard(accounts).Objects(snapshots),
				Failed: func(_ context.Context, err error) {
					log.Warn("a snapshot of an index was not read or kept; the search went on without", "error", err)
					metrics.Count(metric.ByFunction, string(s.Function), map[string]int{metric.SnapshotsFailed: 1})
				},
			},
		}),
		// Copies are listed from the table; only restoring one, a command, needs the objects.
		Archive:  archive.New(archive.Config{Store: store, Registry: registry, Now: time.Now}),
		Calendar: calendar.New(calendar.Config{Store: store, Registry: registry, Now: time.Now, Random: rand.Reader}),
		Webhooks: &api.Webhooks{
			Endpoints: &webhook.Endpoints{Outbox: webhook.Outbox{Store: store, Now: time.Now}},
		},
		Notifications: &api.Notifications{
			Devices: deliver.NewDevices(store, time.Now), Name: s.Pepper().Pseudonym, Key: s.PushKey,
		},
		Values: trees, Plans: plan.New(publisher, trees, time.Now, uuid.NewString),
		Fence: accounts, Scopes: s.ScopeList(), Edge: len(s.EdgeSecrets()) > 0,
		Exports: transfer.NewJobs(transfer.JobsConfig{
			Store: store, Now: time.Now, Limits: s.Numbers(), Links: files,
		}),
		Authenticate: api.SubjectForm(s.Subjects()).Authenticate, Observe: observe,
		LogOneReadIn: api.ReadsALine,
		Limits:       limit.Config{Store: store, Now: time.Now, Draw: mathrand.Float64, Numbers: s.Numbers()},
		Log:          log, Now: time.Now, NewID: uuid.NewString,
	})
	check := bearer.New(bearer.Config{Issuer: s.Issuer, Audience: s.AudienceList(), Now: time.Now}).Claims
	handler := boot.Answering(httpapi.New(endpoint.Front(s, observe, queries), check).Handle)
	return boot.Metered(handler, s.Function, tables.Meter(string(s.Function)), metrics), nil
}
