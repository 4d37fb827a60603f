package e2e_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/api"
	"nexus/pkg/deploy/edge"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/metric"
	"nexus/pkg/entity"
	"nexus/pkg/product"
)

var edgeCurrent, edgeFormer, edgeForeign = strings.Repeat("2b", 32), strings.Repeat("1a", 32), strings.Repeat("0f", 32)

// by returns the payload with the header of the edge.
func by(t *testing.T, secret string, payload []byte) []byte {
	t.Helper()
	return changed(t, payload, map[string]any{"headers/" + strings.ToLower(edge.Header): secret})
}

func TestFunctions_serveWhatHasPassedTheEdgeAlone(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.settings[env.EdgeSecrets] = edgeCurrent + "," + edgeFormer
	commands, queries := w.start(env.Command), w.start(env.Query)
	create, health := w.payload("command-create-task"), w.payload("query-health")
	preflight := changed(t, health, map[string]any{
		"rawPath": "/v1/tasks", "requestContext/http/path": "/v1/tasks", "requestContext/http/method": "OPTIONS",
		"headers/access-control-request-method": "POST", "headers/origin": "https://app.example.com",
	})
	wrong := []any{
		nil, "", edgeForeign, edgeFormer[1:], edgeFormer + edgeCurrent, edgeCurrent + "," + edgeFormer, env.EdgeNone,
	}
	for _, secret := range wrong {
		for _, one := range []struct {
			f       *function
			payload []byte
		}{{commands, create}, {queries, w.payload("query-task")}, {queries, health}, {queries, preflight}} {
			a := one.f.request(changed(t, one.payload, map[string]any{"headers/" + strings.ToLower(edge.Header): secret}))
			require.Equal(t, http.StatusMisdirectedRequest, a.StatusCode, "%v", secret)
			require.EqualValues(t, http.StatusMisdirectedRequest, object(t, a.Body)["status"])
			require.Equal(t, "application/problem+json", a.Headers["content-type"])
			require.Equal(t, "no-store", a.Headers["cache-control"])
		}
	}
	require.Nil(t, w.item(product.TypeTask, createdID), "nothing of it was done")

	require.Equal(t, http.StatusCreated, commands.request(by(t, edgeFormer, create)).StatusCode)
	require.Equal(t, http.StatusOK, queries.request(by(t, edgeCurrent, w.payload("query-task"))).StatusCode)
	require.Equal(t, http.StatusOK, queries.request(by(t, edgeFormer, health)).StatusCode)
	require.EqualValues(t, 1, w.item(product.TypeTask, createdID).Int(entity.AttrVersion))
	for _, f := range []*function{commands, queries} {
		f.kill()
		for _, secret := range []string{edgeFormer, edgeCurrent, edgeForeign} {
			require.NotContains(t, f.log.String()+f.out.String(), secret, "no log has what CloudFront adds")
		}
	}
}

func TestFunctions_countWhatDidNotPassTheEdge(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.settings[env.EdgeSecrets] = edgeCurrent
	f := w.start(env.Query)
	require.Equal(t, http.StatusMisdirectedRequest, f.request(w.payload("query-task")).StatusCode)
	f.requireCounted(metric.ClientErrors, 1)
}

// A direct invocation is by right of the invoker, and no gateway or edge is before it.
func TestCommand_answersADirectInvocationBehindAnEdge(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.settings[env.EdgeSecrets] = edgeFormer
	var answer struct{ Results []struct{ Status int } }
	require.NoError(t, json.Unmarshal(w.start(env.Command).succeed(w.payload("command-direct")), &answer))
	require.NotEmpty(t, answer.Results)
	for _, r := range answer.Results {
		require.NotEqual(t, http.StatusMisdirectedRequest, r.Status)
	}
}

// What a cache keeps of a calendar, the answers to its owner tell: only behind an edge.
func TestFunctions_tellOfTheCacheBehindAnEdgeAlone(t *testing.T) {
	t.Parallel()
	for secrets, secret := range map[string]string{env.EdgeNone: "", edgeFormer: edgeFormer} {
		w := setup(t)
		w.settings[env.EdgeSecrets] = secrets
		commands, queries := w.start(env.Command), w.start(env.Query)
		ask := func(f *function, method, path string) answer {
			return f.request(by(t, secret, changed(t, w.payload("command-create-task"), map[string]any{
				"rawPath": path, "requestContext/http/path": path, "requestContext/http/method": method, "body": nil,
				"headers/content-length": nil, "headers/content-type": nil, "headers/idempotency-key": nil,
			})))
		}
		made := ask(commands, http.MethodPut, "/v1/me/feed")
		require.Equal(t, http.StatusOK, made.StatusCode, "%s", made.Body)
		path := object(t, made.Body)["path"].(string)
		read := ask(queries, http.MethodGet, path)
		require.Equal(t, http.StatusOK, read.StatusCode, "%s", read.Body)
		revoked := ask(commands, http.MethodDelete, "/v1/me/feed")
		require.Equal(t, http.StatusNoContent, revoked.StatusCode)
		require.Equal(t, secret != "", strings.Contains(read.Headers["cache-control"], "s-maxage"), secrets)
		require.Equal(t, secret != "", revoked.Headers["nexus-effective-after"] == "330", secrets)
		require.EqualValues(t, 300, api.FeedCached.Seconds())
	}
}
