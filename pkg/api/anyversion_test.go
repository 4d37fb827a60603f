package api_test

import (
	"net/http"
	"testing"
)

func TestExpectedVersion_isAnyForAStar(t *testing.T) {
	t.Parallel()
	b := setup(t)
	star := func(r request) request { return r.with("If-Match", "*") }
	b.Equal(1.0, b.want(200, star(patch("/v1/me", `{"defaultTzid":"Europe/London"}`, 0))).doc["version"],
		"there was no row")
	b.Equal(2.0, b.want(200, star(patch("/v1/me", `{"defaultTzid":"UTC"}`, 0))).doc["version"])

	path := "/v1/notes/" + b.want(201, post("/v1/notes", `{"title":"a"}`)).text("noteId")
	b.want(200, patch(path, `{"title":"b"}`, 1))
	once := star(patch(path, `{"title":"c"}`, 0)).with("Idempotency-Key", "k")
	b.Equal(3.0, b.want(200, once).doc["version"])
	again := b.want(200, once)
	b.Equal([]any{3.0, "true"}, []any{again.doc["version"], again.Header().Get("Idempotency-Replayed")})
	b.Equal("idempotency-key-reused", b.want(422, patch(path, `{"title":"c"}`, 2).with("Idempotency-Key", "k")).problem(),
		"a version is another request")
	b.want(404, star(patch("/v1/notes/note_none", `{"title":"c"}`, 0)))
	b.want(404, star(patch(path, `{"title":"c"}`, 0)).by("bob"))
	b.want(200, star(request{
		method: http.MethodPut, path: path + "/links/NOTE/" + b.want(201, post("/v1/notes", `{"title":"d"}`)).text("noteId"),
	}))
	gone := star(del(path, 0)).with("Idempotency-Key", "d")
	b.want(204, gone)
	b.Equal("true", b.want(204, gone).Header().Get("Idempotency-Replayed"))
	b.want(410, star(del(path, 0)))

	id := b.newSeries(`"rrule":"FREQ=DAILY;COUNT=9"`)
	b.want(200, star(put("/v1/series/"+id+"/instances/20260304", `{"title":"x"}`, 0)))
	b.want(200, star(put("/v1/series/"+id+"/instances/20260304", `{"title":"y"}`, 0)))
	b.want(201, star(post("/v1/series/"+id+"/split", `{"date":"20260306"}`)))
	b.want(204, star(del("/v1/series/"+id, 0)))
	for _, wrong := range []string{"", `"*"`, "*, *", `*,"1"`, "W/*"} {
		b.want(400, patch("/v1/me", `{"defaultTzid":"UTC"}`, 0).with("If-Match", wrong))
	}
}
