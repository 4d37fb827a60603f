package e2e_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/deploy/env"
	"nexus/pkg/entity/repository"
)

func TestQuery_readsTheValuesTreeThatCommandWrote(t *testing.T) {
	t.Parallel()
	w := setup(t)
	commands, queries := w.start(env.Command), w.start(env.Query)
	write := func(path, key, body string) answer {
		return commands.request(changed(t, w.payload("command-create-task"), map[string]any{
			"rawPath": path, "requestContext/http/path": path, "body": body, "headers/content-length": nil,
			"headers/idempotency-key": key,
		}))
	}
	read := func(path, query string) answer {
		return queries.request(changed(t, w.payload("query-task"), map[string]any{
			"rawPath": path, "requestContext/http/path": path, "rawQueryString": query,
		}))
	}
	const commit = `{"message":"Begun","source":"weekly_review","operations":[{"op":"create","nodeType":"DRIVER",` +
		`"title":"Größe"}]}`
	made := write("/v1/values/revisions", "one", commit)
	require.Equal(t, http.StatusCreated, made.StatusCode, "%s", made.Body)
	head := object(t, made.Body)["revId"].(string)
	require.Equal(t, `"`+head+`"`, made.Headers["etag"])
	again := write("/v1/values/revisions", "one", commit)
	require.Equal(t, "true", again.Headers["idempotency-replayed"])
	require.JSONEq(t, made.Body, again.Body)
	late := write("/v1/values/revisions", "two", commit)
	require.Equal(t, http.StatusConflict, late.StatusCode)
	require.Equal(t, head, object(t, late.Body)["currentRevId"])

	require.JSONEq(t, made.Body, read("/v1/values/revisions/"+head, "").Body)
	require.Equal(t, http.StatusOK, read("/v1/values", "at=2030-01-01T00:00:00Z").StatusCode)
	require.Equal(t, http.StatusNotFound, read("/v1/plans/2026-03-02", "").StatusCode)
	plan := write("/v1/plans/2026-03-02/revisions", "three", `{"reason":"morning_plan","todos":[],"blocks":[]}`)
	require.Equal(t, http.StatusCreated, plan.StatusCode, "%s", plan.Body)
	require.Equal(t, http.StatusOK, read("/v1/plans/2026-03-02", "").StatusCode)
	require.NoError(t, repository.CheckRevisionID(object(t, plan.Body)["revId"].(string)))
	require.Equal(t, http.StatusNotFound, commands.request(changed(t, w.payload("query-task"), map[string]any{
		"rawPath": "/v1/values",
	})).StatusCode)
}
