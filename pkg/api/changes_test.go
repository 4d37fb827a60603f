package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"nexus/pkg/changes/changelog"
	"nexus/pkg/changes/token"
	"nexus/pkg/entity"
	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// logRow puts a row of the user's change log.
func (b *fixture) logRow(user string, n int64, entries ...string) {
	b.t.Helper()
	var parsed []changelog.Entry
	for _, text := range entries {
		e, err := changelog.ParseEntry(text)
		b.NoError(err)
		parsed = append(parsed, e)
	}
	row := changelog.NewRow(n, parsed, uint64(n), n == 1, b.clock()).Item(user)
	b.NoError(b.store.Put(b.t.Context(), table.Put{Item: row}))
}

// changes returns the members of a list of changes, without their items, each as JSON.
func (r response) changes(name string) []string {
	var out []string
	list, _ := r.doc[name].([]any)
	for _, e := range list {
		change := e.(map[string]any)
		if it, ok := change["item"].(map[string]any); ok {
			change["item"] = it["entityType"]
		}
		text, _ := json.Marshal(change)
		out = append(out, string(text))
	}
	return out
}

func TestGetChanges_isASnapshotAndThenWhatChanged(t *testing.T) {
	t.Parallel()
	b := setup(t)
	task := b.want(201, post("/v1/tasks", `{"title":"one"}`)).text("taskId")
	rev := repository.NewRevisionID(noon, uuid(7))
	for _, at := range []repository.Address{{User: "ann"}, {User: "ann", Date: "2026-03-02"}} {
		row := at.HeadKey().Item()
		row["headRevId"] = item.String(rev)
		b.NoError(b.store.Put(t.Context(), table.Put{Item: row}))
	}
	first := b.want(200, get("/v1/changes"))
	b.Equal([]string{
		`{"id":"ann","item":"USER_META","type":"USER_META","version":0}`,
		`{"revId":"` + rev + `","revTs":"2026-03-02T12:00:00Z","type":"VALUES"}`,
		`{"date":"2026-03-02","revId":"` + rev + `","revTs":"2026-03-02T12:00:00Z","type":"PLAN"}`,
		`{"id":"` + task + `","item":"TASK","type":"TASK","version":1}`,
	}, first.changes("items"))
	next := first.text("next")
	b.Regexp(regexp.MustCompile(`^[A-Za-z0-9_-]{1,160}$`), next)
	b.NotContains(first.doc, "cursor")
	b.NotContains(first.doc, "more")

	since := "/v1/changes?since=" + next
	same := b.want(200, get(since))
	b.Equal(`{"changes":[],"next":"`+next+`","more":false}`, same.Body.String())
	b.Equal(`"`+next+`"`, same.Header().Get("ETag"))
	b.Empty(b.want(304, get(since).with("If-None-Match", `"`+next+`"`)).Body.String())

	b.want(200, patch("/v1/tasks/"+task, `{"title":"two"}`, 1))
	removed := repository.RemovalID(rev)
	b.logRow("ann", 1, "TASK "+task+" 2", "NOTE note_"+uuid(1)+" 4", "PLAN 2026-03-01 "+removed)
	changed := b.want(200, get(since).with("If-None-Match", `"`+next+`"`))
	b.Equal([]string{
		`{"id":"` + task + `","item":"TASK","type":"TASK","version":2}`,
		`{"gone":true,"id":"note_` + uuid(1) + `","type":"NOTE","version":4}`,
		`{"date":"2026-03-01","gone":true,"revId":"` + removed + `","revTs":"2026-03-02T12:00:00Z","type":"PLAN"}`,
	}, changed.changes("changes"))
	b.Equal(false, changed.doc["more"])
	b.Equal(`"`+changed.text("next")+`"`, changed.Header().Get("ETag"))
	b.NotEqual(next, changed.text("next"))
	b.Equal(200, b.do(request{method: http.MethodHead, path: since}).Code)
}

func TestGetChanges_compressesUnderATagOfItsOwn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	next := b.want(200, get("/v1/changes")).text("next")
	var entries []string
	for range 20 {
		note := b.want(201, post("/v1/notes", `{"title":"n","body":"`+strings.Repeat("x", 200)+`"}`))
		entries = append(entries, "NOTE "+note.text("noteId")+" 1")
	}
	b.logRow("ann", 1, entries...)
	got := b.want(200, get("/v1/changes?since="+next).with("Accept-Encoding", "gzip"))
	b.Equal("gzip", got.Header().Get("Content-Encoding"))
	b.Equal(`"`+got.text("next")+`-gzip"`, got.Header().Get("ETag"))
	b.want(304, get("/v1/changes?since="+got.text("next")).with("If-None-Match", got.Header().Get("ETag")))
}

func TestGetChanges_showsWhenAnItemLeaves(t *testing.T) {
	t.Parallel()
	b := setup(t)
	note := b.want(201, post("/v1/notes", `{"title":"n"}`)).text("noteId")
	_, err := b.store.Update(t.Context(), table.Update{
		Key: entity.ItemKey("ann", entity.Ref{Type: "NOTE", ID: note}),
		Set: item.Item{entity.AttrTTL: item.Int(noon.Add(time.Hour).Unix())},
	})
	b.NoError(err)
	b.Contains(b.want(200, get("/v1/changes")).changes("items"),
		`{"expiresAt":"2026-03-02T13:00:00Z","id":"`+note+`","item":"NOTE","type":"NOTE","version":1}`)
}

// TestGetChanges_showsOfAnExceptionItsOwnAlone: a change of the series moves times without a version of the exception.
func TestGetChanges_showsOfAnExceptionItsOwnAlone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.newSeries(`"rrule":"FREQ=WEEKLY;COUNT=4"`)
	instances := "/v1/series/" + id + "/instances/"
	b.want(200, put(instances+"20260309", `{"title":"named"}`, 1))
	b.want(200, put(instances+"20260316", `{"startUtc":"2026-03-17T20:00:00Z"}`, 1))
	read := func() (out []map[string]any) {
		for _, e := range b.want(200, get("/v1/changes?types=INSTANCE")).doc["items"].([]any) {
			if change := e.(map[string]any); change["type"] == "INSTANCE" {
				out = append(out, change["item"].(map[string]any))
			}
		}
		b.Len(out, 2)
		return out
	}
	before := read()
	b.Equal("named", before[0]["title"])
	b.Equal("2026-03-17T20:00:00Z", before[1]["startUtc"])
	for _, name := range append(product.SpanFields(), "recurrenceId") {
		b.NotContains(before[0], name)
	}
	b.NotContains(before[1], "recurrenceId")
	b.want(200, patch("/v1/series/"+id, `{"startUtc":"2026-03-02T13:00:00Z","endUtc":"2026-03-02T14:00:00Z"}`, 1))
	b.Equal(before, read())
}

func TestGetChanges_refusesWhatCannotBe(t *testing.T) {
	t.Parallel()
	b := setup(t)
	next := b.want(200, get("/v1/changes?types=NOTE,TASK")).text("next")
	for path, status := range map[string]int{
		"?since=": 400, "?since=undefined": 400, "?since=" + next[1:]: 400, "?since=" + next + "&cursor=x": 400,
		"?since=" + next + "&types=NOTE": 400, "?since=" + next + "&types=NOTE,TASK,EVENT": 400,
		"?since=" + next + "&types=TASK,NOTE": 200, "?since=" + next + "&limit=500": 200,
		"?since=" + next + "&limit=501": 422, "?since=" + next + "&limit=0": 422, "?limit=5": 400, "?cursor=": 400,
		"?cursor=x": 400, "?types=": 422, "?types=NOTES": 422, "?types=USER_META,VALUES,PLAN,INSTANCE": 200,
		"/check?types=NOTES": 422, "/check?since=" + next: 400,
	} {
		res := b.want(status, get("/v1/changes"+path))
		if status == 400 {
			b.Equal("malformed-request", res.problem(), path)
		}
	}
}

func TestGetChanges_saysWhyAClientNeedsANewSnapshot(t *testing.T) {
	t.Parallel()
	b := setup(t)
	at := func(user string, n int64, x uint64, form uint16) string {
		return token.Token{Form: token.FormIn(form), Owner: token.OwnerOf(user), N: n, X: x}.String()
	}
	b.logRow("ann", 1, "NOTE note_"+uuid(1)+" 4")
	for text, want := range map[string]string{
		at("ann", 7, 7, 0): "expired", at("ann", 1, 9, 0): "unknown", at("bob", 1, 1, 0): "unknown",
		at("ann", 1, 1, 1): "form",
	} {
		res := b.want(410, get("/v1/changes?since="+text))
		b.Equal("sync-reset", res.problem())
		b.Equal(want, res.text("reason"))
		b.Empty(res.Header().Get("ETag"))
	}
	b.want(200, get("/v1/changes?since="+at("ann", 1, 1, 0)))
}

func TestGetChanges_brakesSnapshotsAndChecks(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for range 30 {
		b.want(200, get("/v1/changes"))
	}
	b.advance(10500 * time.Millisecond)
	res := b.want(429, get("/v1/changes"))
	b.Equal("too-many-requests", res.problem())
	b.Equal("50", res.Header().Get("Retry-After"))
	b.EqualValues(50, res.doc["retryAfter"])
	b.want(200, get("/v1/changes/check"))
	b.want(429, get("/v1/changes/check"))
	b.want(200, get("/v1/changes/check").by("bob"))
	b.advance(50 * time.Second)
	check := b.want(200, get("/v1/changes/check"))
	b.EqualValues(1, check.doc["count"])
	b.Regexp(`^[0-9a-f]{32}$`, check.text("digest"))
	b.want(200, get("/v1/changes?since="+check.text("next")))
}

// A row of the log, and a snapshot, of a hundred notes that consist of quotes: what a function sends of one such note
// is four times its size.
func TestGetChanges_fitsIntoAnAnswerOfLambda(t *testing.T) {
	t.Parallel()
	b := setup(t)
	body, err := json.Marshal(strings.Repeat(`"`, 32<<10))
	b.NoError(err)
	next := b.want(200, get("/v1/changes")).text("next")
	var entries, ids []string
	for range 100 {
		id := b.want(201, post("/v1/notes", `{"title":"n","body":`+string(body)+`}`)).text("noteId")
		ids, entries = append(ids, id), append(entries, "NOTE "+id+" 1")
	}
	b.logRow("ann", 1, entries[:99]...)
	b.logRow("ann", 2, entries[99])
	fits := func(r response) response {
		sent, err := json.Marshal(r.Body.String())
		b.NoError(err)
		b.Less(len(sent), maxEvent)
		return r
	}
	page := fits(b.want(200, get("/v1/changes?since="+next)))
	b.Equal(true, page.doc["more"], "the page ends behind the row")
	whole, without := 0, 0
	for i, text := range page.changes("changes") {
		b.Contains(text, ids[i])
		if strings.Contains(text, `"omitted":true`) {
			without++
			b.NotContains(text, "item")
			b.want(200, get("/v1/notes/"+ids[i]))
			continue
		}
		whole++
		b.Zero(without, "once there is no room, the rest comes without")
	}
	b.Equal(99, whole+without)
	b.Greater(whole, 25)
	page = fits(b.want(200, get("/v1/changes?since="+page.text("next"))))
	b.Len(page.changes("changes"), 1)
	b.Equal(false, page.doc["more"])

	var seen []string
	pages := 0
	for path := "/v1/changes"; path != ""; pages++ {
		res := fits(b.want(200, get(path)))
		for _, e := range res.doc["items"].([]any) {
			if change := e.(map[string]any); change["type"] == "NOTE" {
				b.NotNil(change["item"], "a snapshot omits nothing")
				seen = append(seen, change["id"].(string))
			}
		}
		path = ""
		if cursor := res.text("cursor"); cursor != "" {
			path = "/v1/changes?cursor=" + cursor
		}
	}
	slices.Sort(ids)
	b.Equal(ids, seen)
	b.Equal(4, pages, fmt.Sprint(len(seen)))
}
