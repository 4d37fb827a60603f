package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

func TestEntityOperations_createReadChangeAndDeleteEveryType(t *testing.T) {
	t.Parallel()
	for plural, c := range map[string]struct{ id, body, patch, field, value string }{
		"events": {"eventId", `{"title":"a","startUtc":"2026-03-03T09:00:00Z","startTzid":"Europe/London"}`,
			`{"location":"Hall"}`, "location", "Hall"},
		"tasks":     {"taskId", `{"title":"a"}`, `{"description":"b"}`, "description", "b"},
		"reminders": {"reminderId", `{"title":"a","triggerUtc":"2026-03-03T09:00:00"}`, `{"notes":"b"}`, "notes", "b"},
		"notes":     {"noteId", `{"title":"a","body":"# b"}`, `{"body":"c"}`, "body", "c"},
	} {
		t.Run(plural, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			made := b.want(201, post("/v1/"+plural, c.body))
			path := "/v1/" + plural + "/" + made.text(c.id)
			b.Equal(path, made.Header().Get("Location"))
			b.Equal(`"1"`, made.Header().Get("ETag"))
			b.Equal("no-store", made.Header().Get("Cache-Control"))
			b.Equal("nosniff", made.Header().Get("X-Content-Type-Options"))

			read := b.want(200, get(path))
			b.Equal(made.doc, read.doc)
			for _, hidden := range []string{"PK", "SK", "GSI1PK", "GSI3SK", "dueSetAt"} {
				b.NotContains(read.doc, hidden)
			}

			changed := b.want(200, patch(path, c.patch, 1).with("Content-Type", "application/merge-patch+json"))
			b.Equal(c.value, changed.text(c.field))
			b.Equal(`"2"`, changed.Header().Get("ETag"))
			removed := b.want(200, patch(path, `{"`+c.field+`":null}`, 2))
			b.NotContains(removed.doc, c.field)

			gone := b.want(204, request{method: http.MethodDelete, path: path, header: ifMatch(3)})
			b.Zero(gone.Body.Len())
			b.Empty(gone.Header().Get("Content-Type"))
			b.Equal("gone", b.want(410, get(path)).problem())
		})
	}
}

func TestAPI_namesEverythingWrongAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	res := b.want(422, post("/v1/tasks", `{"title":"","priority":9,"status":"DONE","version":3,"mood":"fine","tags":[1]}`))
	b.Equal("validation-failed", res.problem())
	b.ElementsMatch([]string{"/title", "/priority", "/status", "/version", "/mood", "/tags"}, res.pointers())
}

func TestExpectedVersion_isNeededForAChange(t *testing.T) {
	t.Parallel()
	b := setup(t)
	path := "/v1/tasks/" + b.want(201, post("/v1/tasks", `{"title":"a"}`)).text("taskId")
	b.want(200, patch(path, `{"title":"b"}`, 1))
	for _, method := range []string{http.MethodPatch, http.MethodDelete} {
		body := ""
		if method == http.MethodPatch {
			body = `{"title":"c"}`
		}
		b.Equal("precondition-required", b.want(428, request{method: method, path: path, body: body}).problem())
		stale := b.want(412, request{method: method, path: path, body: body, header: ifMatch(1)})
		b.Equal(float64(2), stale.doc["currentVersion"])
	}
	for _, tag := range []string{
		`3`, `W/"2"`, `"2", "3"`, `"02"`, `"-1"`, `"two"`, `""`, `"`, `"9999999999999999999"`, `"2-"`, `"2-X"`, `"-archived"`,
		`"2 -archived"`,
	} {
		b.Equal("malformed-request", b.want(400, patch(path, `{"title":"c"}`, 0).with("If-Match", tag)).problem(), tag)
	}
	b.want(400, post("/v1/tasks", `{"title":"a"}`).with("If-Match", `"1"`))
	b.want(400, patch(path, `{"title":"c"}`, 2).with("If-None-Match", `*`))
	b.Equal("b", b.want(200, get(path)).text("title"))
}

func TestEntityTag_sparesAReaderTheVersionItHas(t *testing.T) {
	t.Parallel()
	b := setup(t)
	path := "/v1/tasks/" + b.want(201, post("/v1/tasks", `{"title":"a","status":"COMPLETED"}`)).text("taskId")
	for _, tag := range []string{`"1"`, `W/"1"`, `"7", "1"`, `*`} {
		res := b.want(304, get(path).with("If-None-Match", tag))
		b.Zero(res.Body.Len())
		b.Equal(`"1"`, res.Header().Get("ETag"))
	}
	b.want(200, get(path).with("If-None-Match", `"2"`))

	b.advance(25 * time.Hour) // it is archived now, without a write of its user
	res := b.want(200, get(path).with("If-None-Match", `"1"`))
	b.Equal("ARCHIVED", res.text("status"))
	b.Equal(`"1-archived"`, res.Header().Get("ETag"))
	b.want(304, get(path).with("If-None-Match", `"1-archived"`))
	b.want(200, get("/v1/me").with("If-None-Match", `"0"`))
}

// The archive sets the end of an item without a new version. Its reader must learn of it, and its writer need not.
func TestEntityTag_changesWithAnItemsEndAndNotTheVersion(t *testing.T) {
	t.Parallel()
	b := setup(t)
	path := "/v1/reminders/" + b.want(201,
		post("/v1/reminders", `{"title":"Left","triggerUtc":"2026-03-01T00:00:00Z","tzid":"UTC"}`)).text("reminderId")
	b.want(200, request{method: http.MethodPost, path: path + "/complete"})
	before := b.want(200, get(path))
	b.Equal(`"2"`, before.Header().Get("ETag"))
	b.archiveAll()
	after := b.want(200, get(path).with("If-None-Match", `"2"`))
	b.Equal(before.doc["version"], after.doc["version"])
	tag := fmt.Sprintf(`"2-until%.0f"`, after.doc["ttl"])
	b.Equal(tag, after.Header().Get("ETag"))
	b.want(304, get(path).with("If-None-Match", tag))
	for n, match := range []string{`"2"`, tag} {
		b.want(412, patch(path, `{"title":"c"}`, 0).with("If-Match", strings.Replace(match, "2", "1", 1)))
		b.want(200, patch(path, fmt.Sprintf(`{"title":"changed %d"}`, n), 0).with("If-Match",
			strings.Replace(match, "2", fmt.Sprint(2+n), 1)))
	}
}

func TestRoutes_answerHEADAsGETWithoutTheBody(t *testing.T) {
	t.Parallel()
	b := setup(t)
	path := "/v1/notes/" + b.want(201, post("/v1/notes", `{"title":"a"}`)).text("noteId")
	whole := b.want(200, get(path))
	head := b.do(request{method: http.MethodHead, path: path})
	b.Equal(200, head.Code)
	b.Zero(head.Body.Len())
	for _, name := range []string{"ETag", "Content-Type", "Content-Length"} {
		b.Equal(whole.Header().Get(name), head.Header().Get(name))
	}
	b.Equal(404, b.do(request{method: http.MethodHead, path: "/v1/notes/note_none"}).Code)
}

func TestLinkOperations_putShowAndRemoveALink(t *testing.T) {
	t.Parallel()
	b := setup(t)
	note := b.want(201, post("/v1/notes", `{"title":"n"}`)).text("noteId")
	task := b.want(201, post("/v1/tasks", `{"title":"t"}`)).text("taskId")
	link := "/v1/tasks/" + task + "/links/NOTE/" + note
	put := b.want(200, request{method: http.MethodPut, path: link, body: `{"relation":"notes"}`})
	b.Equal([]any{map[string]any{"targetType": "NOTE", "targetId": note, "relation": "notes"}}, put.doc["links"])
	b.Equal(`"2"`, put.Header().Get("ETag"))
	b.want(200, request{method: http.MethodPut, path: link, header: ifMatch(2)})
	b.want(412, request{method: http.MethodDelete, path: link, header: ifMatch(2)})
	b.want(200, get("/v1/notes/"+note+"/backlinks"))
	b.NotContains(b.want(200, request{method: http.MethodDelete, path: link}).doc, "links")

	missing := b.want(404, request{method: http.MethodPut, path: "/v1/tasks/" + task + "/links/NOTE/note_none"})
	b.Equal([]string{"/targetId"}, missing.pointers())
	b.want(404, request{method: http.MethodPut, path: "/v1/tasks/" + task + "/links/USER_META/ann"})
	b.want(404, request{method: http.MethodPut, path: "/v1/tasks/" + task + "/links/note/" + note})
	b.want(422, request{method: http.MethodPut, path: link, body: `{"kind":"x"}`})
	b.want(404, request{method: http.MethodPut, path: "/v1/tasks/task_none/links/NOTE/" + note})
	b.Equal([]string{"/links/0/targetId"},
		b.want(404, post("/v1/tasks", `{"title":"x","links":[{"targetType":"NOTE","targetId":"note_none"}]}`)).pointers())
}

func TestReminderOperations_snoozeCompleteAndDismiss(t *testing.T) {
	t.Parallel()
	b := setup(t)
	create := func() string {
		return "/v1/reminders/" + b.want(201,
			post("/v1/reminders", `{"title":"r","triggerUtc":"2026-03-03T09:00:00Z","tzid":"UTC"}`)).text("reminderId")
	}
	one := create()
	b.Equal("SNOOZED", b.want(200, post(one+"/snooze", `{"minutes":10}`)).text("status"))
	b.want(200, post(one+"/snooze", `{"untilUtc":"2026-03-02T18:00:00+01:00"}`))
	for _, body := range []string{`{}`, `{"minutes":0}`, `{"minutes":40321}`, `{"minutes":"10"}`,
		`{"minutes":1,"untilUtc":"2026-03-02T18:00:00Z"}`, `{"untilUtc":"2020-01-01T00:00:00Z"}`,
		`{"untilUtc":"tomorrow"}`, `{"x":1}`,
		`{"minutes":1,"occurrenceUtc":"2026-03-03T09:00:00"}`} {
		b.want(422, post(one+"/snooze", body))
	}
	for _, action := range []string{"snooze", "complete", "dismiss"} {
		saw := post(one+"/"+action, `{"occurrenceUtc":"2026-03-02T17:00:00Z"}`)
		if action == "snooze" {
			saw = post(one+"/"+action, `{"minutes":1,"occurrenceUtc":"2026-03-02T17:00:00Z"}`)
		}
		b.Equal("state-conflict", b.want(409, saw).problem())
	}
	b.Equal("COMPLETED",
		b.want(200, post(one+"/complete", `{"occurrenceUtc":"2026-03-03T10:00:00+01:00"}`)).text("status"))
	b.want(200, post(one+"/complete", `{"series":true}`))
	b.Equal("state-conflict", b.want(409, post(one+"/dismiss", "")).problem())
	b.want(409, post(one+"/snooze", `{"minutes":10}`))
	b.Equal("DISMISSED", b.want(200, post(create()+"/dismiss", "")).text("status"))
	b.want(412, request{method: http.MethodPost, path: one + "/complete", header: ifMatch(1)})
}

func TestMeOperations_beginAtVersionZero(t *testing.T) {
	t.Parallel()
	b := setup(t)
	me := b.want(200, get("/v1/me"))
	b.Equal(`"0"`, me.Header().Get("ETag"))
	b.Equal("UTC", me.text("defaultTzid"))
	b.want(428, request{method: http.MethodPatch, path: "/v1/me", body: `{"defaultTzid":"Asia/Tokyo"}`})
	changed := b.want(200, patch("/v1/me", `{"defaultTzid":"Asia/Tokyo","preferences":{"theme":"light"}}`, 0))
	b.Equal(`"1"`, changed.Header().Get("ETag"))
	b.ElementsMatch([]string{"/stats", "/userId"},
		b.want(422, patch("/v1/me", `{"stats":{},"userId":"bob"}`, 1)).pointers())
	stats := b.want(200, get("/v1/me/stats"))
	b.Equal(float64(0), stats.doc["totalEvents"])
	b.Equal("2026-03-02T12:00:00Z", stats.text("asOf"))
}

func TestPageOf_leadsThroughAListByCursor(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for range 3 {
		b.want(201, post("/v1/tasks", `{"title":"t","dueUtc":"2026-03-03T09:00:00Z","dueTzid":"UTC"}`))
		b.want(201, post("/v1/notes", `{"title":"n"}`))
		b.advance(time.Second)
	}
	for _, list := range []string{
		"/v1/tasks?status=BACKLOG", "/v1/notes?state=recent", "/v1/agenda?from=2026-03-01T00:00:00Z&to=2026-04-01T00:00:00Z",
	} {
		first := b.want(200, get(list+"&limit=2"))
		require.Len(t, first.items(), 2, list)
		second := b.want(200, get(list+"&limit=2&cursor="+first.text("nextCursor")))
		require.Len(t, second.items(), 1, list)
		require.NotContains(t, second.doc, "nextCursor")
		b.want(400, get(list+"&cursor="+first.text("nextCursor")[1:]))
		b.want(400, get(list+"&cursor="))
	}
	board := b.want(200, get("/v1/board?limit=1"))
	columns := board.doc["columns"].([]any)
	b.Len(columns, 4)
	b.Equal("BACKLOG", columns[0].(map[string]any)["status"])
	b.NotEmpty(columns[0].(map[string]any)["nextCursor"])
	entry := b.want(200, get("/v1/agenda?from=2026-03-01T00:00:00Z&to=2026-04-01T00:00:00Z")).items()[0]
	b.Equal("2026-03-03T09:00:00Z", entry["occurrenceStart"])
	b.Equal("TASK", entry["entityType"])
}

func TestMeOperations_showEveryStatistic(t *testing.T) {
	t.Parallel()
	b := setup(t)
	totals := func(res response) map[string]any {
		stats, _ := res.doc["stats"].(map[string]any)
		return stats
	}
	none := map[string]any{"totalEvents": 0.0, "totalTasks": 0.0, "totalReminders": 0.0, "totalNotes": 0.0}
	b.Equal(none, totals(b.want(200, get("/v1/me"))), "before the first change")
	b.Equal(none, totals(b.want(200, patch("/v1/me", `{"defaultTzid":"Europe/London"}`, 0))))
	row, err := b.store.Get(t.Context(), entity.MetaKey("ann"))
	b.NoError(err)
	row = row.Clone()
	// as the consumer leaves a row that nothing else was counted for
	row[product.AttrStats] = item.Map{"totalTasks": item.Int(3)}
	b.NoError(b.store.Put(t.Context(), table.Put{Item: row}))
	counted := map[string]any{"totalEvents": 0.0, "totalTasks": 3.0, "totalReminders": 0.0, "totalNotes": 0.0}
	b.Equal(counted, totals(b.want(200, get("/v1/me"))))
	b.Equal(counted, totals(b.want(200, patch("/v1/me", `{"defaultTzid":"UTC"}`, 1))))
}
