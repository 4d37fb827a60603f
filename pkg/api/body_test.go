package api_test

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/api"
	"nexus/pkg/entity"
)

func TestBody_isRefusedIfItCannotBeRead(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for name, c := range map[string]struct {
		body   string
		status int
	}{
		"nothing":                 {"", 400},
		"white space":             {" ", 400},
		"cut off":                 {`{"title":"a`, 400},
		"no JSON":                 {`title=a`, 400},
		"a byte order mark":       {"\ufeff{\"title\":\"a\"}", 400},
		"invalid UTF-8":           {"{\"title\":\"\xff\"}", 400},
		"invalid UTF-8 in a name": {"{\"\xc3\x28\":1}", 400},
		"half a surrogate":        {`{"title":"\ud800"}`, 422},
		"half a surrogate, cut":   {`{"title":"\ud800`, 400},
		"half a surrogate, raw":   {"{\"title\":\"\xed\xa0\x80\"}", 400},
		"half a surrogate, name":  {`{"ti\ud800tle":"a"}`, 422},
		"a member twice":          {`{"title":"a","title":"b"}`, 400},
		"a member twice, escaped": {`{"title":"a","\u0074itle":"b"}`, 400},
		"something behind":        {`{"title":"a"} {}`, 400},
		"a comma too many":        {`{"title":"a",}`, 400},
		"a comment":               {`{"title":"a"/*b*/}`, 400},
		"NaN":                     {`{"title":"a","priority":NaN}`, 400},
		"a leading zero":          {`{"title":"a","priority":01}`, 400},
		"deep lists":              {`{"title":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`, 400},
		"very deep lists":         {strings.Repeat("[", 200_000), 400},
		"deep objects":            {strings.Repeat(`{"a":`, 50_000) + "1", 400},
		"too long":                {`{"title":"` + strings.Repeat("a", 300_000) + `"}`, 413},
		"ten megabytes":           {`{"title":"` + strings.Repeat("a", 10<<20) + `"}`, 413},
		"a list":                  {`[]`, 422},
		"a text":                  {`"title"`, 422},
		"null":                    {`null`, 422},
		"a number":                {`7`, 422},
		"a huge number":           {`{"title":"a","priority":1e999999999}`, 422},
		"a number of many digits": {`{"title":"a","priority":` + strings.Repeat("9", 100_000) + `}`, 422},
		"a fraction":              {`{"title":"a","priority":2.5}`, 422},
		"wrong types": {
			`{"title":{"a":1},"priority":"2","tags":{"a":1},"isAllDay":"no","links":[7],"reminderMinutes":[1.5]}`, 422},
		"a required null": {`{"title":null}`, 422},
		"a proto member":  {`{"title":"a","__proto__":{"version":9}}`, 422},
		"keys":            {`{"title":"a","PK":"USER#bob","SK":"TASK#x"}`, 422},
		"another user":    {`{"title":"a","userId":"bob"}`, 422},
	} {
		res := b.do(post("/v1/tasks", c.body).with("Content-Type", "application/json"))
		b.Equal(c.status, res.Code, "%s: %s", name, res.Body)
		b.Less(res.Body.Len(), 2000, name)
		b.NotContains(res.text("detail"), "jsontext", name)
	}
	b.Zero(b.store.Len())
}

func TestProblemOfJSON_saysWhereTheTextIsBroken(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Contains(b.want(400, post("/v1/tasks", `{"links":[{"relation":"a" "b"}]}`)).text("detail"), "in /links/0, byte 26")
	b.Contains(b.want(400, post("/v1/tasks", `{"title":"a","title":"b"}`)).text("detail"), "/title twice")
}

func TestCheckMedia_refusesAnotherMediaType(t *testing.T) {
	t.Parallel()
	b := setup(t)
	path := "/v1/notes/" + b.want(201, post("/v1/notes", `{"title":"a"}`)).text("noteId")
	for _, media := range []string{
		"", "text/plain", "application/xml", "application/json; charset=latin1", "application/json; version=1",
		"application/merge-patch+json", "a/b/c",
	} {
		res := b.want(415, post("/v1/notes", `{"title":"a"}`).with("Content-Type", media))
		b.Equal("unsupported-media-type", res.problem())
	}
	b.want(201, post("/v1/notes", `{"title":"a"}`).with("Content-Type", "Application/JSON; charset=UTF-8"))
	b.want(415, post("/v1/notes", `{"title":"a"}`).with("Content-Encoding", "gzip"))
	refused := b.want(415, patch(path, `{"title":"b"}`, 1).with("Content-Type", "application/json-patch+json"))
	b.Equal("application/merge-patch+json, application/json", refused.Header().Get("Accept-Patch"))
	b.want(400, request{method: http.MethodDelete, path: path, body: `{}`, header: ifMatch(1)})
	b.want(400, request{method: http.MethodGet, path: path, body: `{}`})
}

func TestReadBody_distinguishesNullFromAbsent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	made := b.want(201, post("/v1/tasks", `{"title":"a","priority":1,"description":"d","tags":["x"]}`))
	path := "/v1/tasks/" + made.text("taskId")
	same := b.want(200, patch(path, `{}`, 1))
	b.Equal(made.doc, same.doc)
	res := b.want(200, patch(path, `{"priority":null,"description":null,"tags":null}`, 1))
	b.Equal(float64(3), res.doc["priority"])
	b.NotContains(res.doc, "description")
	b.NotContains(res.doc, "tags")
}

// A body that is too long is answered, and the same connection serves the next request.
func TestBody_tooLongLeavesTheConnectionOpen(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var connections atomic.Int64
	server := httptest.NewUnstartedServer(b.api)
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	client := server.Client()
	send := func(size int) *http.Response {
		body := bytes.NewReader(append([]byte(`{"title":"`), append(bytes.Repeat([]byte("a"), size), `"}`...)...))
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/v1/notes", body)
		b.NoError(err)
		req.Header.Set("Authorization", "Bearer ann")
		req.Header.Set("Content-Type", "application/json")
		res, err := client.Do(req)
		b.NoError(err)
		defer res.Body.Close()
		_, err = io.Copy(io.Discard, res.Body)
		b.NoError(err)
		return res
	}
	long := send(10 << 20)
	b.Equal(http.StatusRequestEntityTooLarge, long.StatusCode)
	b.False(long.Close)
	b.Equal(http.StatusCreated, send(10).StatusCode)
	b.Equal(int64(1), connections.Load())
}

func TestProblem_detailNamesTheOneThingThatIsWrong(t *testing.T) {
	t.Parallel()
	b := setup(t)
	agenda := "/v1/agenda?from=2026-03-01T00:00:00Z&to=2026-04-01T00:00:00Z"
	for want, r := range map[string]request{
		"/title must not be empty.":          post("/v1/tasks", `{"title":""}`).with("Content-Type", "application/json"),
		"The content must be a JSON object.": post("/v1/tasks", `[]`).with("Content-Type", "application/json"),
		"2 rules are broken: see errors.": post("/v1/tasks", `{"title":"","priority":9}`).with("Content-Type",
			"application/json"),
		"/links/0/targetType must be one of EVENT, ": post("/v1/notes",
			`{"title":"a","links":[{"targetType":"TASKS","targetId":"task_1"}]}`).with("Content-Type", "application/json"),
		`/types has "EVENTS"; each must be one of EVENT, `:        get(agenda + "&types=EVENTS"),
		"/types has an empty member; each must be one of EVENT, ": get(agenda + "&types="),
		"/tags has an empty member; each must have 1 to 64 ":      get(agenda + "&tags="),
	} {
		b.Contains(b.want(422, r).text("detail"), want)
	}
	b.Equal([]string{"/from", "/tz", "/types", "/limit"},
		b.want(422, get("/v1/agenda?from=x&to=2026-04-01T00:00:00Z&types=EVENTS&tz=Paris&limit=0")).pointers())
}

func TestReadQuery_isStrict(t *testing.T) {
	t.Parallel()
	b := setup(t)
	window := "/v1/agenda?from=2026-03-01T00:00:00Z&to=2026-04-01T00:00:00Z"
	for path, want := range map[string]int{
		"/v1/notes?state=recent&limit=5&limit=6":                            400,
		"/v1/notes?state=recent&colour=red":                                 400,
		"/v1/notes?state=recent;limit=5":                                    400,
		"/v1/notes?state=%zz":                                               400,
		"/v1/notes?state=%ff":                                               400,
		"/v1/notes?state=recent&cursor=" + strings.Repeat("a", 5000):        400,
		"/v1/notes?state=recent&cursor=nonsense":                            400,
		"/v1/me?verbose=1":                                                  400,
		"/v1/notes":                                                         200,
		"/v1/notes?tag=a&q=b":                                               200,
		"/v1/notes?overdue=true":                                            400,
		"/v1/notes?q=":                                                      422,
		"/v1/tasks?q=" + strings.Repeat("a", 201):                           422,
		"/v1/tasks?tag=" + strings.Repeat("a", 65):                          422,
		"/v1/tasks?overdue=true&tag=a":                                      200,
		"/v1/tasks?overdue=yes":                                             422,
		"/v1/events?limit=5":                                                200,
		"/v1/series?tag=a":                                                  400,
		"/v1/reminders?cursor=nonsense":                                     400,
		"/v1/notes?state=old":                                               422,
		"/v1/notes?state=recent&limit=0":                                    422,
		"/v1/notes?state=recent&limit=101":                                  422,
		"/v1/notes?state=recent&limit=ten":                                  422,
		"/v1/notes?state=recent&limit=1e1":                                  422,
		"/v1/notes?state=recent&limit=":                                     422,
		"/v1/tasks?status=BACKLOG&priority=6":                               422,
		"/v1/tasks?status=backlog":                                          422,
		"/v1/agenda":                                                        422,
		"/v1/agenda?from=2026-03-01&to=2026-04-01":                          422,
		"/v1/agenda?from=2026-03-01T00:00:00&to=2026-04-01T00:00:00":        422,
		"/v1/agenda?from=2026-03-01T00:00:00+01:00&to=2026-04-01T00:00:00Z": 422,
		"/v1/agenda?from=2026-03-01T00:00:00%2B01:00&to=2026-04-01T00:00:00-01:00": 200,
		"/v1/agenda?from=2026-04-01T00:00:00Z&to=2026-03-01T00:00:00Z":             422,
		"/v1/agenda?from=2026-03-01T00:00:00Z&to=2027-03-03T00:00:00Z":             422,
		window + "&tz=EST":                                     422,
		window + "&tz=":                                        422,
		window + "&types=EVENT,PIZZA":                          422,
		window + "&types=TASK&tags=a,b":                        200,
		window + "&tags=" + strings.Repeat("a", 65):            422,
		window + "&tags=":                                      422,
		window + "&tags=" + strings.Repeat("a,", 60) + "b":     200, // sixty times the same tag
		window + "&limit=100":                                  200,
		"/v1/board?limit=100":                                  200,
		"/v1/board?cursor=x":                                   400,
		"/v1/archive?limit=101":                                422,
		"/v1/archive?cursor=AAAA":                              400,
		"/v1/notes/note_a/backlinks":                           404,
		"/v1/tasks?status=ARCHIVED&priority=1&limit=1&cursor=": 400,
	} {
		res := b.do(get(path))
		b.Equal(want, res.Code, "%s: %s", path, res.Body)
	}
}

func TestCheckHeaders_boundsEachHeader(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.want(400, get("/v1/me").with("X-Padding", strings.Repeat("a", 40_000)))
	for _, key := range []string{"", strings.Repeat("k", 256), "tab\there", "\x00", "\xff"} {
		b.want(400, post("/v1/notes", `{"title":"a"}`).with("Idempotency-Key", key))
	}
	req := httptest.NewRequest(http.MethodPost, "/v1/notes", strings.NewReader(`{"title":"a"}`))
	req.Header = http.Header{
		"Authorization": {"Bearer ann"}, "Content-Type": {"application/json"}, "Idempotency-Key": {"a", "b"},
	}
	b.Equal(400, b.serve(req).Code)
	b.Zero(b.store.Len())
	b.want(201, post("/v1/notes", `{"title":"a"}`).with("Idempotency-Key", strings.Repeat("ä", 255)))
}

func FuzzRequestDecoding(f *testing.F) {
	for _, seed := range []string{
		`{"title":"a"}`, `{"title":"a","title":"b"}`, `[[[[`, "{\"a\":\"\xff\"}",
		`{"commands":[{"id":"1","type":"CreateNote","data":{"title":"x"}}]}`, `{"priority":1e9}`, `{} {}`, ``,
	} {
		f.Add(seed, "state=recent", `"1"`, "note_1")
	}
	f.Add(`{"title":"b"}`, "state=%zz&x=1&x=2", `*`, "..%2f")
	f.Fuzz(func(t *testing.T, body, query, tag, id string) {
		b := setup(t)
		made := b.want(201, post("/v1/notes", `{"title":"mine"}`).by("owner"))
		owned := made.Body.String()
		for _, r := range []struct{ method, path string }{
			{http.MethodPost, "/v1/notes"}, {http.MethodPost, "/v1/events"}, {http.MethodPost, "/v1/commands"},
			{http.MethodPatch, "/v1/me"},
			{http.MethodGet, "/v1/notes"}, {http.MethodPatch, "/v1/notes/"}, {http.MethodPut, "/v1/notes/"},
			{http.MethodGet, "/v1/tasks/"},
		} {
			req := httptest.NewRequest(r.method, "/", strings.NewReader(body))
			req.URL.Path, req.URL.RawQuery = r.path, query
			if strings.HasSuffix(r.path, "/") {
				req.URL.Path += id
			}
			req.Header = http.Header{
				"Authorization": {"Bearer stranger"}, "Content-Type": {"application/json"}, "If-Match": {tag},
			}
			if r.method == http.MethodGet {
				req.Body = http.NoBody
			}
			res := b.serve(req)
			if res.Code >= 500 ||
				strings.Contains(res.Body.String(), made.text("noteId")) && !strings.Contains(body+id, made.text("noteId")) {
				t.Fatalf("%s %q: %d %s", r.method, req.URL, res.Code, res.Body)
			}
		}
		require.Equal(t, owned, b.want(200, get("/v1/notes/"+made.text("noteId")).by("owner")).Body.String())
	})
}

func TestUserOfSubject_makesAUserID(t *testing.T) {
	t.Parallel()
	for sub, want := range map[string]string{
		"ann":                   "ann",
		"a_b-C9":                "a_b-C9",
		"auth0|507f1f77":        "",
		"ann#2025":              "",
		"ann/../bob":            "",
		strings.Repeat("a", 65): "",
		"Ünal":                  "",
		"sub-":                  "",
		"sub-ann":               "",
	} {
		user, ok := api.UserOfSubject(sub)
		require.True(t, ok)
		if want == "" {
			require.Regexp(t, `^sub-[A-Za-z0-9_-]{43}$`, user)
			require.NoError(t, entity.CheckUserID(user))
			other, ok := api.UserOfSubject(user)
			require.True(t, ok)
			require.NotEqual(t, user, other, "a subject that spells another's digest is another user")
			continue
		}
		require.Equal(t, want, user)
	}
	_, ok := api.UserOfSubject("")
	require.False(t, ok)
}

func TestUserOfIssuer_makesAnIDThatNoClaimSpells(t *testing.T) {
	t.Parallel()
	const issuer = "https://id.example.com"
	made := map[string]bool{}
	for _, claims := range [][2]string{
		{issuer, "ann"}, {issuer, "bob"}, {"https://id.example.org", "ann"}, {issuer + "/", "ann"}, {issuer, "/ann"},
		{issuer, "auth0|1"}, {issuer, "\x00ann"},
	} {
		user, ok := api.UserOfIssuer(claims[0], claims[1])
		require.True(t, ok, claims)
		require.Regexp(t, `^sub-[A-Za-z0-9_-]{43}$`, user)
		require.NoError(t, entity.CheckUserID(user))
		again, ok := api.UserOfIssuer(issuer, user)
		require.True(t, ok)
		require.NotEqual(t, user, again, "a subject that spells an id is another user")
		made[user], made[again] = true, true
	}
	require.Len(t, made, 14)
	for _, claims := range [][2]string{{"", "ann"}, {issuer, ""}, {issuer + "\x00", "ann"}} {
		_, ok := api.UserOfIssuer(claims[0], claims[1])
		require.False(t, ok, claims)
	}
}

func TestUserOfIssuer_isWhatTheOperatorsShellSays(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"openssl", "basenc"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("no " + program)
		}
	}
	user, ok := api.UserOfIssuer("https://id.example.com", "auth0|507f1f77")
	require.True(t, ok)
	out, err := exec.CommandContext(t.Context(), "sh", "-c",
		`printf '%s\0%s' 'https://id.example.com' 'auth0|507f1f77' | openssl dgst -sha256 -binary |
			basenc --base64url | tr -d =`).Output()
	require.NoError(t, err)
	require.Equal(t, user, "sub-"+strings.TrimSpace(string(out)))
}

func TestProblem_detailThatAsksEndsInAQuestionMark(t *testing.T) {
	t.Parallel()
	b := setup(t)
	res := b.want(422,
		post("/v1/events", `{"title":"a","startUtc":"2026-03-04T07:00:00Z","startTzid":"UTC","descriptio":"b"}`))
	b.Equal("/descriptio is not a known field; did you mean description?", res.text("detail"))
}
