package api_test

import (
	"net/http"
	"time"

	"nexus/pkg/archive"
	busmemory "nexus/pkg/bus/memory"
	"nexus/pkg/change"
	"nexus/pkg/product"
)

// expired brings a reminder of ann's through the archive: completed, copied, past its ttl, and swept. Its id stays in
// the list of cold copies.
func (b *fixture) expired() string { return b.expiredOf("ann") }

func (b *fixture) expiredOf(user string) string {
	b.t.Helper()
	id := b.want(201, post("/v1/reminders",
		`{"title":"Left","triggerUtc":"2026-03-01T00:00:00Z","tzid":"UTC"}`).by(user)).text("reminderId")
	b.want(200, request{method: http.MethodPost, path: "/v1/reminders/" + id + "/complete", user: user})
	b.archiveAll()
	b.advance(25 * time.Hour)
	b.store.Sweep(b.clock(), 0)
	return id
}

// archiveAll hands every record of the stream to the archive's consumer.
func (b *fixture) archiveAll() {
	b.t.Helper()
	cfg := b.archive
	cfg.Bus = busmemory.New(nil)
	consumer := archive.NewConsumer(cfg)
	shards, err := b.store.Feed().Shards(b.t.Context())
	b.NoError(err)
	for _, shard := range shards {
		slice, err := b.store.Feed().Read(b.t.Context(), shard.ID, "", 10_000)
		b.NoError(err)
		for _, record := range slice.Records {
			c, err := change.Interpret(product.Registry(), record)
			b.NoError(err)
			if c.Type != nil {
				b.NoError(consumer.Apply(b.t.Context(), []change.Change{c})[0].Err)
			}
		}
	}
}
