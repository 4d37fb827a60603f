package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// An entity's tag is its version in every encoding: a client writes with the tag that it was told.
func TestAnswer_compressesALongEntityUnderTheTagOfItsVersion(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for length, isLong := range map[int]bool{100: false, 2000: true} {
		made := b.want(201, post("/v1/notes", fmt.Sprintf(`{"title":"a","body":%q}`, strings.Repeat("word ", length/5))).
			with("Accept-Encoding", "gzip"))
		path := "/v1/notes/" + made.text("noteId")
		plain := b.want(200, get(path))
		rec := b.want(200, get(path).with("Accept-Encoding", "gzip"))
		b.Equal(`"1"`, rec.Header().Get("ETag"))
		b.Equal(plain.Body.String(), string(b.plain(rec.ResponseRecorder)))
		b.Equal(made.text("noteId"), rec.text("noteId"))
		if !isLong {
			b.Empty(rec.Header().Get("Content-Encoding"))
			b.Empty(rec.Header().Get("Vary"))
			continue
		}
		b.Equal("gzip", rec.Header().Get("Content-Encoding"))
		b.Equal("gzip", made.Header().Get("Content-Encoding"))
		b.Equal("Accept-Encoding", plain.Header().Get("Vary"))
		b.Less(rec.Body.Len(), plain.Body.Len()/2)
		b.want(304, get(path).with("Accept-Encoding", "gzip").with("If-None-Match", `"1"`))
		b.want(200, patch(path, `{"title":"b"}`, 1).with("If-Match", rec.Header().Get("ETag")))
	}
}

func TestAnswerList_tagsAndCompressesLists(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i := range 20 {
		b.want(201, post("/v1/tasks", fmt.Sprintf(`{"title":"task %d","dueUtc":"2026-03-04T07:00:00Z","dueTzid":"UTC"}`, i)))
	}
	b.want(201, post("/v1/notes", `{"title":"a"}`))
	for _, path := range []string{
		"/v1/tasks?status=BACKLOG", "/v1/board", "/v1/agenda?from=2026-03-03T00:00:00Z&to=2026-03-07T00:00:00Z",
		"/v1/notes?state=recent", "/v1/archive", "/v1/me/stats", "/v1/me/insights",
	} {
		plain := b.want(200, get(path))
		tag := plain.Header().Get("ETag")
		b.Regexp(`^"[A-Za-z0-9_-]{43}"$`, tag, path)
		b.Equal("Accept-Encoding, Authorization", plain.Header().Get("Vary"))
		b.Empty(b.want(304, get(path).with("If-None-Match", tag)).Body.String())
		b.Equal(tag, b.want(200, request{method: http.MethodHead, path: path}).Header().Get("ETag"))
		b.NotEqual(tag, b.want(200, get(path).by("bob")).Header().Get("ETag"), "the digest is the user's own")

		rec := b.want(200, get(path).with("Accept-Encoding", "br, gzip"))
		if plain.Body.Len() < 1024 {
			b.Empty(rec.Header().Get("Content-Encoding"), path)
			b.Equal(tag, rec.Header().Get("ETag"))
			continue
		}
		b.Equal("gzip", rec.Header().Get("Content-Encoding"), path)
		zipped := strings.TrimSuffix(tag, `"`) + `-gzip"`
		b.Equal(zipped, rec.Header().Get("ETag"))
		b.Equal(plain.Body.String(), string(b.plain(rec.ResponseRecorder)))
		b.want(304, get(path).with("If-None-Match", zipped))
		b.want(304, get(path).with("If-None-Match", `"other", W/`+tag).with("Accept-Encoding", "gzip"))
	}

	stats := b.want(200, get("/v1/me/stats"))
	b.advance(2 * time.Second)
	b.want(304, get("/v1/me/stats").with("If-None-Match", stats.Header().Get("ETag"))) // asOf is another one by now
	b.NotEqual(stats.text("asOf"), b.want(200, get("/v1/me/stats")).text("asOf"))

	const board = "/v1/board"
	before := b.want(200, get(board)).Header().Get("ETag")
	b.want(201, post("/v1/tasks", `{"title":"one more"}`))
	b.NotEqual(before, b.want(200, get(board).with("If-None-Match", before)).Header().Get("ETag"))
}
