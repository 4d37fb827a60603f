package local_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"nexus/pkg/push"
	"nexus/pkg/push/local"
	"nexus/pkg/push/pushtest"
)

const allowed = "http://localhost:5173"

// fixture is a service with its server.
type fixture struct {
	*local.Service
	address string
	beats   chan struct{} // each lets one pause between signs of life end
}

func setup(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{beats: make(chan struct{})}
	f.Service = local.New(local.Config{
		// A token is the user's id, and "no" is none.
		Authorize: func(authorization string) (string, bool) {
			user := strings.TrimPrefix(authorization, "Bearer ")
			return user, user != "no"
		},
		Origins: []string{allowed},
		Wait: func(ctx context.Context, d time.Duration) error {
			require.Equal(t, time.Minute, d)
			select {
			case <-f.beats:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		},
	})
	mux := http.NewServeMux()
	mux.Handle(local.Path, f.Service)
	server := httptest.NewServer(mux)
	t.Cleanup(func() {
		f.Close()
		server.Close()
	})
	f.address = server.URL + local.Path
	return f
}

// header is the authorization of a connection, as a subprotocol.
func header(text string) string {
	return "header-" + base64.RawURLEncoding.EncodeToString([]byte(text))
}

func authorization(token string) string { return fmt.Sprintf(`{"Authorization":%q,"host":"h"}`, token) }

// client is one WebSocket.
type client struct {
	t *testing.T
	*websocket.Conn
}

// dial connects with the subprotocols and an origin, which may be empty.
func (f *fixture) dial(t *testing.T, origin string, subprotocols ...string) (*client, *http.Response, error) {
	t.Helper()
	options := &websocket.DialOptions{Subprotocols: subprotocols, HTTPHeader: http.Header{}}
	if origin != "" {
		options.HTTPHeader.Set("Origin", origin)
	}
	socket, response, err := websocket.Dial(t.Context(), f.address, options)
	if err != nil {
		return nil, response, err
	}
	t.Cleanup(func() { _ = socket.CloseNow() })
	return &client{t, socket}, response, nil
}

// connect returns a user's client whose connection is acknowledged.
func (f *fixture) connect(t *testing.T, user string) *client {
	t.Helper()
	c, _, err := f.dial(t, "", "aws-appsync-event-ws", header(authorization(user)))
	require.NoError(t, err)
	c.say(`{"type":"connection_init"}`)
	c.hears(`{"type":"connection_ack","connectionTimeoutMs":300000}`)
	c.hears(`{"type":"ka"}`)
	return c
}

func (c *client) say(text string) {
	c.t.Helper()
	require.NoError(c.t, c.Write(c.t.Context(), websocket.MessageText, []byte(text)))
}

func (c *client) next() string {
	c.t.Helper()
	kind, text, err := c.Read(c.t.Context())
	require.NoError(c.t, err)
	require.Equal(c.t, websocket.MessageText, kind)
	return string(text)
}

func (c *client) hears(want string) {
	c.t.Helper()
	require.JSONEq(c.t, want, c.next())
}

// hearsRefusal requires the type, the id and the type of error of the next message.
func (c *client) hearsRefusal(kind, id, errorType string) {
	c.t.Helper()
	var got struct {
		Type, ID string
		Errors   []struct{ ErrorType, Message string }
	}
	text := c.next()
	require.NoError(c.t, json.Unmarshal([]byte(text), &got))
	require.Equal(c.t, kind, got.Type, text)
	require.Equal(c.t, id, got.ID, text)
	require.Len(c.t, got.Errors, 1)
	require.Equal(c.t, errorType, got.Errors[0].ErrorType, text)
	require.NotEmpty(c.t, got.Errors[0].Message)
}

func (c *client) subscribe(id, channel, token string) {
	c.t.Helper()
	c.say(fmt.Sprintf(`{"type":"subscribe","id":%q,"channel":%q,"authorization":%s}`, id, channel, authorization(token)))
}

func TestService_conformsToThePort(t *testing.T) {
	t.Parallel()
	pushtest.Run(t, func(t *testing.T) pushtest.Subject {
		f := setup(t)
		clients := map[string]*client{}
		for _, user := range []string{"ann", "bob", "ann-2"} {
			c := f.connect(t, user)
			c.subscribe("s", "/user/"+user, user)
			c.hears(`{"type":"subscribe_success","id":"s"}`)
			clients["/user/"+user] = c
		}
		return pushtest.Subject{Pusher: f, Heard: func(t *testing.T, channel string) (events []string) {
			c := clients[channel]
			c.say(`{"type":"end"}`) // its answer comes behind the hints
			for {
				var m struct{ Type, Event string }
				require.NoError(t, json.Unmarshal([]byte(c.next()), &m))
				if m.Type == "error" {
					return events
				}
				require.Equal(t, "data", m.Type)
				events = append(events, m.Event)
			}
		}}
	})
}

// The messages are those of AWS AppSync Events Developer Guide, "Understanding the Event API WebSocket protocol".
func TestService_speaksTheSubprotocol(t *testing.T) {
	t.Parallel()
	f := setup(t)
	c, response, err := f.dial(t, allowed, "aws-appsync-event-ws", header(authorization("ann")))
	require.NoError(t, err)
	require.Equal(t, "aws-appsync-event-ws", response.Header.Get("Sec-WebSocket-Protocol"))
	c.say(`{"type":"connection_init"}`)
	c.hears(`{"type":"connection_ack","connectionTimeoutMs":300000}`)
	c.hears(`{"type":"ka"}`)
	f.beats <- struct{}{}
	c.hears(`{"type":"ka"}`)

	c.say(`{"type":"subscribe","id":"ee849ef0-cf23","channel":"/user/ann","authorization":{"Authorization":"ann",` +
		`"host":"h"},"payload":{"more":1}}`)
	c.hears(`{"type":"subscribe_success","id":"ee849ef0-cf23"}`)
	require.NoError(t, f.Hint(t.Context(), "ann", "AbC"))
	c.hears(`{"type":"data","id":"ee849ef0-cf23","event":"{\"next\":\"AbC\"}"}`)

	c.say(`{"type":"unsubscribe","id":"ee849ef0-cf23"}`)
	c.hears(`{"type":"unsubscribe_success","id":"ee849ef0-cf23"}`)
	require.NoError(t, f.Hint(t.Context(), "ann", "AbD"))
	c.say(`{"type":"unsubscribe","id":"ee849ef0-cf23"}`)
	c.hearsRefusal("unsubscribe_error", "ee849ef0-cf23", "UnknownOperationError")
}

func TestService_sendsAHintToEachSubscription(t *testing.T) {
	t.Parallel()
	f := setup(t)
	one, other := f.connect(t, "ann"), f.connect(t, "ann")
	for _, id := range []string{"a", "b"} {
		one.subscribe(id, "user/ann", "Bearer ann")
		one.hears(`{"type":"subscribe_success","id":"` + id + `"}`)
	}
	other.subscribe("a", "/user/ann", "ann")
	other.hears(`{"type":"subscribe_success","id":"a"}`)
	require.NoError(t, f.Hint(t.Context(), "ann", "t"))
	require.ElementsMatch(t, []string{
		`{"type":"data","id":"a","event":"{\"next\":\"t\"}"}`, `{"type":"data","id":"b","event":"{\"next\":\"t\"}"}`,
	}, []string{one.next(), one.next()})
	other.hears(`{"type":"data","id":"a","event":"{\"next\":\"t\"}"}`)
}

func TestService_refusesEveryChannelButTheUsersOwn(t *testing.T) {
	t.Parallel()
	f := setup(t)
	c := f.connect(t, "ann")
	for _, channel := range []string{
		"/user/bob", "/user/*", "/user", "/*", "/user/ann/*", "/user/ann/x", "/user/ann-2", "/USER/ann", "/user//ann",
		"//user/ann", "*", "",
	} {
		c.subscribe("s", channel, "ann")
		want := "UnauthorizedException"
		if channel == "/*" || channel == "*" || channel == "" || strings.Contains(channel, "//") {
			want = "BadRequestException"
		}
		c.hearsRefusal("subscribe_error", "s", want)
	}
	for _, user := range []string{"bob", "ann-2"} {
		require.NoError(t, f.Hint(t.Context(), user, "t"))
	}
	c.subscribe("s", "/user/ann", "ann")
	c.hears(`{"type":"subscribe_success","id":"s"}`)
}

func TestService_trustsTheAuthorizationOfTheSubscription(t *testing.T) {
	t.Parallel()
	f := setup(t)
	c := f.connect(t, "ann")
	for _, one := range []string{`{"Authorization":"no","host":"h"}`, `{"Authorization":"ann"}`, `{"host":"h"}`, `null`} {
		c.say(`{"type":"subscribe","id":"s","channel":"/user/ann","authorization":` + one + `}`)
		c.hearsRefusal("subscribe_error", "s", "UnauthorizedException")
	}
	c.subscribe("s", "/user/ann", "bob")
	c.hearsRefusal("subscribe_error", "s", "UnauthorizedException")
	c.subscribe("s", "/user/bob", "bob")
	c.hears(`{"type":"subscribe_success","id":"s"}`)
	// A user whom no hint reaches has no channel.
	c.subscribe("t", "/user/sub-x", "sub-x")
	c.hearsRefusal("subscribe_error", "t", "UnauthorizedException")
}

func TestService_refusesWhatIsOutOfTheProtocol(t *testing.T) {
	t.Parallel()
	f := setup(t)
	c, _, err := f.dial(t, "", "aws-appsync-event-ws", header(authorization("ann")))
	require.NoError(t, err)
	c.subscribe("s", "/user/ann", "ann")
	c.hearsRefusal("subscribe_error", "s", "BadRequestException")
	c = f.connect(t, "ann")
	c.say(`{"type":"publish","id":"p","channel":"/user/ann","events":["1"],"authorization":` + authorization("ann") + `}`)
	c.hearsRefusal("publish_error", "p", "UnauthorizedException")
	c.say(`{"type":"start","id":"x"}`)
	c.hearsRefusal("error", "x", "UnsupportedOperation")
	c.say(`{"type":`)
	c.hearsRefusal("error", "", "BadRequestException")
	require.NoError(t, c.Write(t.Context(), websocket.MessageBinary, []byte(`{"type":"connection_init"}`)))
	c.hearsRefusal("error", "", "BadRequestException")
	for _, id := range []string{"", "a b", strings.Repeat("a", 129)} {
		c.subscribe(id, "/user/ann", "ann")
		c.hearsRefusal("subscribe_error", id, "BadRequestException")
	}
	for i := range 100 {
		c.subscribe(fmt.Sprint(i), "/user/ann", "ann")
		c.hears(fmt.Sprintf(`{"type":"subscribe_success","id":"%d"}`, i))
	}
	c.subscribe("1", "/user/ann", "ann")
	c.hearsRefusal("subscribe_error", "1", "DuplicatedOperationError")
	c.subscribe("100", "/user/ann", "ann")
	c.hearsRefusal("subscribe_error", "100", "LimitExceededError")
	c.say(`{"type":"` + strings.Repeat("x", 17<<10) + `"}`)
	_, _, err = c.Read(t.Context())
	require.Equal(t, websocket.StatusMessageTooBig, websocket.CloseStatus(err))
}

func TestService_refusesPagesOfOtherOrigins(t *testing.T) {
	t.Parallel()
	f := setup(t)
	own := strings.TrimSuffix(f.address, local.Path)
	for origin, want := range map[string]bool{
		"": true, allowed: true, own: true,
		"http://localhost:5174": false, "https://localhost:5173": false, "http://localhost:5173.evil.example": false,
		"http://evil.example": false, "null": false, "*": false, "http://LOCALHOST:5173": false,
	} {
		c, response, err := f.dial(t, origin, "aws-appsync-event-ws", header(authorization("ann")))
		if !want {
			require.Error(t, err, origin)
			require.Equal(t, http.StatusForbidden, response.StatusCode, origin)
			text, err := io.ReadAll(response.Body)
			require.NoError(t, err)
			require.Contains(t, string(text), "--cors", origin)
			continue
		}
		require.NoError(t, err, origin)
		c.say(`{"type":"connection_init"}`)
		c.hears(`{"type":"connection_ack","connectionTimeoutMs":300000}`)
	}
}

func TestService_refusesAConnectionWithoutAuthorization(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for _, offered := range [][]string{
		nil, {header(authorization("no"))}, {header(`{"Authorization":"ann"}`)}, {header(`{"host":"h"}`)}, {header("x")},
		{"header-!"},
	} {
		c, _, err := f.dial(t, "", append([]string{"aws-appsync-event-ws"}, offered...)...)
		require.NoError(t, err)
		c.hearsRefusal("connection_error", "", "UnauthorizedException")
		_, _, err = c.Read(t.Context())
		require.Equal(t, websocket.StatusPolicyViolation, websocket.CloseStatus(err))
	}
	_, response, err := f.dial(t, "", header(authorization("ann")))
	require.Error(t, err)
	require.Equal(t, http.StatusBadRequest, response.StatusCode, "the subprotocol itself is missing")
}

func TestService_disconnectsItsClientsAtTheEnd(t *testing.T) {
	t.Parallel()
	f := setup(t)
	c := f.connect(t, "ann")
	f.Close()
	_, _, err := c.Read(t.Context())
	require.Error(t, err)
	_, response, err := f.dial(t, "", "aws-appsync-event-ws", header(authorization("ann")))
	require.Error(t, err)
	require.Equal(t, http.StatusServiceUnavailable, response.StatusCode)
	require.NoError(t, f.Hint(t.Context(), "ann", "t"), "no app listens, which is no error")
}

func TestService_isBoundedInClients(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for range 256 {
		f.connect(t, "ann")
	}
	_, response, err := f.dial(t, "", "aws-appsync-event-ws", header(authorization("ann")))
	require.Error(t, err)
	require.Equal(t, http.StatusServiceUnavailable, response.StatusCode)
	require.Equal(t, "10", response.Header.Get("Retry-After"))
}

func TestService_delaysNoOneForAClientThatDoesNotRead(t *testing.T) {
	t.Parallel()
	f := setup(t)
	slow, quick := f.connect(t, "ann"), f.connect(t, "ann")
	for _, c := range []*client{slow, quick} {
		c.subscribe("s", "/user/ann", "ann")
		c.hears(`{"type":"subscribe_success","id":"s"}`)
	}
	slow.SetReadLimit(1 << 20)
	quick.SetReadLimit(1 << 20)
	token := strings.Repeat("x", 64<<10)
	for range 500 { // more than the buffers on the way and the backlog hold
		require.NoError(t, f.Hint(t.Context(), "ann", token))
		quick.next()
	}
	var err error
	for err == nil {
		_, _, err = slow.Read(t.Context())
	}
	require.ErrorIs(t, f.Hint(t.Context(), "a_b", "t"), push.ErrInvalid)
}

func TestNew_refusesAPartThatIsMissing(t *testing.T) {
	t.Parallel()
	require.Panics(t, func() { local.New(local.Config{}) })
}
