package main

import (
	"crypto/rand"
	mathrand "math/rand/v2"
	"time"

	"github.com/google/uuid"

	"nexus/pkg/account"
	"nexus/pkg/archive"
	"nexus/pkg/blob/s3"
	"nexus/pkg/calendar"
	"nexus/pkg/command"
	"nexus/pkg/deploy/env"
	"nexus/pkg/product"
	"nexus/pkg/revision/plan"
	"nexus/pkg/revision/values"
	"nexus/pkg/table"
	"nexus/pkg/transfer"
)

// newExporter returns what carries out exports.
func newExporter(
	s env.Settings, store table.Store, objects *s3.Store, trees *values.Service, plans *plan.Service,
) *transfer.Worker {
	registry := product.Registry()
	states := account.NewFence(account.FenceConfig{Store: store, Pepper: s.Pepper(), Now: time.Now})
	return transfer.NewWorker(transfer.WorkerConfig{
		Service: transfer.New(transfer.Config{
			Store: store, Registry: registry, Now: time.Now,
			Archive: archive.New(archive.Config{Store: store, Registry: registry, Copies: objects, Now: time.Now}),
			Values:  trees, Plans: plans,
			Calendar: calendar.New(calendar.Config{Store: store, Registry: registry, Now: time.Now, Random: rand.Reader}),
			Pause:    command.RandomPause(mathrand.Float64, time.Now), Fence: states.RefuseGone,
		}),
		Objects: objects, NewID: uuid.NewString, Abandoned: transfer.Abandoned,
	})
}
