package e2e_test

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// operation is one of the document that the system serves.
type operation struct {
	id, method, path string
}

func (o operation) String() string { return o.method + " " + o.path }

// operations are those of users.
func (s *system) operations() (out []operation) {
	s.t.Helper()
	var document struct {
		Paths map[string]map[string]struct {
			OperationID string `json:"operationId"`
		} `json:"paths"`
	}
	got := s.anonymous().do(http.StatusOK, request{method: http.MethodGet, path: "/openapi.json"})
	require.NoError(s.t, decode(got.body, &document))
	for path, methods := range document.Paths {
		for method, o := range methods {
			isOpen := strings.HasPrefix(path, "/v1/act/") // it is no request of a user
			if o.OperationID != "" && strings.HasPrefix(path, "/v1/") && !isOpen {
				out = append(out, operation{o.OperationID, strings.ToUpper(method), path})
			}
		}
	}
	require.Greater(s.t, len(out), 60, "operations of the document")
	slices.SortFunc(out, func(a, b operation) int { return strings.Compare(a.String(), b.String()) })
	return out
}

// allowed are the writes that an account which leaves still takes, but for the request to leave itself.
var allowed = []string{"restoreAccount", "revokeFeed", "requestExport", "deleteExport", "deleteDevice"}

// filled are the values for the parts of paths: things that the user has, where there are any.
func (l *life) filled() *strings.Replacer {
	l.system.t.Helper()
	values := map[string]string{
		"eventId": "evt_" + uuid.NewString(), "masterId": "mst_" + uuid.NewString(), "taskId": "task_" + uuid.NewString(),
		"reminderId": "rem_" + uuid.NewString(), "noteId": "note_" + uuid.NewString(), "id": "task_" + uuid.NewString(),
		"targetType": "TASK", "nodeId": "act_" + uuid.NewString(), "exportId": "000001",
		"deviceId": uuid.NewString(),
		"revId":    "rev_20260101T000000Z_" + strings.Repeat("0", 32),
	}
	for _, in := range collections {
		if item := l.one(in.path); item != nil {
			values[in.id] = item[in.id].(string)
		}
	}
	values["targetId"] = values["taskId"]
	if copies := l.list("/v1/archive"); len(copies) > 0 {
		values["id"] = copies[0]["itemId"].(string)
	}
	if tree := l.tree(); tree != nil {
		values["revId"] = tree["revId"].(string)
		for _, id := range nodes(tree, "ACTION") {
			values["nodeId"] = id
		}
	}
	pairs := []string{"/instances/{date}", "/instances/" + l.day.AddDate(0, 0, 1).Format("20060102")}
	date := l.day.Format(time.DateOnly)
	for made := range l.dates {
		date = made
	}
	pairs = append(pairs, "{date}", date)
	for name, value := range values {
		pairs = append(pairs, "{"+name+"}", value)
	}
	return strings.NewReplacer(pairs...)
}

// query has the parameters that an operation needs.
func (o operation) query(l *life, filled *strings.Replacer) string {
	switch {
	case o.id == "getAgenda":
		return "?tz=UTC&from=" + l.day.Format(time.RFC3339) + "&to=" + l.day.AddDate(0, 0, 30).Format(time.RFC3339)
	case strings.HasPrefix(o.id, "diff"):
		return filled.Replace("?from={revId}&to={revId}")
	}
	return ""
}

// asks makes the request of an operation, with a body that says nothing.
func (l *life) asks(o operation, filled *strings.Replacer) answer {
	l.system.t.Helper()
	r := request{method: o.method, path: filled.Replace(o.path) + o.query(l, filled)}
	if o.method != http.MethodGet {
		r.match = "*"
		if o.method != http.MethodDelete {
			r.body = map[string]any{}
		}
	}
	got, err := l.call(l.system.t.Context(), r)
	require.NoError(l.system.t, err)
	return got
}

// requireForbidden checks the documented form of a 403.
func requireForbidden(l *life, got answer, problem string, about any) {
	l.system.t.Helper()
	require.Equal(l.system.t, http.StatusForbidden, got.status, "%v: %s", about, got)
	require.Equal(l.system.t, "/problems/"+problem, got.object()["type"], "%v: %s", about, got)
	require.Equal(l.system.t, "application/problem+json", got.header.Get("Content-Type"), "%v", about)
}

// requireLeaving asks everything of an account that is to be erased: it can be read, and takes some writes.
func (l *life) requireLeaving(eraseAt any) {
	l.system.t.Helper()
	filled := l.filled()
	require.Equal(l.system.t, map[string]any{"eraseAt": eraseAt}, l.get("/v1/me")["leaving"])
	for _, o := range l.system.operations() {
		switch {
		case o.method == http.MethodGet:
			got := l.asks(o, filled)
			refused := got.status == http.StatusForbidden || got.status == http.StatusTooManyRequests || got.status >= 500
			require.False(l.system.t, refused, "%s: %s", o, got)
		case o.id == "leave" || slices.Contains(allowed, o.id):
		default:
			got := l.asks(o, filled)
			requireForbidden(l, got, "account-leaving", o)
			require.Equal(l.system.t, eraseAt, got.object()["eraseAt"], "%s", o)
		}
	}
	l.system.client("").do(http.StatusOK, request{method: http.MethodGet, path: l.feed})
	code, _, stderr := l.system.run("import", "--url", l.system.url(), "--user", l.user, l.calendar())
	require.Equal(l.system.t, 1, code, "an import of a calendar: %s", stderr)
}

// requireErased asks everything of an account that was erased.
func (l *life) requireErased(filled *strings.Replacer) {
	l.system.t.Helper()
	for _, o := range l.system.operations() {
		requireForbidden(l, l.asks(o, filled), "account-erased", o)
	}
	l.system.client("").do(http.StatusNotFound, request{method: http.MethodGet, path: l.feed})
}

// instants are the times in an answer, the tokens that are made of them, and the pseudonym of who asks.
var instants = regexp.MustCompile(
	`[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z|"(next|nextCursor|digest)":"[^"]*"|"user":"[0-9a-f]{16}"`)

// requireStranger asks everything of an account that was erased more than 40 days ago: each answer is what a user gets
// who was never there.
func (l *life) requireStranger(filled *strings.Replacer) {
	l.system.t.Helper()
	stranger := l.system.life(fmt.Sprintf("never%012x", l.chance.Uint64()>>16), l.chance)
	stranger.day = l.day
	plain := func(of *life, got answer) string {
		body := instants.ReplaceAllString(string(got.body), "_")
		return fmt.Sprint(got.status, " ", strings.ReplaceAll(body, of.user, "USER"))
	}
	for _, o := range l.system.operations() {
		if o.method != http.MethodGet && o.id != "restoreAccount" {
			continue
		}
		got, want := l.asks(o, filled), stranger.asks(o, filled)
		require.Equal(l.system.t, plain(stranger, want), plain(l, got), "%s", o)
	}
	for id := range l.ids {
		if !strings.HasPrefix(id, "inst_") {
			l.do(http.StatusNotFound, request{method: http.MethodGet, path: l.route(id)})
		}
	}
	l.system.client("").do(http.StatusNotFound, request{method: http.MethodGet, path: l.feed})
}
