package api_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/account"
	"nexus/pkg/api"
	"nexus/pkg/archive"
	blobmemory "nexus/pkg/blob/memory"
	"nexus/pkg/calendar"
	"nexus/pkg/command"
	"nexus/pkg/deliver"
	"nexus/pkg/mask"
	"nexus/pkg/pepper/peppertest"
	"nexus/pkg/product"
	"nexus/pkg/push"
	"nexus/pkg/query"
	"nexus/pkg/revision"
	"nexus/pkg/revision/plan"
	"nexus/pkg/revision/values"
	"nexus/pkg/table/memory"
	"nexus/pkg/text/fold"
	"nexus/pkg/text/words"
	"nexus/pkg/transfer"
	"nexus/pkg/watch"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// fixture is the surface over a store in memory.
type fixture struct {
	*require.Assertions
	t        *testing.T
	api      *api.API
	exchange func(*http.Request) *httptest.ResponseRecorder // inProcess or overHTTP
	store    *memory.Store
	copies   *blobmemory.Store
	archive  archive.Config
	seen     *observations
	log      *lockedBuffer

	mu    sync.Mutex
	now   time.Time
	ids   int
	fault func(memory.Call) error
	tests []deliver.Test // that devices were to get
}

type observations struct {
	mu  sync.Mutex
	all []api.Observation
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func setup(t *testing.T, change ...func(*api.Config)) *fixture {
	t.Helper()
	b := &fixture{Assertions: require.New(t), t: t, now: noon, seen: &observations{}, log: &lockedBuffer{}}
	registry := product.Registry()
	b.store = memory.New(b.clock, memory.Options{Fault: func(c memory.Call) error {
		b.mu.Lock()
		fault := b.fault
		b.mu.Unlock()
		if fault == nil {
			return nil
		}
		return fault(c)
	}, Witnessed: true})
	t.Cleanup(func() { require.Empty(t, b.store.Tampered(), "what was read is not to be changed") })
	b.copies = blobmemory.New(nil)
	b.archive = archive.Config{Store: b.store, Registry: registry, Copies: b.copies, Now: b.clock}
	c := api.Config{
		Document:     api.Document,
		Registry:     registry,
		Archive:      archive.New(b.archive),
		Authenticate: api.BearerIsUser,
		Log:          slog.New(mask.New(slog.NewJSONHandler(b.log, nil), peppertest.Fixed(t))),
		Observe: func(o api.Observation) {
			b.seen.mu.Lock()
			defer b.seen.mu.Unlock()
			b.seen.all = append(b.seen.all, o)
		},
		Accounts: account.New(account.Config{
			Store: b.store, Objects: b.copies, Pepper: peppertest.Fixed(t), Now: b.clock,
		}),
		Exports: transfer.NewJobs(transfer.JobsConfig{
			Store: b.store, Now: b.clock, NewID: b.newID, Objects: b.copies, Links: links{b},
		}),
		Notifications: b.notifications(),
		Webhooks:      b.webhooks(),
		SignedInAt:    func(*http.Request) time.Time { return b.clock() },
		Now:           b.clock,
		NewID:         b.newID,
	}
	for _, f := range change {
		f(&c)
	}
	if c.Limits.Numbers != nil {
		c.Limits.Store, c.Limits.Now = b.store, b.clock
	}
	c.Commands = command.New(command.Config{
		Store: b.store, Registry: c.Registry, Now: b.clock, NewID: b.newID,
		Pause: func(context.Context, time.Duration) error { return nil },
	})
	if c.Calendar == nil {
		c.Calendar = calendar.New(calendar.Config{Store: b.store, Registry: c.Registry, Now: b.clock, Random: rand.Reader})
	}
	publisher := revision.NewPublisher(revision.Config{Store: b.store, Now: b.clock, NewID: b.newID})
	c.Values = values.New(publisher, b.newID)
	c.Plans = plan.New(publisher, c.Values, b.clock, b.newID)
	c.Watches = watch.New(b.store, push.Place{URL: "wss://r.example/event/realtime", Host: "h.example"}, b.clock)
	c.Queries = query.New(query.Config{
		Store: b.store, Registry: c.Registry, Now: b.clock, Fold: fold.String,
		Searching: &query.Searching{Split: words.Split},
	})
	b.api = api.New(c)
	b.exchange = b.inProcess
	return b
}

func (b *fixture) clock() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.now
}

func (b *fixture) advance(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = b.now.Add(d)
}

func (b *fixture) failWith(fault func(memory.Call) error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fault = fault
}

func (b *fixture) newID() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ids++
	return uuid(b.ids)
}

func uuid(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }

// request is one request; a zero field is left out.
type request struct {
	method, path string
	user         string // "-" for a request without a user
	body         string
	header       map[string]string
}

// response is an answer, read.
type response struct {
	*httptest.ResponseRecorder
	doc map[string]any
}

func (b *fixture) do(r request) response {
	b.t.Helper()
	var content io.Reader
	if r.body != "" {
		content = strings.NewReader(r.body)
	}
	req := httptest.NewRequest(r.method, r.path, content)
	if r.body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	switch r.user {
	case "-":
	case "":
		req.Header.Set("Authorization", "Bearer ann")
	default:
		req.Header.Set("Authorization", "Bearer "+r.user)
	}
	for name, value := range r.header {
		req.Header.Set(name, value)
	}
	return b.serve(req)
}

// inProcess calls the handler: with it a test can send what no client of net/http would.
func (b *fixture) inProcess(req *http.Request) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	b.api.ServeHTTP(rec, req)
	return rec
}

// overHTTP has every request from here on go through a connection to a server.
func (b *fixture) overHTTP() {
	served := make(chan struct{}, 1) // a client may have its answer before the handler has reported what it observed
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() { served <- struct{}{} }()
		b.api.ServeHTTP(w, r)
	}))
	b.t.Cleanup(server.Close)
	b.exchange = func(req *http.Request) *httptest.ResponseRecorder {
		sent := req.Clone(b.t.Context())
		sent.URL.Scheme, sent.URL.Host, sent.RequestURI = "http", server.Listener.Addr().String(), ""
		answer, err := server.Client().Transport.RoundTrip(sent) // no redirect is followed
		b.NoError(err)
		rec := httptest.NewRecorder()
		maps.Copy(rec.Header(), answer.Header)
		rec.WriteHeader(answer.StatusCode)
		_, err = io.Copy(rec, answer.Body)
		b.NoError(err)
		b.NoError(answer.Body.Close())
		<-served
		return rec
	}
}

// plain is the body without its encoding.
func (b *fixture) plain(rec *httptest.ResponseRecorder) []byte {
	if rec.Header().Get("Content-Encoding") != "gzip" {
		return rec.Body.Bytes()
	}
	reader, err := gzip.NewReader(bytes.NewReader(rec.Body.Bytes()))
	b.NoError(err)
	text, err := io.ReadAll(reader)
	b.NoError(err)
	return text
}

func (b *fixture) serve(req *http.Request) response {
	b.t.Helper()
	rec := b.exchange(req)
	res := response{ResponseRecorder: rec}
	if strings.Contains(rec.Header().Get("Content-Type"), "json") && rec.Body.Len() > 0 {
		b.NoError(json.Unmarshal(b.plain(rec), &res.doc), rec.Body.String())
	}
	b.checkDocumented(req, res)
	return res
}

// want does a request and expects the status.
func (b *fixture) want(status int, r request) response {
	b.t.Helper()
	res := b.do(r)
	b.Equal(status, res.Code, "%s %s: %s", r.method, r.path, res.Body)
	if status >= 400 {
		b.Equal("application/problem+json", res.Header().Get("Content-Type"))
		b.Equal(float64(status), res.doc["status"])
		b.Equal([]string{"detail", "status", "title", "type"},
			slices.DeleteFunc(slices.Sorted(maps.Keys(res.doc)), func(name string) bool {
				return slices.Contains([]string{
					"errors", "currentVersion", "current", "currentOmitted", "currentRevId", "reason", "prunedUntil",
					"eraseAt", "retryAfter"},
					name)
			}))
	}
	return res
}

func (r response) text(name string) string { s, _ := r.doc[name].(string); return s }

// problem is the type of a problem without what all begin with.
func (r response) problem() string { return strings.TrimPrefix(r.text("type"), "/problems/") }

// pointers are the places of a problem's errors.
func (r response) pointers() []string {
	var out []string
	list, _ := r.doc["errors"].([]any)
	for _, e := range list {
		out = append(out, e.(map[string]any)["pointer"].(string))
	}
	return out
}

func (r response) items() []map[string]any {
	var out []map[string]any
	list, _ := r.doc["items"].([]any)
	for _, e := range list {
		out = append(out, e.(map[string]any))
	}
	return out
}

func post(path, body string) request { return request{method: http.MethodPost, path: path, body: body} }
func get(path string) request        { return request{method: http.MethodGet, path: path} }

func patch(path, body string, version int) request {
	return request{method: http.MethodPatch, path: path, body: body, header: ifMatch(version)}
}

func ifMatch(version int) map[string]string {
	return map[string]string{"If-Match": fmt.Sprintf("%q", fmt.Sprint(version))}
}

func (r request) by(user string) request { r.user = user; return r }

func (r request) with(name, value string) request {
	header := maps.Clone(r.header)
	if header == nil {
		header = map[string]string{}
	}
	header[name] = value
	r.header = header
	return r
}
