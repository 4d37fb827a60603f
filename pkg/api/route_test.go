package api_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/api"
	"nexus/pkg/api/docs"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/pepper/peppertest"
	"nexus/pkg/product"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

func TestServeRoute_namesTheMethodsOfAPath(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for path, allowed := range map[string]string{
		"/v1/events":                        "GET, HEAD, POST",
		"/v1/tasks":                         "GET, HEAD, POST",
		"/v1/tasks/task_1":                  "GET, HEAD, PATCH, DELETE",
		"/v1/notes/note_1/links/NOTE/note2": "PUT, DELETE",
		"/v1/me":                            "GET, HEAD, PATCH, DELETE",
		"/v1/reminders/rem_1/snooze":        "POST",
		"/healthz":                          "GET, HEAD",
	} {
		res := b.want(405, request{method: http.MethodOptions, path: path})
		b.Equal(allowed, res.Header().Get("Allow"), path)
	}
}

func TestServeHTTP_doesNotFindAPathWithoutARoute(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, path := range []string{
		"/", "/v1", "/v1/", "/v1/pizzas", "/v1/events/", "/v1//events", "/v1/events/./x", "/v1/notes/../me",
		"/v1/tasks/task_1/links",
		"/v1/tasks/task_1/links/NOTE", "/v2/events", "/docs", "/problems/not-found", "/v1/user_meta/ann",
		"/" + strings.Repeat("a", 2000), "/v1/notes/%2e%2e/me",
	} {
		b.Equal("not-found", b.want(404, get(path)).problem(), path)
		b.want(401, get(path).by("-"))
	}
}

func TestAuthenticate_answersNothingWithoutAName(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, header := range []string{
		"", "ann", "Bearer", "Bearer ", "Basic ann", "Bearer ann bob", "Bearer ann#2026", "Bearer " + strings.Repeat("a", 65),
		"Bearer ann/bob", "Bearer änn",
	} {
		res := b.want(401, get("/v1/me").by("-").with("Authorization", header))
		b.Equal("Bearer", res.Header().Get("WWW-Authenticate"))
		b.want(401, request{method: http.MethodPut, path: "/v1/me", user: "-"}.with("Authorization", header))
	}
	b.want(200, get("/healthz").by("-"))
	b.want(200, get("/openapi.json").by("-"))
	b.Zero(b.store.Len())
}

func TestAuthenticate_refusesAMalformedUserID(t *testing.T) {
	t.Parallel()
	for _, user := range []string{"", "ann#2026", "a b", strings.Repeat("a", 65)} {
		b := setup(t, func(c *api.Config) { c.Authenticate = func(*http.Request) (string, bool) { return user, true } })
		b.want(401, get("/v1/me"))
	}
}

func TestRoutes_servesItsOwnOperationsOnly(t *testing.T) {
	t.Parallel()
	for part, want := range map[api.Side]struct{ write, read, document int }{
		api.SideCommands: {201, 404, 404},
		api.SideQueries:  {404, 200, 200},
		api.SideAll:      {201, 200, 200},
	} {
		b := setup(t, func(c *api.Config) { c.Side = part })
		b.want(want.write, post("/v1/notes", `{"title":"a"}`))
		b.want(want.read, get("/v1/notes?state=recent"))
		b.want(want.read, get("/v1/me"))
		b.want(want.document, get("/openapi.json"))
		b.want(200, get("/healthz"))
		b.want(405, request{method: http.MethodPut, path: "/v1/me"})
	}
}

func TestMountDocs_servesTheDocsOfTheConfig(t *testing.T) {
	t.Parallel()
	page, err := docs.New(api.Document(product.Registry()))
	require.NoError(t, err)
	b := setup(t, func(c *api.Config) { c.Docs = page })
	b.Contains(b.want(200, get("/docs").by("-")).Body.String(), "createTask")
	b.Contains(b.want(200, get("/docs/docs.css").by("-")).Header().Get("Content-Type"), "text/css")
	moved := b.want(302, get("/problems/precondition-failed").by("-"))
	b.Equal("/docs#precondition-failed", moved.Header().Get("Location"))
}

func TestRequestID_isTakenFromAWellFormedRequest(t *testing.T) {
	t.Parallel()
	const trace, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	b := setup(t)
	idOf := func(name, value string) string {
		return b.want(200, get("/v1/me").with(name, value)).Header().Get("X-Request-Id")
	}
	for _, name := range []string{"X-Request-Id", "X-Amzn-Trace-Id"} {
		for _, id := range []string{
			"a", "Root=1-69a54f10-5a3c2d1e0f4b6a7988776655;Sampled=0", "A.z_0:9/=", strings.Repeat("a", 128),
		} {
			b.Equal(id, idOf(name, id))
		}
		for _, id := range []string{"", "a b", "a\n", "a\"", "{}", "ü", strings.Repeat("a", 129)} {
			b.NotEqual(id, idOf(name, id))
		}
	}
	b.Equal(trace, idOf("Traceparent", "00-"+trace+"-"+parent+"-01"))
	for _, value := range []string{
		trace, "00-" + trace + "-" + parent, "00-" + trace + "-" + parent + "-01-02", "0-" + trace + "-" + parent + "-01",
		"00-" + strings.ToUpper(trace) + "-" + parent + "-01", "00-" + trace[1:] + "g-" + parent + "-01",
		"00-" + trace + "-" + parent[1:] + "-01",
	} {
		b.NotContains(trace, idOf("Traceparent", value), value)
	}
}

// A deployment logs one in ten reads that succeed; everything else, and what its client asks for, in any case.
func TestAPI_logsAFewReadsAndEverythingElse(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) { c.LogOneReadIn = api.ReadsALine })
	path := "/v1/notes/" + b.want(201, post("/v1/notes", `{"title":"a"}`)).text("noteId")
	lines := func() int { return strings.Count(b.log.String(), "\n") }
	b.Equal(1, lines(), "a write")
	for range 500 {
		b.want(200, get(path))
	}
	b.InDelta(50, lines()-1, 25, "reads that succeed")
	for name, in := range map[string]request{
		"a failure": get("/v1/notes/note_x"), "one that its client asks for": get(path).with("X-Request-Id", "client-7"),
		"a failed write": post("/v1/notes", `{}`),
	} {
		before := lines()
		b.do(in)
		b.Equal(before+1, lines(), name)
	}
	before, seen := lines(), len(b.seen.all)
	for range 50 { // the HTTP API gives each request a trace
		b.want(200, get(path).with("X-Amzn-Trace-Id", "Root=1-63441c4a-abcdef012345678912345678"))
	}
	b.Contains([]int{0, 50}, lines()-before, "by the hash of one id")
	b.Len(b.seen.all, seen+50, "metrics count each")
}

func TestAPI_logsAndObservesARequestOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	path := "/v1/notes/" + b.want(201, post("/v1/notes", `{"title":"secret words"}`)).text("noteId")
	res := b.want(200, get(path).with("X-Request-Id", "client-7"))
	b.Equal("client-7", res.Header().Get("X-Request-Id"))
	traced := b.want(200, get(path).with("Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"))
	b.Equal("4bf92f3577b34da6a3ce929d0e0e4736", traced.Header().Get("X-Request-Id"))
	b.NotContains(b.want(200, get(path).with("X-Request-Id", "a\" b")).Header().Get("X-Request-Id"), " ")

	lines := strings.Split(strings.TrimSpace(b.log.String()), "\n")
	b.Len(lines, 4)
	var line map[string]any
	b.NoError(json.Unmarshal([]byte(lines[1]), &line))
	b.Equal("/v1/notes/{noteId}", line["route"])
	b.Equal("getNote", line["operation"])
	b.Equal(float64(200), line["status"])
	b.Equal(peppertest.Fixed(t).Chosen("client-7"), line["requestId"])
	b.Equal(peppertest.Fixed(t).Pseudonym("ann"), line["user"])
	b.NotContains(b.log.String(), "client-7", "a client may choose any text")
	b.NotContains(b.log.String(), "4bf92f3577b34da6a3ce929d0e0e4736")
	b.NotContains(b.log.String(), "secret words")
	b.NotContains(b.log.String(), `"ann"`)
	b.Equal(api.Observation{Operation: "createNote", Status: 201}, b.seen.all[0])
}

func TestAppendTrace_answersAndLogsAWriteUnderItsTraceID(t *testing.T) {
	t.Parallel()
	b := setup(t)
	res := b.want(201, post("/v1/notes", `{"title":"secret words"}`))
	id := res.text("noteId")
	trace := func(version int64) string { return entity.TraceID("ann", id, version) }
	b.Equal(trace(1), res.Header().Get("X-Trace-Id"))
	b.Empty(b.want(200, get("/v1/notes/"+id)).Header().Get("X-Trace-Id"), "nothing was written")
	b.Empty(b.want(412, patch("/v1/notes/"+id, `{"title":"others"}`, 7)).Header().Get("X-Trace-Id"))
	b.Equal(trace(2), b.want(200, patch("/v1/notes/"+id, `{"title":"others"}`, 1)).Header().Get("X-Trace-Id"))
	b.Equal(trace(3), b.want(204, del("/v1/notes/"+id, 2)).Header().Get("X-Trace-Id"), "a removal counts as a version")
	b.want(200, post("/v1/commands", `{"commands":[
		{"id":"1","type":"CreateNote","data":{"noteId":"note_`+uuid(901)+`","title":"a"}},
		{"id":"2","type":"UpdateNote","expectedVersion":9,"data":{"noteId":"note_`+uuid(901)+`","title":"b"}},
		{"id":"3","type":"UpdateNote","expectedVersion":1,"data":{"noteId":"note_`+uuid(901)+`","title":"c"}}]}`))

	var logged []any
	for text := range strings.Lines(b.log.String()) {
		var line map[string]any
		b.NoError(json.Unmarshal([]byte(text), &line))
		logged = append(logged, line["traceIds"])
	}
	another := func(version int64) string { return entity.TraceID("ann", "note_"+uuid(901), version) }
	b.Equal([]any{[]any{trace(1)}, nil, nil, []any{trace(2)}, []any{trace(3)}, []any{another(1), another(2)}}, logged)
}

func TestAPI_logsAnInternalFailureAndDoesNotShowIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err    error
		status int
		retry  string
	}{
		"throttled":     {table.ErrThrottled, 503, "1"},
		"unavailable":   {table.ErrUnavailable, 503, "1"},
		"later release": {entity.ErrNewerForm, 503, "1"},
		"conflict":      {table.ErrConflict, 503, "1"},
		"cancelled":     {context.DeadlineExceeded, 503, "1"},
		"unexpected":    {errInside{}, 500, ""},
	} {
		b := setup(t)
		b.failWith(func(memory.Call) error { return c.err })
		for _, r := range []request{
			post("/v1/notes", `{"title":"a"}`), get("/v1/notes/note_1"), get("/v1/board"), get("/v1/archive"),
		} {
			res := b.want(c.status, r)
			b.Equal(c.retry, res.Header().Get("Retry-After"), name)
			b.NotContains(res.Body.String(), "USER#")
			b.NotContains(res.Body.String(), c.err.Error())
		}
		b.Equal(4, strings.Count(b.log.String(), `"error"`), name)
		b.Contains(b.log.String(), strings.ReplaceAll(c.err.Error(), "#ann", "#"+peppertest.Fixed(t).Pseudonym("ann")))
		b.NotRegexp(`\bann\b`, b.log.String(), "%s: a line with the pseudonym does not tell whose it is", name)
	}
}

type errInside struct{}

func (errInside) Error() string { return "wires crossed in USER#ann" }

func TestPanicError_isAnAnswerAndALine(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.failWith(func(memory.Call) error { panic("boom") })
	res := b.want(500, get("/v1/me"))
	b.Equal("internal-error", res.problem())
	b.NotContains(res.Body.String(), "boom")
	b.Contains(b.log.String(), "boom")
	b.Contains(b.log.String(), `"level":"ERROR"`)

	outside := setup(t, func(c *api.Config) { c.Authenticate = func(*http.Request) (string, bool) { panic("early") } })
	outside.want(500, get("/v1/me"))
	outside.Contains(outside.log.String(), "early")
}

func TestServeHTTP_leavesAnAbortedHandlerAborted(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) {
		c.Docs = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	})
	b.PanicsWithValue(http.ErrAbortHandler, func() {
		b.api.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/docs", nil))
	})
}

func TestNew_refusesAMissingPart(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.Panics(t, func() { api.New(api.Config{}) })
	full := api.Config{
		Document: api.Document,
		Registry: product.Registry(), Authenticate: api.BearerIsUser, Log: slog.New(slog.DiscardHandler), Now: b.clock,
		NewID: b.newID,
	}
	require.Panics(t, func() { api.New(full) })
}

// recipe is a type of another product.
func recipe() *entity.Type {
	note := product.Note()
	fields := []entity.Field{
		{Name: "recipeId", Kind: entity.Text, Origin: entity.FromServer, Required: true, Doc: "The id."},
	}
	for _, f := range note.Fields {
		if f.Name != "noteId" {
			fields = append(fields, f)
		}
	}
	fields = append(fields, entity.Field{
		Name: "portions", Kind: entity.Integer, Required: true, Min: 1, Max: 12, Doc: "For how many.",
	})
	return &entity.Type{
		Name: "RECIPE_CARD", IDAttr: "recipeId", IDPrefix: "rec", Plural: "recipes", Fields: fields,
		Check: func(it item.Item) []entity.FieldError {
			if !it.Has("body") {
				return []entity.FieldError{{Pointer: "/body", Detail: "a recipe needs one"}}
			}
			return nil
		},
	}
}

func TestRoutes_includeATypeOfAnotherProduct(t *testing.T) {
	t.Parallel()
	registry, err := entity.NewRegistry(recipe(), product.UserMeta())
	require.NoError(t, err)
	b := setup(t, func(c *api.Config) { c.Registry = registry })
	served := func(r request) response {
		rec := httptest.NewRecorder()
		req := httptest.NewRequest(r.method, r.path, strings.NewReader(r.body))
		req.Header.Set("Authorization", "Bearer ann")
		if r.body != "" {
			req.Header.Set("Content-Type", "application/json")
		}
		for name, value := range r.header {
			req.Header.Set(name, value)
		}
		b.api.ServeHTTP(rec, req)
		res := response{ResponseRecorder: rec}
		if rec.Body.Len() > 0 {
			b.NoError(json.Unmarshal(rec.Body.Bytes(), &res.doc))
		}
		return res
	}
	var doc struct {
		Paths map[string]map[string]struct {
			OperationID string
			RequestBody struct {
				Content map[string]struct{ Example json.RawMessage }
			}
		}
	}
	b.NoError(json.Unmarshal(api.Document(registry), &doc))
	example := doc.Paths["/v1/recipes"]["post"].RequestBody.Content["application/json"].Example
	b.Equal("createRecipeCard", doc.Paths["/v1/recipes"]["post"].OperationID)
	b.NotContains(doc.Paths, "/v1/board")

	made := served(post("/v1/recipes", string(example)))
	b.Equal(201, made.Code, made.Body)
	path := "/v1/recipes/" + made.text("recipeId")
	b.Equal(200, served(patch(path, `{"portions":4}`, 1)).Code)
	other := served(post("/v1/recipes", string(example))).text("recipeId")
	b.Equal(200, served(request{method: http.MethodPut, path: path + "/links/RECIPE_CARD/" + other}).Code)
	b.Equal(200, served(get("/v1/recipes/"+other+"/backlinks")).Code)
	batch := served(post("/v1/commands",
		`{"commands":[{"id":"1","type":"DeleteRecipeCard","data":{"recipeId":"`+other+`"},"expectedVersion":1}]}`))
	b.Equal(`{"results":[{"id":"1","status":204,"version":2}]}`, batch.Body.String())
	b.Equal(404, served(get("/v1/tasks")).Code)
}
