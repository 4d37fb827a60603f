package e2e_test

import (
	"archive/zip"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/deploy/env"
	"nexus/pkg/item"
)

// exportCall returns a request about the user's exports.
func (w *fixture) exportCall(event, method, path string) []byte {
	return changed(w.T, w.payload(event), map[string]any{
		"rawPath": path, "requestContext/http/path": path, "requestContext/http/method": method,
		"rawQueryString": "", "queryStringParameters": nil, "body": nil,
		"headers/content-length": nil, "headers/content-type": nil, "headers/accept-encoding": nil,
		"headers/idempotency-key": nil,
	})
}

// A user asks for an export, account makes it, and the user reads the file at the address that query signs.
func TestAccount_makesTheExportOfAUser(t *testing.T) {
	t.Parallel()
	w := setup(t)
	commands, queries, accounts := w.start(env.Command), w.start(env.Query), w.start(env.Account)
	require.Equal(t, http.StatusCreated, commands.request(w.payload("command-create-task")).StatusCode)
	made := commands.request(w.exportCall("command-create-task", "POST", "/v1/me/exports"))
	require.Equal(t, http.StatusAccepted, made.StatusCode, "%s", made.Body)
	again := commands.request(w.exportCall("command-create-task", "POST", "/v1/me/exports"))
	require.Equal(t, http.StatusConflict, again.StatusCode)
	require.Contains(t, again.Body, "open-exports")
	const path = "/v1/me/exports/000001"

	accounts.succeed(w.accountCall())
	read := func() (job struct{ State, URL string }) {
		a := queries.request(w.exportCall("query-agenda", "GET", path))
		require.Equal(t, http.StatusOK, a.StatusCode, "%s", a.Body)
		require.NoError(t, json.Unmarshal([]byte(a.Body), &job))
		return job
	}
	job := read()
	require.Equal(t, "DONE", job.State)
	address, err := url.Parse(job.URL)
	require.NoError(t, err)
	name := archive + "/exports/" + user + "/000001/account.zip"
	require.True(t, strings.HasSuffix(address.Path, "/"+name), address.Path)
	require.Equal(t, "300", address.Query().Get("X-Amz-Expires"))
	require.Equal(t, []string{name}, w.services.stored(), "the parts are removed")
	file := w.services.content(name)
	z, err := zip.NewReader(strings.NewReader(file), int64(len(file)))
	require.NoError(t, err)
	tasks, err := z.Open("items/0001.ndjson")
	require.NoError(t, err)
	lines, err := io.ReadAll(tasks)
	require.NoError(t, err)
	require.Contains(t, string(lines), `"entityType":"TASK"`)
	require.True(t, w.row(item.Key{PK: "USER#" + user, SK: "EXPORT#000001"}).Has("GSI3PK"), "it is tidied by a later call")

	gone := commands.request(w.exportCall("command-create-task", "DELETE", path))
	require.Equal(t, http.StatusNoContent, gone.StatusCode, "%s", gone.Body)
	require.Empty(t, w.services.stored())
	for _, f := range []*function{commands, queries, accounts} {
		require.NotContains(t, f.log.String(), user)
	}
}
