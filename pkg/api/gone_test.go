package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

// asked is a request with the store calls that it makes where the id never was; "" where they run side by side.
type asked struct {
	request
	calls string
}

// askedOf are the reads and the writes of one entity by its id.
func askedOf(plural, id string) []asked {
	one := "/v1/" + plural + "/" + id
	list := []asked{
		{request{method: http.MethodHead, path: one}, ""},
		{get(one).with("If-None-Match", `"1"`), ""},
		{get(one + "/backlinks"), ""},
		{patch(one, `{"title":"x"}`, 9).with("If-Match", "*"), ""},
		{request{method: http.MethodPut, path: one + "/links/NOTE/note_x"}, ""},
		{request{method: http.MethodDelete, path: one + "/links/NOTE/note_x"}, "BatchGet"},
		{act("/v1/archive/" + id + "/restore"), ""},
	}
	switch plural {
	case "series":
		return append(list, askedOfSeries(id)...)
	case "reminders":
		list = append(list,
			asked{act(one + "/complete"), "BatchGet"}, asked{act(one + "/dismiss"), "BatchGet"},
			asked{post(one+"/snooze", `{"minutes":5}`), "BatchGet"},
		)
	}
	return append(list,
		asked{get(one), "Get"}, asked{patch(one, `{"title":"x"}`, 1), "BatchGet"}, asked{del(one, 1), "Transact"},
	)
}

// askedOfSeries are those that only series have. A write of one that is not there also tidies up.
func askedOfSeries(id string) []asked {
	one, date := "/v1/series/"+id, "20260303"
	return []asked{
		{get(one), ""},
		{get("/v1/events/" + id), "Get"},
		{get("/v1/events/" + entity.InstanceID(id, date)), "BatchGet"},
		{get("/v1/events/" + entity.InstanceID(id, date) + "/backlinks"), ""},
		{patch(one, `{"title":"x"}`, 1), ""},
		{del(one, 1), ""},
		{post(one+"/end", `{"untilUtc":"2026-03-20T00:00:00Z"}`).with("If-Match", `"1"`), ""},
		{post(one+"/split", `{"date":"20260303","changes":{}}`).with("If-Match", `"1"`), ""},
		{put(one+"/instances/"+date, `{"title":"x"}`, 1), "BatchGet"},
		{del(one+"/instances/"+date, 1), "BatchGet"},
	}
}

// left expects that what the request names was there, and is there no more for the reason.
func (b *fixture) left(reason string, r request) {
	b.t.Helper()
	if r.method == http.MethodHead {
		b.Equal(410, b.do(r).Code, r.path)
		return
	}
	res := b.want(410, r)
	b.Equal([]any{"gone", reason}, []any{res.problem(), res.doc["reason"]}, "%s %s", r.method, r.path)
}

// reminder is one of ann's that has rung.
func (b *fixture) reminder() string {
	b.t.Helper()
	made := b.want(201, post("/v1/reminders", `{"title":"Left","triggerUtc":"2026-03-01T00:00:00Z","tzid":"UTC"}`))
	return made.text("reminderId")
}

// What was deleted says so to every request that names it, as far as the request is its user's.
func TestRefuseGone_answersForWhatWasDeleted(t *testing.T) {
	t.Parallel()
	for plural, c := range map[string]struct{ idName, prefix, body string }{
		"notes":     {"noteId", "note", `{"title":"t"}`},
		"tasks":     {"taskId", "task", `{"title":"t"}`},
		"events":    {"eventId", "evt", `{` + standup + `}`},
		"reminders": {"reminderId", "rem", `{"title":"t","triggerUtc":"2026-03-11T09:00:00Z","tzid":"UTC"}`},
		"series":    {"masterId", "mst", `{` + standup + `,"rrule":"FREQ=DAILY"}`},
	} {
		t.Run(plural, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			id := b.want(201, post("/v1/"+plural, c.body)).text(c.idName)
			b.want(204, del("/v1/"+plural+"/"+id, 1))
			never := c.prefix + "_" + uuid(999)
			unknown := askedOf(plural, never)
			for i, a := range askedOf(plural, id) {
				b.left("deleted", a.request)
				b.stranger(a.request, unknown[i].request)
				if a.calls != "" {
					b.Equal(a.calls+" BatchGet", b.calls(410, a.request), "%s %s", a.method, a.path)
					b.Equal(a.calls+" BatchGet", b.calls(404, unknown[i].request), "%s %s", a.method, a.path)
				}
			}
			again := strings.Replace(c.body, "{", `{"`+c.idName+`":"`+id+`",`, 1)
			b.Equal("state-conflict", b.want(409, post("/v1/"+plural, again)).problem())
		})
	}
}

// stranger expects the same answer about another user's id as about one that never was, for the same store calls.
func (b *fixture) stranger(theirs, never request) {
	b.t.Helper()
	if theirs.method == http.MethodHead {
		b.Equal(404, b.do(theirs.by("bob")).Code)
		return
	}
	first, second := b.want(404, theirs.by("bob")), b.want(404, never.by("bob"))
	b.Equal(second.doc, first.doc, "%s %s", theirs.method, theirs.path)
	first.Header().Del("X-Request-Id")
	second.Header().Del("X-Request-Id")
	b.Equal(second.Header(), first.Header())
}

// What has expired says so, whether or not it was swept, until it was restored. Deleted afterwards, it was deleted.
func TestRefuseGone_answersForWhatExpiredUntilItIsRestored(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.reminder()
	one := "/v1/reminders/" + id
	complete := act(one + "/complete")
	b.want(200, complete)
	b.archiveAll()
	b.want(200, get(one)) // a copy is there, and so is the reminder
	b.advance(25 * time.Hour)
	for _, when := range []string{"not swept", "swept"} {
		change, links := patch(one, `{"title":"x"}`, 2), get(one+"/backlinks")
		for _, r := range []request{get(one), change, del(one, 2), complete, links} {
			b.left("expired", r)
			b.want(404, r.by("bob"))
		}
		b.store.Sweep(b.clock(), 0)
		b.Equal("Get BatchGet", b.calls(410, get(one)), when)
	}
	b.Contains(b.want(410, get(one)).text("detail"), "/v1/archive/{id}/restore")
	back := b.want(200, act("/v1/archive/"+id+"/restore"))
	b.want(200, get(one))
	b.want(204, del(one, int(back.doc["version"].(float64))))
	b.left("deleted", get(one))
}

// A user may delete what has a copy before the consumer has removed the copy: there is nothing to restore.
func TestRefuseGone_refusesToRestoreADeletedItemWithACopy(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.reminder()
	one, restore := "/v1/reminders/"+id, act("/v1/archive/"+id+"/restore")
	b.want(200, act(one+"/complete"))
	b.archiveAll()
	b.want(204, del(one, 2))
	b.left("deleted", get(one))
	b.left("deleted", restore)
	b.archiveAll()
	b.left("deleted", restore)
}

// A copy that the archive names and does not have cannot be restored: that the item expired is no answer to a restore.
func TestNotFoundOf_answersARestoreWhoseCopyIsMissing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.expired()
	names, err := b.copies.List(t.Context(), "", 10, "")
	b.NoError(err)
	for _, name := range names {
		b.NoError(b.copies.Delete(t.Context(), name))
	}
	b.want(404, act("/v1/archive/"+id+"/restore"))
	b.left("expired", get("/v1/reminders/"+id))
}

// What a request only refers to is 404: the entity that it is about is there. A day without an occurrence is 404, too.
func TestNotFoundOf_answersForWhatARequestRefersTo(t *testing.T) {
	t.Parallel()
	b := setup(t)
	task := "/v1/tasks/" + b.want(201, post("/v1/tasks", `{"title":"t"}`)).text("taskId")
	note := b.want(201, post("/v1/notes", `{"title":"n"}`)).text("noteId")
	links := `[{"targetType":"NOTE","targetId":"` + note + `"}]`
	event := b.want(201, post("/v1/events", `{`+standup+`}`)).text("eventId")
	b.want(204, del("/v1/notes/"+note, 1))
	b.want(204, del("/v1/events/"+event, 1))
	series := b.newSeries(`"rrule":"FREQ=WEEKLY;BYDAY=MO"`)
	day := "/v1/series/" + series + "/instances/20260310"
	for _, c := range []asked{
		{request{method: http.MethodPut, path: task + "/links/NOTE/" + note}, "BatchGet"},
		{patch(task, `{"links":`+links+`}`, 1), "BatchGet"},
		{post("/v1/tasks", `{"title":"x","links":`+links+`}`), "BatchGet"},
		{post("/v1/series", `{"rrule":"FREQ=DAILY","fromEventId":"`+event+`"}`).with("If-Match", `"1"`), "BatchGet"},
		{put(day, `{"title":"x"}`, 1), "BatchGet"},
		{get("/v1/events/" + entity.InstanceID(series, "20260310")), "BatchGet"},
		{get("/v1/tasks/" + note), ""},
		{patch("/v1/events/"+series, `{"title":"x"}`, 1), ""},
		{del("/v1/tasks/"+note, 1), ""},
		{get("/v1/tasks/task_a%23b"), ""},
	} {
		b.Equal(c.calls, b.calls(404, c.request), "%s %s", c.method, c.path)
	}
	b.Equal("Get", b.calls(200, get(task)))
	b.Equal("Transact", b.calls(412, del(task, 7)))
}

// In a batch each command answers as by itself.
func TestRunBatch_saysThatACommandsEntityIsGone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	note := b.want(201, post("/v1/notes", `{"title":"n"}`)).text("noteId")
	b.want(204, del("/v1/notes/"+note, 1))
	update := `{"id":"1","type":"UpdateNote","data":{"noteId":"` + note + `","title":"x"},"expectedVersion":1}`
	got := b.batch("ann", update)[0]
	b.Equal([]any{410, "/problems/gone", "deleted"}, []any{got.Status, got.Problem.Type, got.Problem.Reason})
	b.Equal(404, b.batch("bob", update)[0].Status)
}

// Where it cannot be read whether a thing was there, the answer is to try again, not that it never was.
func TestUnlessGone_asksForARepetitionIfItCannotRead(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.failWith(func(c memory.Call) error {
		if c.Op == "BatchGet" {
			return fmt.Errorf("throttled: %w", table.ErrThrottled)
		}
		return nil
	})
	b.want(503, get("/v1/notes/note_none"))
	b.failWith(nil)
	b.want(404, get("/v1/notes/note_none"))
}
