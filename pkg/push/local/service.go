// Package local serves live hints on this machine, to browsers and to tests, over the WebSocket subprotocol of AWS
// AppSync Events (AWS AppSync Events Developer Guide, "Understanding the Event API WebSocket protocol"). So a client's
// code is the same here and there.
//
// It promises what the deployed API does: a client subscribes to its own user's channel alone, and publishes nothing. A
// page of another origin is refused unless it is on the list, because CORS does not cover a WebSocket. A hint goes to
// the subscriptions that stand when it is sent; nothing is kept for later. A client that does not read is disconnected
// and delays no one.
package local

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"nexus/pkg/push"
)

// Path is where the WebSocket is, as at the deployed API.
const Path = "/event/realtime"

const (
	// subprotocol names the protocol. A client offers it, and its authorization beside it.
	subprotocol = "aws-appsync-event-ws"
	// timeout is how long a client waits for a sign of life, as the service answers it; interval is that of the signs.
	timeout  = 5 * time.Minute
	interval = time.Minute
	// patience bounds how long a client may take to read a message.
	patience = 10 * time.Second
	// maxMessage bounds a client's message in bytes: a token is the largest part of it.
	maxMessage = 16 << 10
	// maxConnections and maxSubscriptions bound the clients, and the subscriptions of each.
	maxConnections   = 256
	maxSubscriptions = 100
)

// Config configures a [Service]. All but Origins are required.
type Config struct {
	// Authorize returns the user of an authorization, which is a bearer token with or without the word Bearer.
	Authorize func(authorization string) (user string, ok bool)
	// Origins are the origins whose pages may connect, in addition to pages of the requested host itself.
	Origins []string
	// Wait waits between two signs of life, or returns the context's error.
	Wait func(ctx context.Context, d time.Duration) error
}

// Service is the adapter, and the handler of the WebSocket. It is safe for concurrent use.
type Service struct {
	cfg  Config
	ctx  context.Context // of all connections
	end  context.CancelFunc
	work sync.WaitGroup

	mu          sync.Mutex
	connections map[*connection]struct{}
}

var (
	_ push.Pusher  = (*Service)(nil)
	_ http.Handler = (*Service)(nil)
)

// New returns a service without clients. It panics if a part of the Config is missing: a mistake in the program.
func New(c Config) *Service {
	if c.Authorize == nil || c.Wait == nil {
		panic("push/local: a part of the Config is missing")
	}
	s := &Service{cfg: c, connections: map[*connection]struct{}{}}
	s.ctx, s.end = context.WithCancel(context.Background())
	return s
}

// Close disconnects all clients, and refuses new ones.
func (s *Service) Close() {
	s.mu.Lock()
	s.end()
	s.mu.Unlock()
	s.work.Wait()
}

// Hint implements the port. A user without an open app is no error.
func (s *Service) Hint(ctx context.Context, user, token string) error {
	channel, event, err := push.Event(user, token)
	if err == nil && ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", push.ErrUnavailable, ctx.Err())
	}
	if err != nil {
		return fmt.Errorf("send a hint: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.connections {
		for id, subscribed := range c.subscriptions {
			if subscribed == channel {
				c.send(message{Type: "data", ID: id, Event: string(event)})
			}
		}
	}
	return nil
}

// ServeHTTP serves one client until it leaves.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if origin := r.Header.Get("Origin"); origin != "" && !s.allows(origin, r.Host) {
		http.Error(w, fmt.Sprintf("pages of %.100q may not connect: nexus dev --cors lists the origins that may", origin),
			http.StatusForbidden)
		return
	}
	offered := strings.FieldsFunc(strings.Join(r.Header.Values("Sec-WebSocket-Protocol"), ","),
		func(c rune) bool { return c == ',' || c == ' ' })
	if !slices.Contains(offered, subprotocol) {
		http.Error(w, "offer the subprotocol "+subprotocol+", and header-<base64url of the authorization> beside it",
			http.StatusBadRequest)
		return
	}
	c := &connection{service: s, out: make(chan []byte, backlog), subscriptions: map[string]string{}}
	c.ctx, c.end = context.WithCancel(s.ctx)
	defer c.end()
	if !s.admit(c) {
		w.Header().Set("Retry-After", "10")
		http.Error(w, fmt.Sprintf("%d clients are connected already, or the system is stopping", maxConnections),
			http.StatusServiceUnavailable)
		return
	}
	defer s.dismiss(c)
	socket, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		Subprotocols: []string{subprotocol}, InsecureSkipVerify: true, // the origin was checked above, exactly
	})
	if err != nil {
		return // it has answered
	}
	socket.SetReadLimit(maxMessage)
	c.serve(socket, s.authorizes(offered))
}

// allows reports whether a page of the origin may connect to the host: pages of the host itself, and of the listed
// origins. A client that is no page sends no origin.
func (s *Service) allows(origin, host string) bool {
	u, err := url.Parse(origin)
	return slices.Contains(s.cfg.Origins, origin) || err == nil && u.Host != "" && u.Host == host
}

// authorizes reports whether the offered subprotocols hold the authorization of a user.
func (s *Service) authorizes(offered []string) bool {
	for _, one := range offered {
		if encoded, is := strings.CutPrefix(one, "header-"); is {
			text, err := base64.RawURLEncoding.DecodeString(encoded)
			var header authorization
			if err != nil || json.Unmarshal(text, &header) != nil {
				return false
			}
			_, ok := header.user(s.cfg.Authorize)
			return ok
		}
	}
	return false
}

// admit adds a connection, unless there are too many or the service is closed.
func (s *Service) admit(c *connection) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil || len(s.connections) >= maxConnections {
		return false
	}
	s.work.Add(1)
	s.connections[c] = struct{}{}
	return true
}

func (s *Service) dismiss(c *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.connections, c)
	s.work.Done()
}
