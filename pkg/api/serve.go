package api

import (
	"context"
	"errors"
	"net/http"
	"path"
	"runtime/debug"
	"strconv"
	"strings"

	"nexus/pkg/entity"
	"nexus/pkg/mask"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// maxPath bounds the path, in bytes.
const maxPath = 1 << 10

// ServeHTTP implements http.Handler.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{
		ResponseWriter: w, api: a, begun: a.cfg.Now(), bare: r.Method == http.MethodHead,
	}
	x.requestID, x.chosenID = a.requestID(r.Header)
	r = r.WithContext(mask.With(r.Context()))
	defer x.finish(r)
	h := w.Header()
	h.Set(headerRequestID, x.requestID)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	a.allowOrigin(h, r)
	if p := checkHeaders(r.Header); p != nil {
		x.refuse(p)
		return
	}
	if !isClean(r) {
		// The mux would redirect; no id is made of such a path.
		x.writeNotFound(r)
		return
	}
	a.mux.ServeHTTP(x, r)
}

// isClean reports whether the mux accepts the path without a redirect.
func isClean(r *http.Request) bool {
	escaped := r.URL.EscapedPath()
	return len(escaped) <= maxPath && strings.HasPrefix(escaped, "/") && r.RequestURI != "*" &&
		(path.Clean(escaped) == escaped || path.Clean(escaped)+"/" == escaped)
}

// routes makes the mux: one handler for each path, with all its methods.
func (a *API) routes() *http.ServeMux {
	mux := http.NewServeMux()
	byPath := map[string]route{}
	for _, o := range a.operations {
		methods := byPath[o.path]
		if methods == nil {
			methods = route{}
			byPath[o.path] = methods
		}
		if methods[o.method] != nil {
			panic("api: " + o.method + " " + o.path + " is claimed by " + methods[o.method].id + " and " + o.id)
		}
		methods[o.method] = o
		if o.reads() {
			methods[http.MethodHead] = o
		}
	}
	for pattern, methods := range byPath {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			a.serveRoute(w.(*exchange), r, pattern, methods)
		})
	}
	if a.cfg.Docs != nil {
		a.mountDocs(mux)
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { w.(*exchange).writeNotFound(r) })
	return mux
}

// mountDocs mounts the page at /docs, and redirects the types of problems to their place on it.
func (a *API) mountDocs(mux *http.ServeMux) {
	serve := func(w http.ResponseWriter, r *http.Request) {
		x := w.(*exchange)
		x.route = "/docs"
		a.cfg.Docs.ServeHTTP(x, r)
	}
	mux.HandleFunc("GET /docs", serve)
	mux.HandleFunc("GET /docs/", serve)
	for _, k := range problemKinds() {
		mux.HandleFunc("GET "+k.uri(), func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/docs#"+k.slug, http.StatusFound)
		})
	}
}

// route holds the operations of one path, by method.
type route map[string]*operation

// allowed returns the value of Allow, in a stable order.
func (methods route) allowed() string {
	var names []string
	for _, m := range []string{
		http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
	} {
		if methods[m] != nil {
			names = append(names, m)
		}
	}
	return strings.Join(names, ", ")
}

// open reports whether the path may be revealed to an unauthenticated client.
func (methods route) open() bool {
	for _, o := range methods {
		if !o.open {
			return false
		}
	}
	return true
}

func (a *API) serveRoute(x *exchange, r *http.Request, pattern string, methods route) {
	x.route = pattern
	if isPreflight(r) {
		x.answerPreflight(methods)
		return
	}
	o := methods[r.Method]
	if o != nil && a.serves(o) {
		x.operation = o.id
	}
	user := ""
	if !methods.open() || claimsOf(r).Refused != nil {
		var p *Problem
		if user, p = a.authenticate(r); p != nil {
			x.refuse(p)
			return
		}
	}
	x.serves(r, user)
	eraseAt, err := a.askFence(r.Context(), user, o)
	if err != nil {
		x.refuse(problemOf(err))
		return
	}
	if user != "" {
		x.spending.limiter, x.spending.user = a.cfg.limiter, user
	}
	if err := x.spending.admit(r.Context(), o != nil && o.pays); err != nil {
		x.refuse(problemOf(err))
		return
	}
	switch {
	case o == nil:
		x.refuse(
			refuse(methodNotAllowed, "%s is not a method of this resource.", shorten(r.Method)).with("Allow", methods.allowed()))
		return
	case !a.serves(o):
		x.refuse(refuse(notFound, "There is no such resource."))
		return
	}
	c, p := o.readCall(r, user)
	if p != nil {
		x.closeSpending(r.Context())
		x.refuse(p)
		return
	}
	c.eraseAt = eraseAt
	if o.asksSignIn && a.cfg.SignedInAt != nil {
		c.signedInAt = a.cfg.SignedInAt(r)
	}
	ctx := r.Context()
	if x.spending.limiter != nil {
		c.limited, c.spending = true, &x.spending
		ctx = table.WithTally(ctx, &x.spending.tally)
	}
	out, err := a.perform(ctx, o, c)
	x.closeSpending(r.Context())
	switch {
	case err != nil && out.status == 0:
		x.refuse(problemOf(err))
	default:
		x.err = errors.Join(x.err, err)
		x.answer(r, o, out)
	}
}

// closeSpending counts what the request has cost, and tells the client what is left.
func (x *exchange) closeSpending(ctx context.Context) {
	if err := x.spending.close(ctx); err != nil {
		x.err = errors.Join(x.err, err)
	}
	if x.spending.state != nil {
		setRate(x.Header(), *x.spending.state)
	}
}

// readCall reads the whole request before anything is done.
func (o *operation) readCall(r *http.Request, user string) (call, *Problem) {
	c := call{user: user, path: map[string]string{}}
	for _, name := range o.pathNames() {
		c.path[name] = r.PathValue(name)
	}
	var p *Problem
	if c.query, p = o.readQuery(r.URL.RawQuery); p != nil {
		return call{}, p
	}
	if o.writes {
		if p := checkWriteHeaders(r.Header); p != nil {
			return call{}, p
		}
		if c.expected, p = o.expectedVersion(r.Header); p != nil {
			return call{}, p
		}
		// An operation whose version is optional checks none for If-Match: *.
		c.anyVersion = r.Header.Get("If-Match") == anyTag && o.precondition != mayHaveVersion
		if c.key, p = idempotencyKey(r.Header); p != nil {
			return call{}, p
		}
	}
	if o.body != nil && o.body.media != "" {
		c.text, p = o.readText(r)
		return c, p
	}
	c.doc, p = o.readBody(r)
	return c, p
}

// perform carries an operation out. The error is a refusal, unless there is an answer beside it: then it is for the
// log.
func (a *API) perform(ctx context.Context, o *operation, c call) (out answer, err error) {
	defer func() {
		if v := recover(); v != nil {
			out, err = answer{}, &panicError{v, debug.Stack()}
		}
	}()
	if p := o.check(&c); p != nil {
		return answer{}, p
	}
	switch o.id {
	case batchID:
		return a.runBatch(ctx, c)
	case documentID:
		return answer{status: http.StatusOK, body: a.document().text}, nil
	}
	if err := a.room(ctx, o, c); err != nil {
		return answer{}, err
	}
	out, err = o.run(ctx, &a.cfg, c)
	if err != nil {
		return answer{}, a.unlessGone(ctx, c, err)
	}
	return out, nil
}

// answer writes the result of an operation.
func (x *exchange) answer(r *http.Request, o *operation, out answer) {
	h := x.Header()
	if out.replayed {
		h.Set(headerReplayed, "true")
	}
	if o.lags && x.api.cfg.Edge {
		h.Set(headerEffective, strconv.Itoa(int(FeedEffective.Seconds())))
	}
	if out.rate != nil {
		setRate(h, *out.rate)
	}
	if out.location != "" {
		h.Set("Location", out.location)
	}
	if x.traces = out.traces; len(x.traces) > 0 && o.id != batchID {
		h.Set(headerTraceID, x.traces[len(x.traces)-1])
	}
	if out.calendar != nil {
		x.answerCalendar(r, out.calendar)
		return
	}
	if o.isList() {
		x.answerList(r, out)
		return
	}
	switch { // what is open belongs to no user, and a cache may store it
	case o.maxAge > 0:
		h.Set("Cache-Control", "public, max-age="+strconv.Itoa(int(o.maxAge.Seconds())))
	case o.open:
		h.Set("Cache-Control", "no-cache") // if it asks again
	}
	tag, whole := x.tagOf(o, out)
	if tag != "" {
		h.Set("ETag", tag)
	}
	if o.reads() && whole && noneMatch(r.Header, tag) {
		x.write(http.StatusNotModified, "", nil)
		return
	}
	content := out.json()
	if !o.open { // the tag of one that caches may share names one encoding
		content = x.encode(r, content)
	}
	x.write(out.status, jsonType, content)
}

// tagOf returns the answer's entity tag, and whether it names the whole representation, so that a client with the tag
// has the same one. For an entity it is the version, which writes use, with marks of changes without a new version.
// Statistics, and the fields that a series and its occurrences take from each other, have no marks.
func (x *exchange) tagOf(o *operation, out answer) (tag string, whole bool) {
	switch {
	case o.id == documentID:
		return x.api.document().tag, true
	case out.revID != "":
		return `"` + out.revID + `"`, true // a revision never changes
	case out.item == nil && out.version > 0:
		return entityTag(out.version), false
	case out.item == nil:
		return "", false
	}
	return markedTag(out.item, movedByTime(out)), out.typ.HasCollection() && !out.typ.OwnCommands
}

// movedByTime reports whether time has changed the shown entity since its last write: it was archived at a later time.
func movedByTime(out answer) bool {
	archived, ok := out.item.Time(product.AttrArchivedAt)
	updated, _ := out.item.Time(entity.AttrUpdatedAt)
	return ok && out.typ.View != nil && archived.After(updated)
}

// write sends the whole answer.
func (x *exchange) write(status int, contentType string, content []byte) {
	h := x.Header()
	if content != nil {
		h.Set("Content-Type", contentType)
		h.Set("Content-Length", strconv.Itoa(len(content)))
	}
	x.WriteHeader(status)
	if content != nil && !x.bare {
		_, _ = x.Write(content) // an error means that the client has disconnected
	}
}

// refuse sends a problem.
func (x *exchange) refuse(p *Problem) {
	for name, values := range p.header {
		x.Header()[name] = values
	}
	if p.cause != nil {
		x.err = errors.Join(x.err, p.cause)
	}
	x.write(p.Status, problemType, p.json())
}

// writeNotFound answers a request for an unknown path: 404 for an authenticated user and for a browser's preflight,
// which comes without authentication; 401 for any other client.
func (x *exchange) writeNotFound(r *http.Request) {
	if isPreflight(r) {
		x.refuse(refuse(notFound, "There is no such resource."))
		return
	}
	user, p := x.api.authenticate(r)
	if p == nil {
		x.serves(r, user)
		p = refuse(notFound, "There is no such resource.")
	}
	x.refuse(p)
}
