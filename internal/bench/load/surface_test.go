package load_test

import (
	"crypto/rand"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"nexus/pkg/api"
	blobmemory "nexus/pkg/blob/memory"
	busmemory "nexus/pkg/bus/memory"
	"nexus/pkg/product"
	queuememory "nexus/pkg/queue/memory"
	schedulememory "nexus/pkg/schedule/memory"
	"nexus/pkg/system"
	"nexus/pkg/table"
)

// assemble returns the system on a store. What it does outside the table is kept in memory.
func assemble(tb testing.TB, store table.Store) *system.System {
	tb.Helper()
	s, err := system.New(product.Registry(), system.Ports{
		Store: func(string) table.Store { return store }, Now: now, NewID: uuid.NewString, NewRevisionID: uuid.NewString,
		Random: rand.Reader, Scheduler: schedulememory.New(nil), Bus: busmemory.New(nil), Copies: blobmemory.New(nil),
		Queue: queuememory.New(nil),
	})
	require.NoError(tb, err)
	return s
}

// surface is the query function's HTTP surface over a store, as it is deployed, without a connection before it.
func surface(tb testing.TB, store table.Store) http.Handler {
	tb.Helper()
	return surfaceOf(assemble(tb, store))
}

func surfaceOf(s *system.System) http.Handler {
	return s.API(api.Config{Side: api.SideQueries, Authenticate: api.BearerIsUser, Now: time.Now})
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
