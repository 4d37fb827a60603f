package wiretest

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
)

// Fault replaces the answer to one request.
type Fault struct {
	refusal *Refusal
	status  int
	kind    kind
}

type kind int

const (
	refused kind = iota
	reset
	lost
	cut
	bare
	silent
	damaged
)

// Refused answers with an error of the service; the request is not carried out.
func Refused(r Refusal) Fault { return Fault{refusal: &r} }

// Reset breaks the connection before the request is carried out.
func Reset() Fault { return Fault{kind: reset} }

// Lost carries the request out and breaks the connection instead of answering.
func Lost() Fault { return Fault{kind: lost} }

// Cut carries the request out and breaks the connection in the middle of the answer's body.
func Cut() Fault { return Fault{kind: cut} }

// Empty answers 200 with no body at all; the request is not carried out.
func Empty() Fault { return Bare(http.StatusOK) }

// Bare answers with a status and no body at all, as a gateway does; the request is not carried out.
func Bare(status int) Fault { return Fault{kind: bare, status: status} }

// Silent does not answer until the client gives up, as one with [Network.Impatient] does; the request is not carried
// out.
func Silent() Fault { return Fault{kind: silent} }

// Damaged carries the request out and changes the answer's body on its way, so that it is no JSON and no XML.
func Damaged() Fault { return Fault{kind: damaged} }

// Network runs in front of a fake service and injects faults. It is safe for concurrent use.
type Network struct {
	service Service
	next    http.Handler
	silence chan struct{} // each request that gets no answer
	done    chan struct{}
	end     func()

	mu    sync.Mutex
	plan  []Fault
	last  *Fault                                // of every later request, once the plan is at its end
	judge func(*http.Request, Operation) *Fault // in the place of a plan
	only  []string                              // the operations that suffer; empty for all
	count int
}

// Serve starts a server for the network and a guard in front of the network; it ends with the test. No connection is
// used twice, so that no transport repeats by itself a request whose repetition the test observes.
func Serve(t testing.TB, service Service, fake http.Handler) (*Network, *Guard, *httptest.Server) {
	t.Helper()
	n := NewNetwork(t, service, fake)
	guard := NewGuard(t, n, service)
	server := httptest.NewUnstartedServer(guard)
	server.Config.SetKeepAlivesEnabled(false)
	if service.Name == "s3" { // its clients frame and sign a body differently without TLS
		server.StartTLS()
	} else {
		server.Start()
	}
	t.Cleanup(func() {
		n.end()
		server.Close()
	})
	return n, guard, server
}

// NewNetwork returns a network for a server of the test's own. Its silence ends with the test.
func NewNetwork(t testing.TB, service Service, fake http.Handler) *Network {
	n := &Network{service: service, next: fake, silence: make(chan struct{}), done: make(chan struct{})}
	n.end = sync.OnceFunc(func() { close(n.done) })
	t.Cleanup(n.end)
	return n
}

// Choose lets choose decide from now on which fault each request suffers; nil is none.
func (n *Network) Choose(choose func(*http.Request, Operation) *Fault) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.plan, n.last, n.only, n.count, n.judge = nil, nil, nil, 0, choose
}

// Next injects these faults into the next requests, one each, and none into later ones.
func (n *Network) Next(faults ...Fault) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.plan, n.last, n.only, n.count, n.judge = faults, nil, nil, 0, nil
}

// Always injects the fault into every request from now on; if operations are named, only into theirs.
func (n *Network) Always(f Fault, operations ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.plan, n.last, n.only, n.count, n.judge = nil, &f, operations, 0, nil
}

// Requests returns how many requests came since the last Next or Always, of the operations that it named.
func (n *Network) Requests() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.count
}

func (n *Network) fate(r *http.Request) *Fault {
	n.mu.Lock()
	defer n.mu.Unlock()
	operation, _, err := n.service.find(r)
	if len(n.only) > 0 && (err != nil || !slices.Contains(n.only, operation.Name)) {
		return nil
	}
	n.count++
	if n.judge != nil && err == nil {
		return n.judge(r, operation)
	}
	if len(n.plan) == 0 {
		return n.last
	}
	next := n.plan[0]
	n.plan = n.plan[1:]
	return &next
}

// ServeHTTP passes the request on or injects its fault.
func (n *Network) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	fault := n.fate(r)
	if fault == nil {
		n.next.ServeHTTP(w, r)
		return
	}
	switch fault.kind {
	case refused:
		n.service.Refuse(w, *fault.refusal)
	case reset:
		breakOff(w)
	case lost:
		n.next.ServeHTTP(httptest.NewRecorder(), r)
		breakOff(w)
	case bare:
		w.WriteHeader(fault.status)
	case silent:
		select {
		case n.silence <- struct{}{}:
			<-r.Context().Done()
		case <-r.Context().Done():
		case <-n.done:
		}
	case cut, damaged:
		answer := httptest.NewRecorder()
		n.next.ServeHTTP(answer, r)
		spoil(w, answer, fault.kind)
	}
}

// Impatient returns a transport that gives up on a request as soon as the network injects silence. A client does so
// when its time is up; with this transport no test has to wait for that.
func (n *Network) Impatient(next http.RoundTripper) http.RoundTripper { return impatient{n, next} }

type impatient struct {
	network *Network
	next    http.RoundTripper
}

func (i impatient) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, giveUp := context.WithCancelCause(r.Context())
	answered := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		select {
		case <-i.network.silence:
			giveUp(os.ErrDeadlineExceeded)
		case <-answered:
		}
	})
	response, err := i.next.RoundTrip(r.WithContext(ctx))
	close(answered)
	group.Wait()
	if cause := context.Cause(ctx); err != nil && cause != nil && r.Context().Err() == nil {
		return nil, cause
	}
	return response, err
}

// spoil sends the answer cut off in its body, or with a meaningless body.
func spoil(w http.ResponseWriter, answer *httptest.ResponseRecorder, how kind) {
	body := answer.Body.Bytes()
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	if how == damaged {
		for i := range body {
			body[i] ^= 0x20
		}
	}
	w.Header().Set("Content-Length", strconv.Itoa(max(len(body), 1)))
	w.WriteHeader(answer.Code)
	if how == damaged {
		_, _ = w.Write(body)
		return
	}
	_, _ = w.Write(body[:len(body)/2])
	_ = http.NewResponseController(w).Flush() // the client is to see the part
	breakOff(w)
}

// breakOff ends the connection as a crash would, with a reset.
func breakOff(w http.ResponseWriter) {
	connection, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if secure, ok := connection.(*tls.Conn); ok {
		connection = secure.NetConn()
	}
	if plain, ok := connection.(*net.TCPConn); ok {
		_ = plain.SetLinger(0)
	}
	_ = connection.Close()
}
