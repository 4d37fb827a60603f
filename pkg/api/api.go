package api

import (
	"log/slog"
	"net/http"
	"sync"
	"time"

	"nexus/pkg/account"
	"nexus/pkg/archive"
	"nexus/pkg/calendar"
	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/limit"
	"nexus/pkg/revision/plan"
	"nexus/pkg/revision/values"
	"nexus/pkg/watch"
)

// Side is the part of the surface that a handler serves; it answers 404 for the rest.
type Side int

const (
	// SideAll is for one process that serves both sides.
	SideAll Side = iota
	// SideCommands serves the operations that change something: the command function.
	SideCommands
	// SideQueries serves the operations that read, and the document: the query function.
	SideQueries
)

// Config holds the dependencies of an [API]. All but Side, Origins, Docs, Observe and Limits are required. Commands are
// and Watches are required for the command side, Queries and Document for the rest.
type Config struct {
	Registry *entity.Registry
	Commands *command.Service
	Queries  Queries
	Archive  *archive.Archive
	Calendar *calendar.Service
	Values   *values.Service
	Plans    *plan.Service
	// Watches records open apps; the command side requires it.
	Watches *watch.Service
	Side    Side
	// Authenticate returns the id of the user who sent the request, and false without one. A malformed id counts as none.
	Authenticate func(*http.Request) (userID string, ok bool)
	// Origins are the origins whose pages may call the API from a browser, each as [CheckOrigin] accepts it; empty allows
	// none.
	Origins []string
	// Scopes are those one of which a token needs for anything but an open operation; empty for tokens without scopes.
	Scopes []string
	// FeedOrigin is the origin of the addresses of calendars: https://, and the name by which the service is reached for
	// years. Empty for a service that does not know it.
	FeedOrigin string
	// Edge says that a cache in front of the service answers with calendars at their secret addresses for [FeedCached].
	Edge bool
	// Document writes the OpenAPI document: [Document]. A handler of commands alone needs none, and then the binary does
	// not contain the writer of the document.
	Document func(*entity.Registry) []byte
	// Docs is mounted at /docs. Nil omits the page, and its assets from the binary.
	Docs http.Handler
	Log  *slog.Logger
	// LogOneReadIn is how many reads that succeed have a line of the log together: [ReadsALine] in a deployment. 0 and 1
	// log each. All other requests have a line each, and so has a read whose client chose its X-Request-Id.
	LogOneReadIn int
	// Observe receives each request once it is answered.
	Observe func(Observation)
	// Limits bound what one user may have and how fast one user may ask, over HTTP. Without a Store there are none.
	Limits limit.Config
	// Fence tells which accounts leave or are gone; nil for a system without.
	Fence Fence
	// Accounts lets accounts leave and return; nil for a system without.
	Accounts Accounts
	// Remains says what remains of an erased account; nil for [account.Periods].
	Remains []account.Period
	// Exports are those that users ask for; nil for a system without.
	Exports Exports
	// Notifications tell devices of reminders; nil for a system without.
	Notifications *Notifications
	// Webhooks are called with what happens to items; nil for a system without.
	Webhooks *Webhooks
	// SignedInAt returns when the user who sent the request signed in, zero if the token does not say; nil for never.
	SignedInAt func(*http.Request) time.Time
	// Now measures the duration of a request and the age of a sign-in; nothing else depends on it.
	Now func() time.Time
	// NewID returns a new id for a request without one.
	NewID func() string

	limiter *limit.Limiter
}

// ReadsALine is how many reads that succeed share one line of a deployment's log: with so many requests a tenth of them
// tells as much about times and operations as all would.
const ReadsALine = 10

// Observation is the data of one request for metrics.
type Observation struct {
	Operation string // the operation's id; empty if none was reached
	Status    int
	Duration  time.Duration
	// Unjudged says that the token could not be checked because its issuer does not give its keys ([Claims.Refused]): the
	// answer is 503, and no fault of the service.
	Unjudged bool
}

// API is the surface. It is safe for concurrent use.
type API struct {
	cfg        Config
	operations []*operation
	commands   map[string]*operation // by the type a batch names them with
	mux        *http.ServeMux
	document   func() document
}

var _ http.Handler = (*API)(nil)

// New returns the surface. It panics if a part of the Config is missing, or if two entity types claim one path:
// mistakes in the program.
func New(c Config) *API {
	switch {
	case c.Registry == nil || c.Archive == nil || c.Calendar == nil || c.Values == nil || c.Plans == nil,
		c.Authenticate == nil || c.Log == nil || c.Now == nil || c.NewID == nil:
		panic("api: a part of the Config is missing")
	case c.Side != SideQueries && (c.Commands == nil || c.Watches == nil),
		c.Side != SideCommands && (c.Queries == nil || c.Document == nil):
		panic("api: the service of a part that is served is missing")
	}
	for _, origin := range c.Origins {
		if err := CheckOrigin(origin); err != nil {
			panic("api: " + err.Error())
		}
	}
	if c.Observe == nil {
		c.Observe = func(Observation) {}
	}
	c.limiter = newLimiter(c.Limits)
	a := &API{cfg: c, operations: operations(c.Registry), commands: map[string]*operation{}}
	a.document = sync.OnceValue(func() document { return newDocument(c.Document(c.Registry)) })
	for _, o := range a.operations {
		if o.isCommand() {
			a.commands[o.commandType()] = o
		}
	}
	a.mux = a.routes()
	return a
}

// serves reports whether the handler's part has the operation.
func (a *API) serves(o *operation) bool {
	switch a.cfg.Side {
	case SideCommands:
		return o.writes || o.everywhere
	case SideQueries:
		return !o.writes
	}
	return true
}
