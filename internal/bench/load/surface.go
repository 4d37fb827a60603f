package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/google/uuid"

	"nexus/pkg/api"
	"nexus/pkg/archive"
	blobmemory "nexus/pkg/blob/memory"
	buslocal "nexus/pkg/bus/local"
	"nexus/pkg/calendar"
	"nexus/pkg/entity"
	"nexus/pkg/query"
	"nexus/pkg/revision"
	"nexus/pkg/revision/plan"
	"nexus/pkg/revision/values"
	"nexus/pkg/table"
	"nexus/pkg/text"
)

// surface is the query function's HTTP surface over a store, as it is deployed, without a connection before it.
func surface(store table.Store, registry *entity.Registry, now func() time.Time) (http.Handler, error) {
	bus, err := buslocal.New(buslocal.Config{})
	if err != nil {
		return nil, fmt.Errorf("bus: %w", err)
	}
	publisher := revision.NewPublisher(revision.Config{Store: store, Now: now, NewID: uuid.NewString})
	trees := values.New(publisher, uuid.NewString)
	return api.New(api.Config{
		Document: api.Document,
		Registry: registry, Part: api.OnlyQueries,
		Queries: query.New(query.Config{Store: store, Registry: registry, Now: now, Fold: text.Fold}),
		Archive: archive.New(archive.Config{
			Store: store, Registry: registry, Copies: blobmemory.New(nil), Bus: bus, Now: now,
		}),
		Calendar: calendar.New(calendar.Config{Store: store, Registry: registry, Now: now, Random: rand.Reader}),
		Values:   trees, Plans: plan.New(publisher, trees, now, uuid.NewString),
		Authenticate: api.BearerIsUser, Log: slog.New(slog.DiscardHandler), Now: time.Now, NewID: uuid.NewString,
	}), nil
}

// answer is a ResponseWriter that counts.
type answer struct {
	header http.Header
	status int
	bytes  int
}

func (a *answer) Header() http.Header { return a.header }

func (a *answer) WriteHeader(status int) { a.status = status }

func (a *answer) Write(body []byte) (int, error) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	a.bytes += len(body)
	return len(body), nil
}

var errStatus = errors.New("unexpected status")

// ask has the handler answer one request of the user, and returns the answer's length.
func ask(ctx context.Context, h http.Handler, user, path string) (bytes int, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, path, nil)
	if err != nil {
		return 0, fmt.Errorf("request %s: %w", path, err)
	}
	r.RequestURI, r.Host = path, "localhost"
	r.Header.Set("Authorization", "Bearer "+user)
	a := answer{header: http.Header{}}
	h.ServeHTTP(&a, r)
	if a.status != http.StatusOK {
		return 0, fmt.Errorf("%w %d of %s", errStatus, a.status, path)
	}
	return a.bytes, nil
}
