package local

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/coder/websocket"

	"nexus/pkg/push"
)

// backlog is the number of messages that a client may be late.
const backlog = 64

// message is one message of the subprotocol, of either side. The page of the guide lists the types.
type message struct {
	Type                string         `json:"type"`
	ID                  string         `json:"id,omitempty"`
	Channel             string         `json:"channel,omitempty"`
	Authorization       *authorization `json:"authorization,omitempty"`
	ConnectionTimeoutMs int64          `json:"connectionTimeoutMs,omitempty"`
	// Event is the text of a JSON value.
	Event  string  `json:"event,omitempty"`
	Errors []fault `json:"errors,omitempty"`
}

type fault struct {
	ErrorType string `json:"errorType"`
	Message   string `json:"message"`
}

// The types of errors that the service names.
const (
	unauthorized = "UnauthorizedException"
	badRequest   = "BadRequestException"
	limited      = "LimitExceededError"
	duplicate    = "DuplicatedOperationError"
	unknown      = "UnknownOperationError"
	unsupported  = "UnsupportedOperation"
)

const notAuthorized = "You are not authorized to make this call."

// authorization is that of a connection, in a subprotocol, and of a subscription: the headers of a request to the
// API's HTTP endpoint.
type authorization struct {
	Authorization string `json:"Authorization"`
	Host          string `json:"host"`
}

// user returns the user of an authorization. The service refuses one without a host.
func (a *authorization) user(authorize func(string) (string, bool)) (string, bool) {
	if a == nil || a.Host == "" || a.Authorization == "" {
		return "", false
	}
	return authorize(a.Authorization)
}

// part is a segment of a channel.
const part = `[A-Za-z0-9](?:[A-Za-z0-9-]{0,48}[A-Za-z0-9])?`

// The forms of a subscription's id and of a channel, of which a star may be the last segment (the same page).
var (
	idForm      = regexp.MustCompile(`^[A-Za-z0-9_+-]{1,128}$`)
	channelForm = regexp.MustCompile(`^/?` + part + `(?:/` + part + `){0,4}(?:/\*)?$`)
)

// connection is one client. Its subscriptions are guarded by the service's lock.
type connection struct {
	service *Service
	ctx     context.Context
	end     context.CancelFunc
	out     chan []byte

	subscriptions map[string]string // channels by the ids that the client gave
	acknowledged  bool
}

// serve talks to the client until one of the two leaves.
func (c *connection) serve(socket *websocket.Conn, authorized bool) {
	defer func() { _ = socket.CloseNow() }() // the client may have left
	if !authorized {
		refusal := message{Type: "connection_error", Errors: []fault{{unauthorized, notAuthorized}}}
		if c.write(socket, refusal.text()) == nil {
			_ = socket.Close(websocket.StatusPolicyViolation, notAuthorized) // likewise
		}
		return
	}
	var writers sync.WaitGroup
	writers.Go(func() { c.writeAll(socket) })
	writers.Go(c.keepAlive)
	defer func() {
		c.end()
		writers.Wait()
	}()
	for {
		kind, text, err := socket.Read(c.ctx)
		if err != nil {
			return
		}
		c.receive(kind, text)
	}
}

// writeAll sends what is to be sent, in order.
func (c *connection) writeAll(socket *websocket.Conn) {
	defer c.end()
	for {
		select {
		case text := <-c.out:
			if c.write(socket, text) != nil {
				return
			}
		case <-c.ctx.Done():
			_ = socket.Close(websocket.StatusGoingAway, "") // the client may have left
			return
		}
	}
}

// write sends one message within the time that a client has to read it.
func (c *connection) write(socket *websocket.Conn, text []byte) error {
	ctx, cancel := context.WithTimeout(c.ctx, patience)
	defer cancel()
	return socket.Write(ctx, websocket.MessageText, text)
}

// keepAlive sends signs of life.
func (c *connection) keepAlive() {
	for c.service.cfg.Wait(c.ctx, interval) == nil {
		c.send(message{Type: "ka"})
	}
}

// send queues a message. A client that is too late is disconnected.
func (c *connection) send(m message) {
	select {
	case c.out <- m.text():
	default:
		c.end()
	}
}

func (m message) text() []byte {
	text, err := json.Marshal(m)
	if err != nil {
		panic(fmt.Sprintf("push/local: %v", err)) // texts and a number
	}
	return text
}

func (c *connection) refuse(kind, id, errorType, text string) {
	c.send(message{Type: kind, ID: id, Errors: []fault{{errorType, text}}})
}

// receive carries out what a client asks for.
func (c *connection) receive(kind websocket.MessageType, text []byte) {
	var in message
	if kind != websocket.MessageText || json.Unmarshal(text, &in) != nil {
		c.refuse("error", "", badRequest, "The message is no JSON object of the protocol.")
		return
	}
	switch in.Type {
	case "connection_init":
		c.acknowledged = true
		c.send(message{Type: "connection_ack", ConnectionTimeoutMs: timeout.Milliseconds()})
		c.send(message{Type: "ka"})
	case "subscribe":
		c.subscribe(in)
	case "unsubscribe":
		c.unsubscribe(in.ID)
	case "publish":
		c.refuse("publish_error", in.ID, unauthorized, "Only the system itself publishes.")
	default:
		c.refuse("error", in.ID, unsupported, "Operation not supported through the realtime channel")
	}
}

func (c *connection) subscribe(in message) {
	refuse := func(errorType, text string) { c.refuse("subscribe_error", in.ID, errorType, text) }
	user, authorized := in.Authorization.user(c.service.cfg.Authorize)
	own, reached := push.Channel(user)
	c.service.mu.Lock()
	defer c.service.mu.Unlock()
	switch _, subscribed := c.subscriptions[in.ID]; {
	case !c.acknowledged:
		refuse(badRequest, "Send connection_init first and wait for connection_ack.")
	case !idForm.MatchString(in.ID):
		refuse(badRequest, "An id has 1 to 128 of A-Z a-z 0-9 _ + -.")
	case !channelForm.MatchString(in.Channel):
		refuse(badRequest, "Invalid Channel Format")
	case !authorized:
		refuse(unauthorized, notAuthorized)
	case !reached || "/"+strings.TrimPrefix(in.Channel, "/") != own:
		refuse(unauthorized, "A user subscribes to its own channel alone.")
	case subscribed:
		refuse(duplicate, "There is a subscription with this id.")
	case len(c.subscriptions) >= maxSubscriptions:
		refuse(limited, fmt.Sprintf("A connection has at most %d subscriptions.", maxSubscriptions))
	default:
		c.subscriptions[in.ID] = own
		c.send(message{Type: "subscribe_success", ID: in.ID})
	}
}

func (c *connection) unsubscribe(id string) {
	c.service.mu.Lock()
	defer c.service.mu.Unlock()
	if _, subscribed := c.subscriptions[id]; !subscribed {
		c.refuse("unsubscribe_error", id, unknown, "There is no subscription with this id.")
		return
	}
	delete(c.subscriptions, id)
	c.send(message{Type: "unsubscribe_success", ID: id})
}
