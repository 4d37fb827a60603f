package e2e_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/api"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/metric"
	"nexus/pkg/entity"
	"nexus/pkg/product"
)

// answer is the answer that the HTTP API gets.
type answer struct {
	StatusCode      int
	Headers         map[string]string
	Body            string
	IsBase64Encoded bool
}

// request invokes the function with an HTTP API's payload.
func (f *function) request(payload []byte) answer {
	f.Helper()
	var a answer
	require.NoError(f, json.Unmarshal(f.succeed(payload), &a))
	return a
}

// changed returns the payload with some of its members, named by their path, set to other values; nil removes one.
func changed(t *testing.T, payload []byte, values map[string]any) []byte {
	t.Helper()
	doc := object(t, string(payload))
	for path, value := range values {
		at := doc
		names := strings.Split(path, "/")
		for _, name := range names[:len(names)-1] {
			next, ok := at[name].(map[string]any)
			require.True(t, ok, "%s", path)
			at = next
		}
		if last := names[len(names)-1]; value == nil {
			delete(at, last)
		} else {
			at[last] = value
		}
	}
	text, err := json.Marshal(doc)
	require.NoError(t, err)
	return text
}

func TestCommand_servesTheWritesOfTheHTTPAPI(t *testing.T) {
	t.Parallel()
	w := setup(t)
	f := w.start(env.Command)

	created := f.request(w.payload("command-create-task"))
	require.Equal(t, http.StatusCreated, created.StatusCode, "%s", created.Body)
	require.Equal(t, "application/json", created.Headers["content-type"])
	require.Equal(t, `"1"`, created.Headers["etag"])
	require.Equal(t, "/v1/tasks/"+createdID, created.Headers["location"])
	require.False(t, created.IsBase64Encoded)
	task := object(t, created.Body)
	require.Equal(t, "Größere Töpfe kaufen", task["title"])
	require.Equal(t, "2026-03-03T16:00:00Z", task["dueUtc"])
	require.EqualValues(t, 1, w.item(product.TypeTask, createdID).Int(entity.AttrVersion))

	again := f.request(w.payload("command-create-task"))
	require.Equal(t, http.StatusCreated, again.StatusCode)
	require.Equal(t, "true", again.Headers["idempotency-replayed"])
	require.JSONEq(t, created.Body, again.Body)

	updated := f.request(w.payload("command-update-task"))
	require.Equal(t, http.StatusOK, updated.StatusCode, "%s", updated.Body)
	task = object(t, updated.Body)
	require.Equal(t, product.StatusInProgress, task["status"])
	require.NotContains(t, task, "tags")
	require.EqualValues(t, 2, task["version"])

	stale := f.request(w.payload("command-update-task"))
	require.Equal(t, http.StatusPreconditionFailed, stale.StatusCode)
	require.EqualValues(t, 2, object(t, stale.Body)["currentVersion"])

	require.Equal(t, http.StatusOK, f.request(w.payload("query-health")).StatusCode)
	require.Equal(t, http.StatusNotFound, f.request(w.payload("query-task")).StatusCode, "reads are the query function's")
	f.kill()
	lines := strings.Split(strings.TrimSpace(f.log.String()), "\n")
	require.Len(t, lines, f.count-1, "one for each request but the read that succeeded, by its id")
	for _, line := range lines {
		for _, name := range []string{"timestamp", "level", "message", "function", "invocationId", "requestId", "status"} {
			require.Contains(t, object(t, line), name, "%s", line)
		}
		require.NotContains(t, line, user, "no log shows ids")
	}

	f = w.start(env.Command)
	require.Equal(t, http.StatusPreconditionFailed, f.request(w.payload("command-update-task")).StatusCode)
	f.requireCounted(metric.ClientErrors, 1)
}

func TestFunctions_takeTheUserFromTheAuthorizersClaimAlone(t *testing.T) {
	t.Parallel()
	w := setup(t)
	commands, queries := w.start(env.Command), w.start(env.Query)
	require.Equal(t, http.StatusCreated, commands.request(w.payload("command-create-task")).StatusCode)

	for name, f := range map[string]*function{"command-create-task": commands, "query-task": queries} {
		anonymous := f.request(changed(t, w.payload(name), map[string]any{
			"requestContext/authorizer": nil,
			"headers/authorization":     "Bearer " + user, "headers/x-user-id": user, "headers/sub": user,
		}))
		require.Equal(t, http.StatusUnauthorized, anonymous.StatusCode, "%s", anonymous.Body)
		require.Equal(t, "application/problem+json", anonymous.Headers["content-type"])
	}
	stranger := changed(t, w.payload("query-task"), map[string]any{
		"requestContext/authorizer/jwt/claims/sub": "somebody-else",
	})
	require.Equal(t, http.StatusNotFound, queries.request(stranger).StatusCode)

	// A subject that could be part of a key it is not meant for stands for another user.
	year := changed(t, w.payload("command-create-task"), map[string]any{
		"requestContext/authorizer/jwt/claims/sub": user + "#2026",
	})
	require.Equal(t, http.StatusCreated, commands.request(year).StatusCode)
	require.EqualValues(t, 1, w.item(product.TypeTask, createdID).Int(entity.AttrVersion))
}

func TestQuery_servesTheReadsOfTheHTTPAPI(t *testing.T) {
	t.Parallel()
	w := setup(t)
	commands, queries := w.start(env.Command), w.start(env.Query)
	require.Equal(t, http.StatusCreated, commands.request(w.payload("command-create-task")).StatusCode)

	read := queries.request(w.payload("query-task"))
	require.Equal(t, http.StatusOK, read.StatusCode, "%s", read.Body)
	require.Equal(t, createdID, object(t, read.Body)["taskId"])

	unchanged := changed(t, w.payload("query-task"), map[string]any{"headers/if-none-match": read.Headers["etag"]})
	a := queries.request(unchanged)
	require.Equal(t, http.StatusNotModified, a.StatusCode)
	require.Empty(t, a.Body)

	agenda := queries.request(w.payload("query-agenda"))
	require.Equal(t, http.StatusOK, agenda.StatusCode, "%s", agenda.Body)
	items, ok := object(t, agenda.Body)["items"].([]any)
	require.True(t, ok)
	require.Len(t, items, 1)
	require.Equal(t, "2026-03-03T16:00:00Z", items[0].(map[string]any)["occurrenceStart"])

	require.Equal(t, http.StatusOK, queries.request(w.payload("query-health")).StatusCode)
	require.Equal(t, http.StatusNotFound, queries.request(w.payload("command-create-task")).StatusCode,
		"writes are the command function's")
	for _, path := range []string{
		"/v1/tasks/" + createdID + "?x=1", "/v1/tasks/" + createdID + "#x", "/v1/tasks/%zz", "/v1/tasks/a b", "//v1/tasks",
		"/v1/../v1/tasks",
	} {
		odd := changed(t, w.payload("query-task"), map[string]any{"rawPath": path})
		require.Equal(t, http.StatusNotFound, queries.request(odd).StatusCode, "%s", path)
	}
}

func TestCommand_takesBatchesByDirectInvocation(t *testing.T) {
	t.Parallel()
	w := setup(t)
	f := w.start(env.Command)

	var out struct {
		Results []struct {
			ID      string
			Status  int
			Entity  map[string]any
			Problem map[string]any
		}
	}
	require.NoError(t, json.Unmarshal(f.succeed(w.payload("command-direct")), &out))
	require.Len(t, out.Results, 3)
	require.Equal(t, []int{201, 200, 404}, []int{out.Results[0].Status, out.Results[1].Status, out.Results[2].Status})
	require.Equal(t, true, out.Results[1].Entity["isPinned"])
	require.NotEmpty(t, out.Results[2].Problem["detail"])

	for _, payload := range []string{
		`{"commands":[]}`, `{"userId":"a#b","commands":[]}`, `{"userId":"ann","commands":[],"more":1}`, `{}`,
	} {
		o := f.invoke([]byte(payload))
		require.NotNil(t, o.failure, "%s", payload)
		problem := object(t, o.failure.ErrorMessage)
		require.EqualValues(t, http.StatusUnprocessableEntity, problem["status"])
		require.NotEmpty(t, problem["errors"], "%s", payload)
	}
	require.NotNil(t, f.invoke([]byte(`{"userId":"ann","userId":"bob","commands":[]}`)).failure)
}

func TestFunctions_nameUsersByIssuerAndSubjectWhereTheStageSaysSo(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.settings[env.SubjectForm] = "2"
	commands, queries := w.start(env.Command), w.start(env.Query)
	created := commands.request(w.payload("command-create-task"))
	require.Equal(t, http.StatusCreated, created.StatusCode, "%s", created.Body)
	id, ok := api.UserOfIssuer("https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_Example", user)
	require.True(t, ok)
	require.NotNil(t, w.row(entity.ItemKey(id, entity.Ref{Type: product.TypeTask, ID: createdID})))
	require.Nil(t, w.item(product.TypeTask, createdID), "the literal subject has nothing")

	mine := changed(t, w.payload("query-task"), map[string]any{"rawPath": "/v1/tasks/" + createdID})
	require.Equal(t, http.StatusOK, queries.request(mine).StatusCode)
	claims := "requestContext/authorizer/jwt/claims/"
	for name, value := range map[string]any{"iss": "https://another.example.com", "sub": "bob"} {
		others := changed(t, w.payload("query-task"), map[string]any{
			"rawPath": "/v1/tasks/" + createdID, claims + name: value,
		})
		require.Equal(t, http.StatusNotFound, queries.request(others).StatusCode, name)
	}
	nobody := changed(t, w.payload("query-task"), map[string]any{claims + "iss": nil})
	require.Equal(t, http.StatusUnauthorized, queries.request(nobody).StatusCode)
	for _, f := range []*function{commands, queries} {
		f.kill()
		require.NotContains(t, f.log.String(), id)
	}
}

func TestFunctions_refuseATokenWithoutTheirScopeBesideTheGateway(t *testing.T) {
	t.Parallel()
	w := setup(t)
	claim := "requestContext/authorizer/jwt/claims/"
	for f, name := range map[env.Function]string{env.Command: "command-create-task", env.Query: "query-agenda"} {
		started := w.start(f)
		for _, scope := range []any{"openid", "nexus/users", nil} {
			a := started.request(changed(t, w.payload(name), map[string]any{claim + "scope": scope}))
			require.Equal(t, http.StatusForbidden, a.StatusCode, "%s %v", f, scope)
			require.Equal(t, "/problems/insufficient-scope", object(t, a.Body)["type"])
		}
		listed := map[string]any{claim + "scope": nil, claim + "scp": "[openid nexus/user]"}
		require.Less(t, started.request(changed(t, w.payload(name), listed)).StatusCode, 300, "%s", f)
	}
}

func TestCommand_givesTheAddressOfACalendarBelowTheDomain(t *testing.T) {
	t.Parallel()
	w := setup(t)
	made := w.start(env.Command).request(changed(t, w.payload("command-create-task"), map[string]any{
		"rawPath": "/v1/me/feed", "requestContext/http/method": "PUT", "body": nil, "isBase64Encoded": false,
	}))
	require.Equal(t, http.StatusOK, made.StatusCode, "%s", made.Body)
	body := object(t, made.Body)
	require.Equal(t, feedOrigin+body["path"].(string), body["url"])
}
