package main

import (
	"crypto/rand"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"nexus/pkg/api"
	"nexus/pkg/archive"
	blobmemory "nexus/pkg/blob/memory"
	buslocal "nexus/pkg/bus/local"
	"nexus/pkg/calendar"
	"nexus/pkg/product"
	"nexus/pkg/query"
	"nexus/pkg/revision"
	"nexus/pkg/revision/plan"
	"nexus/pkg/revision/values"
	"nexus/pkg/table"
	"nexus/pkg/text/fold"
)

// surface is the query function's HTTP surface over a store, as it is deployed, without a connection before it.
func surface(tb testing.TB, store table.Store) http.Handler {
	tb.Helper()
	registry := product.Registry()
	bus, err := buslocal.New(buslocal.Config{})
	require.NoError(tb, err)
	publisher := revision.NewPublisher(revision.Config{Store: store, Now: now, NewID: uuid.NewString})
	trees := values.New(publisher, uuid.NewString)
	return api.New(api.Config{
		Document: api.Document,
		Registry: registry, Part: api.OnlyQueries,
		Queries: query.New(query.Config{Store: store, Registry: registry, Now: now, Fold: fold.String}),
		Archive: archive.New(archive.Config{
			Store: store, Registry: registry, Copies: blobmemory.New(nil), Bus: bus, Now: now,
		}),
		Calendar: calendar.New(calendar.Config{Store: store, Registry: registry, Now: now, Random: rand.Reader}),
		Values:   trees, Plans: plan.New(publisher, trees, now, uuid.NewString),
		Authenticate: api.BearerIsUser, Log: slog.New(slog.DiscardHandler), Now: time.Now, NewID: uuid.NewString,
	})
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
	a.bytes += len(body)
	return len(body), nil
}

// ask has the handler answer one request of the user, and returns the answer's length.
func ask(tb testing.TB, h http.Handler, user, path string) int {
	tb.Helper()
	r, err := http.NewRequestWithContext(tb.Context(), http.MethodGet, path, nil)
	require.NoError(tb, err)
	r.RequestURI, r.Host = path, "localhost"
	r.Header.Set("Authorization", "Bearer "+user)
	a := answer{header: http.Header{}, status: http.StatusOK}
	h.ServeHTTP(&a, r)
	if a.status != http.StatusOK {
		tb.Fatalf("%s: %d", path, a.status)
	}
	return a.bytes
}
