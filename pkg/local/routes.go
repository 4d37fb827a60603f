package local

import (
	"crypto/rand"
	mathrand "math/rand/v2"
	"net/http"
	"time"

	"github.com/google/uuid"

	"nexus/pkg/api"
	"nexus/pkg/api/docs"
	"nexus/pkg/archive"
	"nexus/pkg/calendar"
	"nexus/pkg/command"
	"nexus/pkg/query"
	"nexus/pkg/revision"
	"nexus/pkg/revision/plan"
	"nexus/pkg/revision/values"
	"nexus/pkg/table"
	"nexus/pkg/text"
)

// routes is the whole surface: the API as it is deployed, its documentation page, and /dev/.
func (p *Platform) routes(store table.Store, archiving archive.Config) (http.Handler, error) {
	page, err := docs.New(api.Document(p.registry))
	if err != nil {
		return nil, err
	}
	archiving.Store = store
	publisher := revision.NewPublisher(revision.Config{
		Store: store, Now: p.clock.Now, NewID: uuid.NewString,
		// in the engine that is a child of this process
		LoadInTransactions: p.options.Store == DynamoDB && p.options.Endpoint == "",
	})
	trees := values.New(publisher, uuid.NewString)
	surface := api.New(api.Config{
		Document: api.Document,
		Registry: p.registry,
		Commands: command.New(command.Config{
			Store: store, Registry: p.registry, Now: p.clock.Now, NewID: uuid.NewString,
			Pause: command.RandomPause(mathrand.Float64, time.Now), // real: a moved clock moves no pause
		}),
		Queries: query.New(query.Config{Store: store, Registry: p.registry, Now: p.clock.Now, Fold: text.Fold}),
		Archive: archive.New(archiving),
		Calendar: calendar.New(calendar.Config{
			Store: store, Registry: p.registry, Now: p.clock.Now, Random: rand.Reader,
		}),
		Values:       trees,
		Plans:        plan.New(publisher, trees, p.clock.Now, uuid.NewString),
		Authenticate: p.authenticate(),
		Origins:      p.options.Origins,
		Docs:         page,
		Log:          p.log.With("part", "api"), Now: time.Now, NewID: uuid.NewString,
	})
	mux := http.NewServeMux()
	guard := doors{p.options.AllowHosts}
	mux.Handle("/dev/", guard.inner(p.devRoutes()))
	mux.Handle("GET /{$}", http.RedirectHandler("/docs", http.StatusFound))
	mux.Handle("/", surface)
	return timely(guard.outer(fewLarge(mux))), nil
}

// authenticate tells the user by the bearer token. On this machine everybody is believed; from elsewhere the token has
// to have the secret of this start, too.
func (p *Platform) authenticate() func(*http.Request) (string, bool) {
	if p.token == "" {
		return api.BearerIsUser
	}
	return bearerWithToken(p.token)
}
