package wiretest

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
)

// Guard checks every request against its service's documents, and fails the test for each that breaks a rule. It runs
// in front of a fake service as a handler, or in a client as a transport. It is safe for concurrent use.
type Guard struct {
	t        testing.TB
	services []Service
	next     http.Handler
	rules    []Rule
	judges   bool

	mu    sync.Mutex
	calls []Call
}

// NewGuard returns a guard in front of the handler, which may be nil for one that is only a transport. With several
// services each request is checked against the one that it is signed for.
func NewGuard(t testing.TB, next http.Handler, services ...Service) *Guard {
	return &Guard{t: t, services: services, next: next}
}

// Also adds the adapter's own rules to those of the service, and returns the guard.
func (g *Guard) Also(rules ...Rule) *Guard {
	g.rules = append(g.rules, rules...)
	return g
}

// RefuseViolations makes the guard refuse a request that breaks a rule of the service, as the service itself would,
// instead of failing the test. It is for a suite that sends such requests on purpose and checks the answer. It returns
// the guard.
func (g *Guard) RefuseViolations() *Guard {
	g.judges = true
	return g
}

// ServeHTTP checks the request and passes it on.
func (g *Guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // broken off: the client has gone
	}
	if refuse := g.checkRequest(r, body); refuse != nil {
		refuse(w)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	g.next.ServeHTTP(w, r)
}

// Transport returns a transport that checks each request on its way to next.
func (g *Guard) Transport(next http.RoundTripper) http.RoundTripper { return transport{g, next} }

type transport struct {
	guard *Guard
	next  http.RoundTripper
}

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		if err := r.Body.Close(); err != nil {
			return nil, err
		}
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	if refuse := t.guard.checkRequest(r, body); refuse != nil {
		answer := httptest.NewRecorder()
		refuse(answer)
		response := answer.Result()
		response.Request = r
		return response, nil
	}
	return t.next.RoundTrip(r)
}

// checkRequest checks a request. It returns its refusal, nil if it is to be passed on.
func (g *Guard) checkRequest(r *http.Request, body []byte) func(http.ResponseWriter) {
	i := 0
	if len(g.services) > 1 {
		_, name := signer(r)
		if i = slices.IndexFunc(g.services, func(s Service) bool { return s.Name == name }); i < 0 {
			g.t.Errorf("%s %s is signed for %q, which no service here is", r.Method, r.URL, name)
			return nil
		}
	}
	call, found := g.services[i].Check(r, body)
	g.note(call)
	if g.judges && len(found) > 0 {
		return func(w http.ResponseWriter) {
			g.services[i].Refuse(w, Refusal{Status: http.StatusBadRequest, Code: "ValidationException"})
		}
	}
	for _, rule := range g.rules {
		found = append(found, rule(call)...)
	}
	for _, wrong := range found {
		g.t.Errorf("on the wire to %s: %s (%s)", g.services[i].Name, wrong, g.services[i].sourceOf(call.Operation))
	}
	return nil
}

func (g *Guard) note(call Call) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.calls = append(g.calls, call)
}

// Calls returns the calls so far, in order.
func (g *Guard) Calls() []Call {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.calls)
}

// Operations returns the names of the calls so far, in order.
func (g *Guard) Operations() []string {
	var names []string
	for _, call := range g.Calls() {
		names = append(names, call.Operation)
	}
	return names
}
