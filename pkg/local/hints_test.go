package local_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"nexus/pkg/local"
)

// app is an open app: a WebSocket of the user.
type app struct {
	s    *system
	user string
	*websocket.Conn
	subscribe object // as the answer to the watch says
}

// open says that an app of the user is open and connects it, from a page of the origin, which may be empty. The
// response is that of the handshake; the app is nil if it was refused.
func (s *system) open(user, origin string) (*app, *http.Response) {
	s.t.Helper()
	subscribe := s.as(user).must("PUT", "/v1/me/watch", nil)["subscribe"].(object)
	header := http.Header{}
	if origin != "" {
		header.Set("Origin", origin)
	}
	authorization := fmt.Sprintf(`{"Authorization":%q,"host":%q}`, user, subscribe["host"])
	socket, response, err := websocket.Dial(s.t.Context(), strings.Replace(s.URL(), "http", "ws", 1)+
		subscribe["url"].(string), &websocket.DialOptions{HTTPHeader: header, Subprotocols: []string{
		"aws-appsync-event-ws", "header-" + base64.RawURLEncoding.EncodeToString([]byte(authorization)),
	}})
	if err != nil {
		return nil, response
	}
	s.t.Cleanup(func() { _ = socket.CloseNow() })
	a := &app{s, user, socket, subscribe}
	a.say(`{"type":"connection_init"}`)
	require.Contains(s.t, a.next(), "connection_ack")
	require.Contains(s.t, a.next(), `"ka"`)
	return a, response
}

func (a *app) say(text string) {
	a.s.t.Helper()
	require.NoError(a.s.t, a.Write(a.s.t.Context(), websocket.MessageText, []byte(text)))
}

func (a *app) next() string {
	a.s.t.Helper()
	_, text, err := a.Read(a.s.t.Context())
	require.NoError(a.s.t, err)
	return string(text)
}

// listen subscribes to a channel and returns the answer.
func (a *app) listen(channel any) string {
	a.s.t.Helper()
	a.say(fmt.Sprintf(`{"type":"subscribe","id":"s","channel":%q,"authorization":{"Authorization":%q,"host":%q}}`, channel,
		a.user, a.subscribe["host"]))
	return a.next()
}

func TestHints_areForTheUsersOwnApps(t *testing.T) {
	t.Parallel()
	s := startSystem(t, local.Options{Store: local.Memory})
	ann, _ := s.open("ann", "")
	require.Contains(t, ann.listen("/user/bob"), "subscribe_error")
	require.Contains(t, ann.listen("/user/*"), "subscribe_error")
	require.Contains(t, ann.listen(ann.subscribe["channel"]), "subscribe_success")
	require.NotContains(t, s.as("ann_b").must("PUT", "/v1/me/watch", nil), "subscribe")
}

func TestHints_tellAnOpenAppHowFarTheChangeLogIs(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, s *system) {
		happenings := s.listen()
		ann, _ := s.open(s.user, "")
		require.Contains(t, ann.listen(ann.subscribe["channel"]), "subscribe_success")
		before := s.must("GET", "/v1/changes", nil)["next"].(string)

		s.must("POST", "/dev/hints", object{"drop": 1})
		s.task("unheard")
		s.waitUntilIdle()
		s.as("bob").task("another's")
		s.task("heard")
		var data struct{ Type, ID, Event string }
		require.NoError(t, json.Unmarshal([]byte(ann.next()), &data))
		require.Equal(t, "data", data.Type)
		require.Equal(t, "s", data.ID)
		var hint struct{ Next string }
		require.NoError(t, json.Unmarshal([]byte(data.Event), &hint))

		// The hint is where a pull from before ends, and there is nothing behind it.
		since := s.must("GET", "/v1/changes?since="+before, nil)
		require.Len(t, since["changes"], 2, "the lost hint changed nothing")
		require.Equal(t, hint.Next, since["next"])
		require.Empty(t, s.must("GET", "/v1/changes?since="+hint.Next, nil)["changes"])

		s.waitUntilIdle()
		require.Equal(t, object{"sent": 1.0, "dropped": 1.0}, s.must("GET", "/dev/metrics", nil)["hints"])
		lost, told := false, false
		for !lost || !told {
			kind, text, _ := strings.Cut(<-happenings, " ")
			lost = lost || kind == "hint" && strings.Contains(text, `"lost":true`)
			told = told || kind == "hint" && strings.Contains(text, `"next":"`+hint.Next+`"`)
		}
	})
}

func TestHints_areForPagesOfAllowedOriginsAlone(t *testing.T) {
	t.Parallel()
	const page = "http://localhost:5173"
	s := startSystem(t, local.Options{Store: local.Memory, Origins: []string{page}})
	for _, origin := range []string{"", page, s.URL()} {
		a, _ := s.open("ann", origin)
		require.NotNil(t, a, origin)
	}
	for _, origin := range []string{"http://localhost:5174", "https://evil.example", "null"} {
		a, response := s.open("ann", origin)
		require.Nil(t, a, origin)
		require.Equal(t, http.StatusForbidden, response.StatusCode, origin)
	}
}

func TestPostHints_refusesANumberThatIsNone(t *testing.T) {
	t.Parallel()
	s := startSystem(t, local.Options{Store: local.Memory})
	for _, body := range []object{{}, {"drop": -1}, {"drop": 1_000_001}} {
		status, problem := s.call("POST", "/dev/hints", body)
		require.Equal(t, http.StatusUnprocessableEntity, status)
		require.Contains(t, problem["detail"], "drop has to be 0 to 1000000")
	}
	status, _ := s.call("POST", "/dev/hints", object{"drop": "1"})
	require.Equal(t, http.StatusBadRequest, status)
	require.Equal(t, object{"drop": 2.0}, s.must("POST", "/dev/hints", object{"drop": 2}))
}

func TestPlatform_endsWithAnAppConnected(t *testing.T) {
	t.Parallel()
	s := startSystem(t, local.Options{Store: local.Memory})
	a, _ := s.open("ann", "")
	s.stop()
	_, _, err := a.Read(t.Context())
	require.Error(t, err)
}
