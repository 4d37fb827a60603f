// The command function is the write side: it serves the HTTP API's requests that change something, and batches of
// commands by direct invocation, where the right to invoke is the authorisation.
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
	"nexus/pkg/account"
	"nexus/pkg/api"
	"nexus/pkg/archive"
	"nexus/pkg/blob/s3"
	"nexus/pkg/calendar"
	"nexus/pkg/command"
	"nexus/pkg/deliver"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/metric"
	"nexus/pkg/limit"
	"nexus/pkg/outbound"
	"nexus/pkg/product"
	"nexus/pkg/push"
	"nexus/pkg/revision"
	"nexus/pkg/revision/plan"
	"nexus/pkg/revision/values"
	"nexus/pkg/transfer"
	"nexus/pkg/watch"
	"nexus/pkg/webhook"
)

func main() { boot.Run(env.Command, build) }

func build(s env.Settings, log *slog.Logger) (boot.Handler, error) {
	registry, metrics := product.Registry(), metric.NewWriter(os.Stdout, time.Now)
	tables := cloud.NewTables(s, metrics)
	store := tables.StoreFor(string(s.Function))
	copies, err := s3.New(awss3.NewFromConfig(cloud.Config(s.AWS, env.S3)), s3.Config{Bucket: s.ArchiveBucket})
	if err != nil {
		return nil, err
	}
	tests, master := cloud.NewInvoker(s.AWS, s.DeliverARN), cloud.NewParameter(s.AWS, s.HookKeyParameter)
	observe := endpoint.Observe(s.Function, metrics)
	publisher := revision.NewPublisher(revision.Config{Store: store, Now: time.Now, NewID: uuid.NewString})
	trees := values.New(publisher, uuid.NewString)
	commands := api.New(api.Config{
		Side: api.SideCommands, Registry: registry,
		Commands: command.New(command.Config{
			Store: store, Registry: registry, Now: time.Now, NewID: uuid.NewString,
			Pause: command.RandomPause(mathrand.Float64, time.Now),
		}),
		Archive:  archive.New(archive.Config{Store: store, Registry: registry, Copies: copies, Now: time.Now}),
		Calendar: calendar.New(calendar.Config{Store: store, Registry: registry, Now: time.Now, Random: rand.Reader}),
		Notifications: &api.Notifications{
			Devices: deliver.NewDevices(store, time.Now), Acts: deliver.NewActs(store, time.Now),
			CheckEndpoint: outbound.Config{Own: s.PushService()}.Check, Hosts: s.PushHosts(),
			Test: func(ctx context.Context, t deliver.Test) error {
				payload, err := t.Payload()
				if err != nil {
					return err
				}
				return tests.Invoke(ctx, payload)
			},
		},
		Webhooks: &api.Webhooks{
			Endpoints: &webhook.Endpoints{
				Outbox: webhook.Outbox{Store: store, Now: time.Now, Invoke: tests.Invoke}, NewID: uuid.NewString,
				Master: func(ctx context.Context) (webhook.Master, error) { return cloud.MasterOf(ctx, master) },
			},
			CheckURL: outbound.Config{Own: s.PushService(), Ports: webhook.Ports()}.Check,
		},
		Values: trees, Plans: plan.New(publisher, trees, time.Now, uuid.NewString),
		Watches:    watch.New(store, push.PlaceOf(s.HintsRealtimeHost, s.HintsHost), time.Now),
		Fence:      fence.New(tables, s),
		Accounts:   account.New(account.Config{Store: store, Objects: copies, Pepper: s.Pepper(), Now: time.Now}),
		SignedInAt: api.SignedInAt, Scopes: s.ScopeList(), FeedOrigin: s.FeedOrigin, Edge: len(s.EdgeSecrets()) > 0,
		Exports: transfer.NewJobs(transfer.JobsConfig{
			Store: store, Now: time.Now, NewID: uuid.NewString, Limits: s.Numbers(), Objects: copies,
		}),
		Authenticate: api.SubjectForm(s.Subjects()).Authenticate, Observe: observe,
		LogOneReadIn: api.ReadsALine,
		Limits:       limit.Config{Store: store, Now: time.Now, Draw: mathrand.Float64, Numbers: s.Numbers()},
		Log:          log, Now: time.Now, NewID: uuid.NewString,
	})
	check := bearer.New(bearer.Config{Issuer: s.Issuer, Audience: s.AudienceList(), Now: time.Now}).Claims
	handler := boot.Answering(endpoint.Commands(commands, endpoint.Front(s, observe, commands), check))
	return boot.Metered(handler, s.Function, tables.Meter(string(s.Function)), metrics), nil
}
