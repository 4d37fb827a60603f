package e2e_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/changes/changelog"
	"nexus/pkg/changes/token"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/metric"
	"nexus/pkg/entity/device"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// watch puts the row of an open app.
func (w *fixture) watch(until time.Time) {
	w.Helper()
	row := device.WatchKey(user).Item()
	row["ttl"] = item.Int(until.Unix())
	require.NoError(w, w.store.Put(w.Context(), table.Put{Item: row}))
}

// log returns the rows of the user's change log, newest first.
func (w *fixture) log() []changelog.Row {
	w.Helper()
	var rows []changelog.Row
	for row, err := range changelog.Rows(w.Context(), w.store, changelog.Read{User: user}) {
		require.NoError(w, err)
		rows = append(rows, row)
	}
	return rows
}

func (s *services) hints() []hinted {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]hinted(nil), s.hinted...)
}

func TestProjections_tellAnOpenAppHowFarTheLogIs(t *testing.T) {
	t.Parallel()
	w := setup(t)
	f := w.start(env.Projections)
	f.handled(w.happen("stream-task-created"))
	require.Empty(t, w.services.hints(), "no app is open")

	w.watch(time.Now().Add(time.Hour))
	f.handled(w.happen("stream-task-completed"))
	hints := w.services.hints()
	require.Len(t, hints, 1)
	require.Equal(t, "/user/"+user, hints[0].Channel)
	require.Len(t, hints[0].Events, 1)
	var hint struct{ Next string }
	require.NoError(t, json.Unmarshal([]byte(hints[0].Events[0]), &hint))
	got, err := token.Parse(hint.Next)
	require.NoError(t, err)
	newest := w.log()[0]
	require.Equal(t, token.Token{Form: token.FormIn(0), Owner: token.OwnerOf(user), N: newest.N, X: newest.X}, got)

	f.handled(w.now("stream-task-completed")) // nothing is new
	require.Len(t, w.services.hints(), 1)

	// A hint that fails changes nothing for the log, and is not sent again.
	w.services.breakDown("hints", true)
	f.handled(w.happen("stream-task-archived"))
	require.Greater(t, w.log()[0].N, newest.N)
	require.Len(t, w.services.hints(), 1)

	w.services.breakDown("hints", false)
	w.watch(time.Now().Add(-time.Second))
	f.handled(w.happen("stream-task-deleted"))
	require.Len(t, w.services.hints(), 1, "the app is closed")
	f.requireCounted(metric.ChangesAppended, 2)
}

func TestCommand_tellsAnAppWhereToSubscribe(t *testing.T) {
	t.Parallel()
	w := setup(t)
	made := w.start(env.Command).request(changed(t, w.payload("command-create-task"), map[string]any{
		"rawPath": "/v1/me/watch", "requestContext/http/path": "/v1/me/watch", "requestContext/http/method": "PUT",
		"headers/content-length": nil, "body": nil,
	}))
	require.Equal(t, http.StatusOK, made.StatusCode, "%s", made.Body)
	require.Equal(t, map[string]any{
		"url": "wss://" + realtimeHost + "/event/realtime", "host": hintsHost, "channel": "/user/" + user,
	}, object(t, made.Body)["subscribe"])
	require.NotNil(t, w.row(device.WatchKey(user)))
}
