package main

import (
	"crypto/rand"
	mathrand "math/rand/v2"
	"time"

	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/uuid"

	"nexus/functions/internal/cloud"
	"nexus/pkg/account"
	"nexus/pkg/archive"
	"nexus/pkg/blob/s3"
	"nexus/pkg/calendar"
	"nexus/pkg/command"
	"nexus/pkg/deploy/env"
	"nexus/pkg/product"
	"nexus/pkg/revision"
	"nexus/pkg/revision/plan"
	"nexus/pkg/revision/values"
	"nexus/pkg/transfer"
)

// newExporter returns what carries out exports.
func newExporter(s env.Settings, tables *cloud.Tables) (*transfer.Worker, error) {
	objects, err := s3.New(awss3.NewFromConfig(cloud.Config(s.AWS, env.S3)), s3.Config{Bucket: s.ArchiveBucket})
	if err != nil {
		return nil, err
	}
	registry, store := product.Registry(), tables.StoreFor(string(s.Function))
	publisher := revision.NewPublisher(revision.Config{Store: store, Now: time.Now, NewID: uuid.NewString})
	trees := values.New(publisher, uuid.NewString)
	states := account.NewFence(account.FenceConfig{Store: store, Pepper: s.Pepper(), Now: time.Now})
	return transfer.NewWorker(transfer.WorkerConfig{
		Service: transfer.New(transfer.Config{
			Store: store, Registry: registry, Now: time.Now,
			Archive: archive.New(archive.Config{Store: store, Registry: registry, Copies: objects, Now: time.Now}),
			Values:  trees, Plans: plan.New(publisher, trees, time.Now, uuid.NewString),
			Calendar: calendar.New(calendar.Config{Store: store, Registry: registry, Now: time.Now, Random: rand.Reader}),
			Pause:    command.RandomPause(mathrand.Float64, time.Now), Fence: states.RefuseGone,
		}),
		Objects: objects, NewID: uuid.NewString, Abandoned: transfer.Abandoned,
	}), nil
}
