package simulate

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"nexus/pkg/api"
	"nexus/pkg/blob"
	"nexus/pkg/limit"
	"nexus/pkg/system"
	"nexus/pkg/table"
)

// door is the API as a client without any other right reaches it: over HTTP, where limits hold. It is one instance of
// the functions that serve it.
type door struct {
	*system.System
	api *api.API
}

// openDoor opens the API over HTTP where a user leaves or limits are played.
func (h *history) openDoor() {
	if h.leaver == nil && h.limits == nil {
		return
	}
	numbers, draw := limit.Default(), func() float64 { return 0 }
	if h.limits != nil {
		numbers, draw = h.limits.numbers, h.limits.draw
	}
	s := h.assemble(h.fenced(system.Ports{
		Store: func(part string) table.Store { return storePort{h, rightsOf(h.registry, part)} },
		Now:   h.clock, NewID: h.newID, NewRevisionID: h.newID, Pause: h.pause, Random: h.luck.bits(), Log: h.complaints,
		Copies: blobPort{h, h.copies}, Limits: numbers, Draw: draw,
		Exports: &system.Exports{Objects: blobPort{h, h.copies}, Links: links404{}, Abandoned: 15 * time.Minute},
	}))
	surface, _ := s.API(api.Config{Authenticate: api.BearerIsUser, Now: h.clock}).(*api.API)
	h.door = &door{s, surface}
}

// links404 makes addresses at which no file is served: what they serve is no part of the API.
type links404 struct{}

var _ blob.Linker = links404{}

// Link implements [blob.Linker].
func (links404) Link(_ context.Context, name, _ string, life time.Duration) (string, time.Time, error) {
	return "https://files.example/" + name, time.Time{}.Add(life), nil
}

// knock is a request over HTTP.
type knock struct {
	method, path, user string
	owner              string // of the calendar at the path, where no user is known; else empty
	body               string // empty for none
	version            *int64 // for If-Match
	key                string // of idempotency
}

// reply is its answer.
type reply struct {
	status  int
	header  http.Header
	body    bytes.Buffer
	problem struct {
		Type, Quota string
		Limit, Used int
		RetryAfter  int
	}
}

var _ http.ResponseWriter = (*reply)(nil)

// Header implements [http.ResponseWriter].
func (r *reply) Header() http.Header { return r.header }

// WriteHeader implements [http.ResponseWriter].
func (r *reply) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
}

func (r *reply) Write(part []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return r.body.Write(part)
}

// is reports whether the answer is the problem.
func (r *reply) is(problem string) bool { return strings.HasSuffix(r.problem.Type, "/"+problem) }

// request sends a request to the door, within the present worker or outside of any.
func (h *history) request(ctx context.Context, k knock) *reply {
	r := &http.Request{
		Method: k.method, URL: &url.URL{Path: k.path}, Header: http.Header{}, Body: http.NoBody, Proto: "HTTP/1.1",
		ProtoMajor: 1, ProtoMinor: 1, Host: "api.example", RequestURI: k.path,
	}
	if k.user != "" {
		r.Header.Set("Authorization", "Bearer "+k.user)
	}
	if k.body != "" {
		body := strings.NewReader(k.body)
		r.Body, r.ContentLength = readCloser{body}, body.Size()
		r.Header.Set("Content-Type", "application/json")
		if k.method == http.MethodPatch {
			r.Header.Set("Content-Type", "application/merge-patch+json")
		}
	}
	if k.version != nil {
		r.Header.Set("If-Match", `"`+strconv.FormatInt(*k.version, 10)+`"`)
	}
	if k.key != "" {
		r.Header.Set("Idempotency-Key", k.key)
	}
	out := &reply{header: http.Header{}}
	h.door.api.ServeHTTP(out, r.WithContext(ctx))
	if h.current != nil && h.current.dead {
		panic(crashed{}) // the API answers a panic
	}
	if out.status >= http.StatusBadRequest {
		_ = json.Unmarshal(out.body.Bytes(), &out.problem) // no problem is none that anything is judged by
	}
	return out
}

type readCloser struct{ *strings.Reader }

// Close implements [io.Closer].
func (readCloser) Close() error { return nil }
