package local

import (
	"net/http"
	"sync"
	"time"

	"nexus/pkg/account"
	"nexus/pkg/api"
	"nexus/pkg/api/docs"
	"nexus/pkg/console"
	"nexus/pkg/local/pushservice"
	"nexus/pkg/product"
	pushlocal "nexus/pkg/push/local"
)

// The pages are the same for every platform of a process without types of its own. They take longer to make than all
// else of a start.
var (
	productPage = sync.OnceValues(func() (http.Handler, error) { return docs.New(api.Document(product.Registry())) })
	consolePage = sync.OnceValues(console.New)
)

// docsPage returns the documentation of the platform's entity types.
func (p *Platform) docsPage() (http.Handler, error) {
	if len(p.options.Types) > 0 {
		return docs.New(api.Document(p.registry))
	}
	return productPage()
}

// routes returns the whole surface: the API as it is deployed, its documentation page, and /dev/.
func (p *Platform) routes() (http.Handler, error) {
	page, err := p.docsPage()
	if err != nil {
		return nil, err
	}
	surface := p.system.API(api.Config{
		Authenticate: p.authenticate(), Origins: p.options.Origins, Docs: page, Now: time.Now,
		FeedOrigin: p.feedOrigin(), Remains: account.LocalPeriods(),
		SignedInAt: func(*http.Request) time.Time { return time.Now() }, // each token here is of a user who is there
	})
	mux := http.NewServeMux()
	guard := doors{p.options.AllowHosts}
	mux.Handle("/dev/", guard.inner(p.devRoutes()))
	if p.seen != nil {
		seeing, err := consolePage()
		if err != nil {
			return nil, err
		}
		mux.Handle(console.Path, guard.inner(seeing))
		mux.Handle(console.Path+"/", guard.inner(seeing))
	}
	mux.Handle("GET /{$}", http.RedirectHandler("/docs", http.StatusFound))
	mux.Handle(pushservice.Path, guard.inner(p.pushes.service))
	mux.Handle(pushlocal.Path, p.hints.service)
	mux.Handle("GET "+linksPath+"{name...}", p.others.counting(http.HandlerFunc(p.exports.links.getFile)))
	mux.Handle("/", p.others.counting(p.seen.counting(surface)))
	return withBodyDeadline(guard.outer(fewLarge(mux))), nil
}

// feedOrigin returns the origin of the addresses of calendars. A system that others reach does not know their name for
// it.
func (p *Platform) feedOrigin() string {
	if p.options.Expose {
		return ""
	}
	return "http://" + p.address
}

// authenticate determines the user by the bearer token. On this machine every token is trusted; from elsewhere it must
// also contain the secret of this start.
func (p *Platform) authenticate() func(*http.Request) (string, bool) {
	if p.token == "" {
		return api.BearerIsUser
	}
	return bearerWithToken(p.token)
}
